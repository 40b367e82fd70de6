package sqlite

import (
	"errors"
	"os"

	client "modernc.org/sqlite"

	"pianola/bindings"
)

// Result codes of SQLite (https://www.sqlite.org/rescode.html). The low byte of
// an extended one is the primary one.
const (
	sqliteError      = 1
	sqlitePermission = 3
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteNoMemory   = 7
	sqliteReadOnly   = 8
	sqliteIO         = 10
	sqliteFull       = 13
	sqliteCannotOpen = 14
	sqliteTooBig     = 18
	sqliteConstraint = 19
	sqliteMismatch   = 20
	sqliteAuth       = 23
	sqliteRange      = 25

	sqliteConstraintKey    = sqliteConstraint | 6<<8
	sqliteConstraintUnique = sqliteConstraint | 8<<8
)

// classes is the class of a primary code.
var classes = map[int]bindings.Class{
	// The statement doesn't suit the table.
	sqliteError: bindings.Invalid, sqliteTooBig: bindings.Invalid, sqliteConstraint: bindings.Invalid,
	sqliteMismatch: bindings.Invalid, sqliteRange: bindings.Invalid,
	sqliteBusy: bindings.Unavailable, sqliteLocked: bindings.Unavailable, sqliteReadOnly: bindings.Unavailable,
	sqliteIO: bindings.Unavailable, sqliteFull: bindings.Unavailable, sqliteCannotOpen: bindings.Unavailable,
	sqliteNoMemory:   bindings.Overloaded,
	sqlitePermission: bindings.Unauthorised, sqliteAuth: bindings.Unauthorised,
}

// code returns the primary result code in an error, or 0.
func code(err error) int { return extended(err) & 0xff }

func extended(err error) int {
	var refused *client.Error
	if errors.As(err, &refused) {
		return refused.Code()
	}
	return 0
}

// classed gives an error of the client its class.
func classed(err error) error {
	if err == nil || err == bindings.ErrNotFound {
		return err
	}
	var own *bindings.Error
	if errors.As(err, &own) {
		return err
	}
	switch extended(err) {
	case sqliteConstraintKey, sqliteConstraintUnique:
		return bindings.ErrDuplicate
	}
	if class, ok := classes[code(err)]; ok {
		return &bindings.Error{Class: class, Err: err}
	}
	var path *os.PathError
	if errors.As(err, &path) {
		return &bindings.Error{Class: bindings.Unavailable, Err: err}
	}
	return err
}
