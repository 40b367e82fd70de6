// Package directory is the directory that an embedded store keeps its files in:
// the one that was set, which stays, or a temporary one, which doesn't.
package directory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// Directory is a store's.
type Directory struct {
	Path string
	// Temporary: it was made by Use and is removed by Remove.
	Temporary bool
}

// Use returns the directory at the path, which need not be there, or makes a
// temporary one for the store of that name if the path is empty.
func Use(path, store string) (Directory, error) {
	if path != "" {
		return Directory{Path: path}, nil
	}
	path, err := os.MkdirTemp("", "pianola-"+store+"-")
	if err != nil {
		return Directory{}, fmt.Errorf("make a temporary directory for %s: %w", store, err)
	}
	return Directory{Path: path, Temporary: true}, nil
}

// Remove removes a temporary directory with all that is in it.
func (d Directory) Remove() error {
	if !d.Temporary {
		return nil
	}
	if err := os.RemoveAll(d.Path); err != nil {
		return fmt.Errorf("remove the temporary directory %q: %w", d.Path, err)
	}
	return nil
}

// Mark notes a temporary directory for whoever ends the program without closing
// the store. It is embedded in bindings, which are Discarders by it.
type Mark struct{ path atomic.Pointer[string] }

// Note notes a directory in use.
func (m *Mark) Note(d Directory) {
	if d.Temporary {
		m.path.Store(&d.Path)
	}
}

// Discard removes what was noted under the open store, from any goroutine.
func (m *Mark) Discard() {
	path := m.path.Load()
	if path == nil {
		return
	}
	// A file that is made meanwhile fails the removal. Nobody is left to tell of
	// one that fails for good.
	const attempts = 50
	for range attempts {
		if os.RemoveAll(*path) == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// String returns the path for the result of a run, or that it is temporary.
func (d Directory) String() string {
	if d.Temporary {
		return "temporary"
	}
	return d.Path
}

// Holds reports whether a database is in the directory, which is so if it holds
// the file of that name. A directory that is missing or empty holds none; one
// with anything else in it is refused.
func (d Directory) Holds(file string) (bool, error) {
	info, err := os.Stat(d.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, errors.New("it is not a directory")
	}
	if info, err := os.Stat(filepath.Join(d.Path, file)); err == nil && info.Mode().IsRegular() {
		return true, nil
	}
	files, err := os.ReadDir(d.Path)
	if err != nil {
		return false, err
	}
	if len(files) > 0 {
		return false, errors.New("it holds other files and no database")
	}
	return false, nil
}
