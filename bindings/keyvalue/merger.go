package keyvalue

import (
	"fmt"
	"slices"

	"pianola/bindings"
)

// Merger replaces fields of a stored record. Its memory is used again.
type Merger struct {
	// replaces says for each field written whether the record has it.
	replaces []bool
}

// Size returns the number of bytes of the record with the fields written in
// place of those of the same name or behind the others.
func (m *Merger) Size(record []byte, written []bindings.Field) (int, error) {
	m.replaces = append(m.replaces[:0], make([]bool, len(written))...)
	size := 0
	for i := 0; len(record) > 0; i++ {
		f, err := firstField(record)
		if err != nil {
			return 0, fmt.Errorf("field %d: %w", i, err)
		}
		record = record[f.size:]
		if at := writtenPlace(written, f.name, i); at >= 0 {
			m.replaces[at] = true
			size += fieldSize(len(f.name), len(written[at].Value))
			continue
		}
		size += f.size
	}
	for i := range written {
		if !m.replaces[i] {
			size += fieldSize(len(written[i].Name), len(written[i].Value))
		}
	}
	return size, checkSize(size)
}

// Append appends the record whose size was asked for last.
func (m *Merger) Append(dst, record []byte, written []bindings.Field) []byte {
	for i := 0; len(record) > 0; i++ {
		f, err := firstField(record)
		if err != nil {
			break // Size has read it without one
		}
		if at := writtenPlace(written, f.name, i); at >= 0 {
			dst = appendField(dst, f.name, written[at].Value)
		} else {
			dst = append(dst, record[:f.size]...)
		}
		record = record[f.size:]
	}
	for i := range written {
		if !m.replaces[i] {
			dst = appendField(dst, written[i].Name, written[i].Value)
		}
	}
	return dst
}

// writtenPlace is place in a list of fields.
func writtenPlace(list []bindings.Field, name []byte, guess int) int {
	if guess < len(list) && list[guess].Name == string(name) {
		return guess
	}
	return slices.IndexFunc(list, func(f bindings.Field) bool { return f.Name == string(name) })
}
