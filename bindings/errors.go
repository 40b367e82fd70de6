package bindings

import (
	"context"
	"errors"
	"fmt"
)

// Class is the class of an error, the same for every database.
type Class uint8

const (
	// OK is the class of no error.
	OK Class = iota
	NotFound
	Duplicate
	Timeout
	Overloaded
	Unavailable
	Unauthorised
	Invalid
	Other

	// ClassLimit is one more than the greatest Class.
	ClassLimit
)

var classNames = [ClassLimit]string{"ok", "not found", "duplicate", "timeout", "overloaded", "unavailable", "unauthorised", "invalid", "other"}

func (c Class) String() string {
	if c >= ClassLimit {
		return fmt.Sprintf("class %d", uint8(c))
	}
	return classNames[c]
}

// Error is an error with its class.
type Error struct {
	Class Class
	Err   error
}

func (e *Error) Error() string { return e.Class.String() + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ErrNotFound is the answer for a record that isn't there. It is returned as
// it is, so that misses cost nothing.
var ErrNotFound error = &Error{NotFound, errors.New("no such record")}

// ErrDuplicate is the answer to the INSERT of a record that is there already.
var ErrDuplicate error = &Error{Duplicate, errors.New("the record exists")}

// ClassOf returns the class of err: that of an *Error inside it, Timeout for
// the context's deadline, else Other.
func ClassOf(err error) Class {
	if err == nil {
		return OK
	}
	if e, ok := err.(*Error); ok {
		return e.Class
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Class
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Other
}
