package output

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// File is an output that is being written. It is there, under its own name,
// once Commit has returned nil.
type File struct {
	target Target
	w      io.Writer
	// file is nil if w is standard output.
	file *os.File
	// broken is the error of a write, which is never complete afterwards.
	broken error
	done   bool
}

// unfinished holds the files that AbortAll is for. Its mutex guards the ends
// of all files: a Commit is not met by an AbortAll at a signal.
var unfinished = struct {
	sync.Mutex
	files map[*File]bool
}{files: map[*File]bool{}}

func begin(f *File) *File {
	unfinished.Lock()
	defer unfinished.Unlock()
	unfinished.files[f] = true
	return f
}

// AbortAll aborts every file that is neither committed nor aborted, before the
// program ends at once. It may be called from any goroutine.
func AbortAll() {
	unfinished.Lock()
	defer unfinished.Unlock()
	for f := range unfinished.files {
		f.abort()
	}
}

// baseMax is how much of a file's name its temporary name has, in bytes: names
// of files are limited.
const baseMax = 100

// temporary returns a name beside file that nothing has.
func temporary(file string) string {
	base := filepath.Base(file)
	return filepath.Join(filepath.Dir(file), "."+base[:min(len(base), baseMax)]+"."+rand.Text()+".tmp")
}

// Write writes to the output. Its errors name the target, not a temporary file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil {
		f.broken = cause(err)
		err = fmt.Errorf("%s: %w", f.target, f.broken) // that it was a write, callers say
	}
	return n, err
}

func (f *File) failed(err error) error { return fmt.Errorf("write %s: %w", f.target, cause(err)) }

// cause returns err without the name of the file.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Commit completes the output. After an error nothing is left that looks
// complete.
func (f *File) Commit() error {
	unfinished.Lock()
	defer unfinished.Unlock()
	if f.done {
		return f.failed(fs.ErrClosed)
	}
	f.end()
	if f.file == nil {
		return nil
	}
	err := f.broken // what a failed write left is not complete
	if err == nil && !f.target.Direct() {
		err = f.file.Sync()
	}
	if closeErr := f.file.Close(); err == nil {
		err = closeErr
	}
	if err == nil && !f.target.Direct() {
		err = os.Rename(f.file.Name(), f.target.file)
	}
	if err != nil {
		f.remove()
		return f.failed(err)
	}
	return nil
}

// Abort removes what was written, unless the output was committed.
func (f *File) Abort() {
	unfinished.Lock()
	defer unfinished.Unlock()
	f.abort()
}

func (f *File) abort() {
	if f.done {
		return
	}
	f.end()
	if f.file != nil {
		f.file.Close()
	}
	f.remove()
}

func (f *File) end() {
	f.done = true
	delete(unfinished.files, f)
}

func (f *File) remove() {
	if !f.target.Direct() {
		os.Remove(f.file.Name())
	}
}
