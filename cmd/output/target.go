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

// Target is where an output may be written. A regular file is written under a
// temporary name beside it and renamed when it is complete. Standard output, a
// device or a pipe is written directly and never replaced.
type Target struct {
	// path as given; file is what it stands for once links are followed, or
	// empty if the target is written directly.
	path, file string
}

// Check refuses an output before anything is done: a regular file that exists,
// unless force is set, a directory, or a missing directory above it. "-" is
// standard output.
func Check(path string, force bool) (Target, error) {
	switch path {
	case "":
		return Target{}, exit.Usagef("write output: its name is empty")
	case "-":
		return Target{path: path}, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing(path)
	case err != nil:
		return Target{}, exit.With(exit.Usage, fmt.Errorf("write %s: %w", path, cause(err)))
	case info.IsDir():
		return Target{}, exit.Usagef("write %s: it is a directory", path)
	case !info.Mode().IsRegular():
		return Target{path: path}, nil
	case !force:
		return Target{}, exit.With(exit.Usage, fmt.Errorf("write %s: it exists", path), "--force replaces it")
	}
	// A link stays a link: what it points to is replaced.
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Target{}, exit.With(exit.Usage, fmt.Errorf("write %s: %w", path, err))
	}
	return Target{path, file}, nil
}

// missing checks the target of an output that is not there yet.
func missing(path string) (Target, error) {
	file, err := followed(path)
	if err != nil {
		return Target{}, exit.With(exit.Usage, fmt.Errorf("write %s: %w", path, err))
	}
	if dir, err := os.Stat(filepath.Dir(file)); err != nil || !dir.IsDir() {
		return Target{}, exit.Usagef("write %s: there is no directory %s", path, filepath.Dir(file))
	}
	return Target{path, file}, nil
}

// linksMax is the number of links behind one another that Linux follows.
const linksMax = 40

// followed returns what a path stands for whose last element is perhaps a link
// to something that is not there.
func followed(path string) (string, error) {
	for range linksMax {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		next, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return "", fmt.Errorf("more than %d links", linksMax)
}

// Direct reports whether the target is written directly: nothing needs to be
// removed if that fails.
func (t Target) Direct() bool { return t.file == "" }

// Is reports whether the target is the file at path, which need not be there.
func (t Target) Is(path string) bool {
	if t.Direct() {
		return false
	}
	if same(t.file, path) {
		return true
	}
	file, err := followed(path)
	return err == nil && filepath.Base(t.file) == filepath.Base(file) && same(filepath.Dir(t.file), filepath.Dir(file))
}

// same reports whether two paths are one file or directory that is there.
func same(a, b string) bool {
	infoA, err := os.Stat(a)
	if err != nil {
		return false
	}
	infoB, err := os.Stat(b)
	return err == nil && os.SameFile(infoA, infoB)
}

// String returns the name of the target for messages.
func (t Target) String() string {
	if t.path == "-" {
		return "standard output"
	}
	return t.path
}

// Create opens the target. stdout stands for "-".
func (t Target) Create(stdout io.Writer) (*File, error) {
	switch {
	case t.path == "-":
		return begin(&File{target: t, w: stdout}), nil
	case t.Direct():
		f, err := os.OpenFile(t.path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", t, cause(err))
		}
		return begin(&File{target: t, w: f, file: f}), nil
	}
	f, err := os.OpenFile(temporary(t.file), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("write %s: make a temporary file beside it: %w", t, cause(err))
	}
	return begin(&File{target: t, w: f, file: f}), nil
}
