// Package exit holds the exit codes of both programs, and the way they report
// errors and end at a signal.
package exit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
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

// precedence orders the codes: the first that applies is the program's.
var precedence = []int{Interrupted, Usage, Failed, Invalid, Errors, Regression, Done}

// Error is an error with its exit code and hints.
type Error struct {
	Code  int
	Err   error
	Hints []string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// With gives err a code and hints; nil stays nil.
func With(code int, err error, hints ...string) error {
	if err == nil {
		return nil
	}
	return &Error{code, err, hints}
}

// Usagef is an error of the command line.
func Usagef(format string, args ...any) error {
	return With(Usage, fmt.Errorf(format, args...))
}

// Report prints err and returns the exit code. Each error that was joined has
// its own line, and behind it its hints, each once: the further lines of its
// text, and those it was given. Every line begins with the program's name. An
// error without a code is Failed.
func Report(w io.Writer, program string, err error) int {
	code := Done
	told := map[string]bool{}
	for _, e := range split(err, Failed) {
		if slices.Index(precedence, e.Code) < slices.Index(precedence, code) {
			code = e.Code
		}
		text, rest, more := strings.Cut(message(e.Err), "\n")
		fmt.Fprintf(w, "%s: error: %s\n", program, text)
		hints := e.Hints
		if more {
			hints = append(strings.Split(rest, "\n"), hints...)
		}
		for _, hint := range hints {
			if !told[hint] {
				fmt.Fprintf(w, "%s: hint: %s\n", program, hint)
			}
			told[hint] = true
		}
	}
	return code
}

// split lists the errors that were joined to err. code is for those that have
// none of their own.
func split(err error, code int) []Error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok {
		parts := split(e.Err, e.Code)
		last := &parts[len(parts)-1]
		last.Hints = append(slices.Clip(last.Hints), e.Hints...)
		return parts
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok && isJoin(err, joined.Unwrap()) {
		var parts []Error
		for _, e := range joined.Unwrap() {
			parts = append(parts, split(e, code)...)
		}
		return parts
	}
	out := Error{Code: code, Err: err}
	var inner *Error
	if errors.As(err, &inner) {
		out.Code, out.Hints = inner.Code, inner.Hints
	}
	return []Error{out}
}

// isJoin tells errors.Join from an error with a text of its own.
func isJoin(err error, of []error) bool {
	return len(of) > 0 && err.Error() == errors.Join(of...).Error()
}

// message is the text of err without the name of the system call, which says
// again what was attempted.
func message(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return strings.Replace(err.Error(), path.Op+" "+path.Path+": ", path.Path+": ", 1)
	}
	return err.Error()
}
