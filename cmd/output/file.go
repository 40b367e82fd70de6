// Package output writes files that are either complete or not there.
package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"pianola/cmd/exit"
)

// File is an output. A regular file is written under a temporary name in the
// same directory and renamed by Commit; a device or a pipe is written directly
// and never replaced.
type File struct {
	io.Writer
	path string
	// temp is the file under its temporary name, nil if the output is direct.
	temp   *os.File
	direct *os.File
	done   bool
}

// Check refuses an output path before anything is done: a regular file that
// exists, unless force is set, a directory, or a missing directory above it.
// "-" is standard output.
func Check(path string, force bool) error {
	if path == "-" {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
			return exit.Usagef("write %s: there is no directory %s", path, filepath.Dir(path))
		}
		return nil
	case err != nil:
		return exit.With(exit.Usage, fmt.Errorf("write %s: %w", path, err))
	case info.IsDir():
		return exit.Usagef("write %s: it is a directory", path)
	case info.Mode().IsRegular() && !force:
		return exit.With(exit.Usage, fmt.Errorf("write %s: it exists", path), "--force replaces it")
	}
	return nil
}

// Create opens an output that Check has passed. stdout stands for "-".
func Create(path string, force bool, stdout io.Writer) (*File, error) {
	if path == "-" {
		return &File{Writer: stdout, path: path}, nil
	}
	if err := Check(path, force); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &File{Writer: f, path: path, direct: f}, nil
	}
	// A link stays a link: what it points to is replaced.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, err
	}
	return &File{Writer: f, path: path, temp: f}, nil
}

// Commit completes the output. After an error nothing is left that looks
// finished.
func (f *File) Commit() error {
	f.done = true
	switch {
	case f.direct != nil:
		return f.direct.Close()
	case f.temp == nil:
		return nil
	}
	// CreateTemp makes files for the owner alone; a result is like any other.
	err := f.temp.Chmod(0o666 &^ umask())
	if err == nil {
		err = f.temp.Sync()
	}
	if closeErr := f.temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.temp.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.temp.Name())
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// Abort removes what was written, unless the output was committed.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	if f.direct != nil {
		f.direct.Close()
	}
	if f.temp != nil {
		f.temp.Close()
		os.Remove(f.temp.Name())
	}
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}
