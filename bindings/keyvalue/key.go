package keyvalue

import (
	"fmt"
	"strings"

	"pianola/bindings"
)

// CheckTable refuses a table's name that could be taken for the beginning of a
// key.
func CheckTable(name string) error {
	if strings.IndexByte(name, 0) >= 0 {
		return fmt.Errorf("table name %q has a zero byte in it, which ends a name in the store's keys", name)
	}
	return nil
}

// TableStart appends the least key that a table can have: its name and a zero
// byte, which every key of it begins with.
func TableStart(dst []byte, name string) []byte { return append(append(dst, name...), 0) }

// TableEnd appends a key behind all those of the table.
func TableEnd(dst []byte, name string) []byte { return append(append(dst, name...), 1) }

// Location is where the records of operations are. Its memory is used again.
type Location struct {
	// Key is that of the operation located last, and End is behind its table.
	Key, End []byte
	// Prefix is how many bytes of Key stand for the table.
	Prefix int

	table string
}

// Locate makes Key the one that the operation's record is stored under.
func (l *Location) Locate(op *bindings.Op) error {
	if l.Prefix == 0 || op.Table != l.table {
		if err := CheckTable(op.Table); err != nil {
			return &bindings.Error{Class: bindings.Invalid, Err: err}
		}
		l.table = strings.Clone(op.Table)
		l.Key = TableStart(l.Key[:0], l.table)
		l.Prefix = len(l.Key)
		l.End = TableEnd(l.End[:0], l.table)
	}
	l.Key = append(l.Key[:l.Prefix], op.Key...)
	return nil
}
