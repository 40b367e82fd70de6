package workloads

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pianola/tracegen/spelling"
)

// MaxBytes bounds the text of a spec.
const MaxBytes = 1 << 20

// Found is the spec that Resolve found.
type Found struct {
	// Name is what messages call it by: the name of a ready spec, the path of
	// a file, or "stdin".
	Name string
	// Text is in the format of properties.
	Text []byte
	// Dir is the directory from which names of files in the text count; empty is
	// the working directory.
	Dir string
	// Note is a line for the user, or empty.
	Note string
}

// Resolve returns the spec that arg stands for on a command line. The name of
// a ready spec means that spec wherever the command runs; a file of the same
// name in the working directory is reached as "./workloada", and a note says
// so if there is one. "-" is stdin. Anything else is the path of a file. An arg
// that is none of them is an error that lists the ready specs and wraps
// fs.ErrNotExist.
func Resolve(arg string, stdin io.Reader) (Found, error) {
	if text, ok := Read(arg); ok {
		found := Found{Name: arg, Text: text}
		if _, err := os.Stat(arg); err == nil {
			found.Note = fmt.Sprintf("%s is the ready spec, not the file of that name: write ./%s for the file", arg, arg)
		}
		return found, nil
	}
	if arg == "-" {
		text, err := readAll(stdin)
		if err != nil {
			return Found{}, fmt.Errorf("read workload spec from stdin: %w", err)
		}
		return Found{Name: "stdin", Text: text}, nil
	}
	file, err := os.Open(arg)
	if errors.Is(err, fs.ErrNotExist) {
		return Found{}, notFound(arg)
	}
	if err != nil {
		return Found{}, fmt.Errorf("open workload spec: %w", err)
	}
	defer file.Close()
	text, err := readAll(file)
	if err != nil {
		return Found{}, fmt.Errorf("read workload spec %q: %w", arg, err)
	}
	return Found{Name: arg, Text: text, Dir: filepath.Dir(arg)}, nil
}

// ReadFile reads a file that a spec names, at most MaxBytes of it. The name counts
// from dir unless it is absolute.
func ReadFile(dir, name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := readAll(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

func readAll(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, MaxBytes+1))
	if err == nil && len(text) > MaxBytes {
		err = fmt.Errorf("more than %d bytes", MaxBytes)
	}
	return text, err
}

func notFound(arg string) error {
	names := Names()
	list := strings.Join(names, ", ")
	if near, ok := spelling.Nearest(filepath.Base(arg), names); ok {
		list += ", the nearest is " + near
	}
	return fmt.Errorf("open workload spec %q: %w, nor is it a ready spec: known are %s", arg, fs.ErrNotExist, list)
}
