package memory

import (
	"bytes"
	"slices"
	"strings"

	"pianola/bindings"
)

// with returns a copy of the record that has the fields written, in place of
// those of the same name or behind the others. The values are copied.
func (r *record) with(written []bindings.Field) *record {
	changed := &record{key: r.key, fields: make([]bindings.Field, len(r.fields), len(r.fields)+len(written))}
	copy(changed.fields, r.fields)
	for i := range written {
		value := bytes.Clone(written[i].Value)
		if at := r.place(written[i].Name, i); at >= 0 {
			changed.fields[at].Value = value
			continue
		}
		changed.fields = append(changed.fields, bindings.Field{Name: strings.Clone(written[i].Name), Value: value})
	}
	return changed
}

// place returns the index of the field of that name, or -1. The guess is
// looked at first: fields mostly come in the order in which they were written.
func (r *record) place(name string, guess int) int {
	if guess < len(r.fields) && r.fields[guess].Name == name {
		return guess
	}
	return slices.IndexFunc(r.fields, func(f bindings.Field) bool { return f.Name == name })
}

// give hands the record's fields to rows: those wanted, or all if none is named.
func (r *record) give(rows bindings.Rows, wanted []string) {
	if rows == nil {
		return
	}
	rows.Row(r.key)
	for i := range r.fields {
		f := &r.fields[i]
		if len(wanted) == 0 || i < len(wanted) && wanted[i] == f.Name || slices.Contains(wanted, f.Name) {
			rows.Field(f.Name, f.Value)
		}
	}
}
