package keyvalue

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"pianola/bindings"
)

// lengthBytes is what each length takes in a record.
const lengthBytes = 4

// maxRecordBytes bounds a record: the stores hold a write whole, and refuse one
// of some GiB.
const maxRecordBytes = 1 << 30

// AppendRecord appends a record as it is stored: for each field, in the order
// given, the length of its name, the name, the length of its value, the value.
// Lengths are four bytes, the highest first. It is how YCSB lays out a record
// in RocksDB.
func AppendRecord(dst []byte, fields []bindings.Field) []byte {
	for i := range fields {
		dst = appendField(dst, fields[i].Name, fields[i].Value)
	}
	return dst
}

func appendField[name string | []byte](dst []byte, n name, value []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(n)))
	dst = append(dst, n...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return append(dst, value...)
}

// fieldSize is the number of bytes that a field takes.
func fieldSize(name, value int) int { return 2*lengthBytes + name + value }

// RecordSize returns the number of bytes that AppendRecord appends, or an error
// if they are too many.
func RecordSize(fields []bindings.Field) (int, error) {
	size := 0
	for i := range fields {
		size += fieldSize(len(fields[i].Name), len(fields[i].Value))
	}
	return size, checkSize(size)
}

func checkSize(size int) error {
	if size > maxRecordBytes {
		return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("a record of %d bytes, more than %d", size, maxRecordBytes)}
	}
	return nil
}

// field is the first field of a stored record.
type field struct {
	// name and value are parts of the record; size is what the field takes.
	name, value []byte
	size        int
}

// firstField reads the first field of what is left of a record.
func firstField(record []byte) (field, error) {
	name, err := firstPart(record)
	if err != nil {
		return field{}, fmt.Errorf("the name of a field: %w", err)
	}
	value, err := firstPart(record[lengthBytes+len(name):])
	if err != nil {
		return field{}, fmt.Errorf("the value of field %q: %w", name[:min(len(name), 100)], err)
	}
	return field{name, value, fieldSize(len(name), len(value))}, nil
}

// firstPart reads a length and as many bytes.
func firstPart(b []byte) ([]byte, error) {
	if len(b) < lengthBytes {
		return nil, fmt.Errorf("%d bytes are left, too few for a length", len(b))
	}
	n := binary.BigEndian.Uint32(b)
	b = b[lengthBytes:]
	if n > math.MaxInt32 || int(n) > len(b) {
		return nil, fmt.Errorf("a length of %d with %d bytes left", n, len(b))
	}
	return b[:n:n], nil
}

// Give hands the fields of a stored record to rows, which may be nil: those
// wanted, or all if none is named. It reads no further than the last one wanted.
// Names holds names of fields by themselves, so that they need not be allocated.
func Give(rows bindings.Rows, key, record []byte, wanted []string, names map[string]string) error {
	if rows != nil {
		rows.Row(key)
	}
	for i, given := 0, 0; len(record) > 0 && (len(wanted) == 0 || given < len(wanted)); i++ {
		f, err := firstField(record)
		if err != nil {
			return fmt.Errorf("field %d: %w", i, err)
		}
		record = record[f.size:]
		name, isWanted := "", true
		if len(wanted) > 0 {
			at := place(wanted, f.name, i)
			if isWanted = at >= 0; isWanted {
				name = wanted[at]
				given++
			}
		}
		if rows == nil || !isWanted {
			continue
		}
		if name == "" {
			var known bool
			if name, known = names[string(f.name)]; !known {
				name = string(f.name)
			}
		}
		rows.Field(name, f.value)
	}
	return nil
}

// place returns the index of a name in the list, or -1. The guess is looked at
// first: fields mostly stand in the order in which they are named.
func place(list []string, name []byte, guess int) int {
	if guess < len(list) && list[guess] == string(name) {
		return guess
	}
	return slices.IndexFunc(list, func(s string) bool { return s == string(name) })
}
