// Package exit holds the exit codes of both programs and the way they report
// errors.
package exit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Exit codes, the same for both programs.
const (
	Done = 0
	// Failed: it could not be done: trace, database, missing ability, table
	// with rows, I/O.
	Failed = 1
	// Usage: the command line, a property, a spec or an existing output, found
	// before anything was touched.
	Usage = 2
	// Errors: done, but more ops failed than are allowed.
	Errors = 3
	// Invalid: the measurement is of the generator, not of the database.
	Invalid = 4
	// Regression: a comparison found one.
	Regression = 5
	// Interrupted: ended by a signal.
	Interrupted = 130
)

// Error is an error with its exit code and hints.
type Error struct {
	Code  int
	Err   error
	Hints []string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// With gives err a code and hints.
func With(code int, err error, hints ...string) error {
	if err == nil {
		return nil
	}
	return &Error{code, err, hints}
}

// Usagef is an error of the command line.
func Usagef(format string, args ...any) error {
	return &Error{Code: Usage, Err: fmt.Errorf(format, args...)}
}

// Silent ends the program with a code and no message of its own: what is to be
// said was said.
func Silent(code int) error { return &Error{Code: code, Err: errSilent} }

var errSilent = errors.New("silent")

// Report prints err and its hints and returns the exit code; an error without
// a code is Failed. Every line begins with the program's name.
func Report(w io.Writer, program string, err error) int {
	if err == nil {
		return Done
	}
	code := Failed
	var coded *Error
	if errors.As(err, &coded) {
		code = coded.Code
	}
	if errors.Is(err, errSilent) {
		return code
	}
	for line := range strings.Lines(message(err)) {
		fmt.Fprintf(w, "%s: error: %s\n", program, strings.TrimSuffix(line, "\n"))
	}
	if coded != nil {
		for _, hint := range coded.Hints {
			fmt.Fprintf(w, "%s: hint: %s\n", program, hint)
		}
	}
	return code
}

// message is the text of err without the operation that a path error repeats.
func message(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return strings.Replace(err.Error(), path.Op+" "+path.Path+": ", path.Path+": ", 1)
	}
	return err.Error()
}

// FlagAfter returns an error if one of the arguments behind the first looks
// like a flag: flags behind a file would be taken for files.
func FlagAfter(args []string) error {
	for i, arg := range args {
		if i > 0 && len(arg) > 1 && arg[0] == '-' {
			return With(Usage, fmt.Errorf("flag %q after %q", arg, args[0]), "flags come before the file")
		}
	}
	return nil
}
