// Package sqltable writes the statements on a table as YCSB's JDBC binding lays
// it out: a row for each record, the key in one column, each field in a column
// of its name. What the databases write differently is a Dialect.
package sqltable

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pianola/bindings"
	"pianola/traces"
)

// Dialect is what one database writes in its own way.
type Dialect struct {
	// Key is the column of the key, as it stands in statements.
	Key string
	// Quote returns a name in quotes: then it may also be a word of the language.
	Quote func(name string) string
	// Place returns the sign for the nth parameter, from 1.
	Place func(n int) string
}

// Question is the Place of those that write every parameter alike.
func Question(int) string { return "?" }

// Table writes statements for a trace's table.
type Table struct {
	// Name is quoted, Bare is not.
	Name, Bare string
	// Fields are the trace's names.
	Fields []string

	dialect Dialect
	// columns are the quoted names of fields.
	columns map[string]string
	// kinds lists the kinds of operations that the trace has.
	kinds []traces.Kind
}

// New returns the table of a trace.
func New(h *traces.Header, d Dialect) Table {
	t := Table{Name: d.Quote(h.Table), Bare: h.Table, dialect: d, columns: map[string]string{}}
	for i := range h.Fields.Count {
		name := h.Fields.Name(i)
		t.Fields = append(t.Fields, name)
		t.columns[name] = d.Quote(name)
	}
	for _, phase := range h.Phases {
		for _, share := range phase.Mix {
			t.kinds = append(t.kinds, share.Kind)
		}
	}
	slices.Sort(t.kinds)
	t.kinds = slices.Compact(t.kinds)
	return t
}

// column returns the column of a field, also of one that the trace doesn't have.
func (t *Table) column(field string) string {
	if c, ok := t.columns[field]; ok {
		return c
	}
	return t.dialect.Quote(field)
}

// Create returns the statement that makes the table if it is missing: the type
// and constraints of the key's column, the type of the fields' columns, and what
// stands behind the columns, which may be empty.
func (t *Table) Create(key, field, options string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "CREATE TABLE IF NOT EXISTS %s (%s %s", t.Name, t.dialect.Key, key)
	for _, f := range t.Fields {
		fmt.Fprintf(&s, ", %s %s", t.column(f), field)
	}
	return strings.TrimSpace(s.String() + ") " + options)
}

// Drop returns the statement that removes the table, if it is there.
func (t *Table) Drop() string { return "DROP TABLE IF EXISTS " + t.Name }

// Count returns the statement that counts the rows.
func (t *Table) Count() string { return "SELECT count(*) FROM " + t.Name }

// Shape tells statements apart: by what is done, which is any kind but
// READMODIFYWRITE, and with which fields, all of them for "", else joined by
// zero bytes.
type Shape struct {
	Kind   traces.Kind
	Fields string
}

// Reading returns the shape of a READ or a SCAN of some fields, or of all if
// none is named.
func (t *Table) Reading(kind traces.Kind, fields []string) Shape {
	switch len(fields) {
	case 0:
		return Shape{Kind: kind}
	case 1:
		return Shape{kind, fields[0]}
	}
	return Shape{kind, strings.Join(fields, "\x00")}
}

// Writing returns the shape of an INSERT or an UPDATE of some fields.
func (t *Table) Writing(kind traces.Kind, fields []bindings.Field) Shape {
	if len(fields) == 1 && len(t.Fields) > 1 {
		return Shape{kind, fields[0].Name}
	}
	if len(fields) == len(t.Fields) && slices.EqualFunc(fields, t.Fields, func(f bindings.Field, name string) bool { return f.Name == name }) {
		return Shape{Kind: kind}
	}
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return Shape{kind, strings.Join(names, "\x00")}
}

// Named returns the names of the columns that a READ or a SCAN of fields answers
// with: those, or all if none is named.
func (t *Table) Named(fields []string) []string {
	if len(fields) == 0 {
		return t.Fields
	}
	return fields
}

// names returns the fields of a shape.
func (t *Table) names(s Shape) []string {
	if s.Fields == "" {
		return t.Fields
	}
	return strings.Split(s.Fields, "\x00")
}

// Statement returns the statement of a shape. Its parameters are the values in
// the order of the fields, then the key, then the limit of a SCAN. The row of a
// READ is the fields, that of a SCAN the fields and the key.
func (t *Table) Statement(s Shape) string {
	names := t.names(s)
	columns := make([]string, len(names))
	for i, n := range names {
		columns[i] = t.column(n)
	}
	list := strings.Join(columns, ", ")
	key, place := t.dialect.Key, t.dialect.Place
	switch s.Kind {
	case traces.Read:
		return fmt.Sprintf("SELECT %s FROM %s WHERE %s = %s", list, t.Name, key, place(1))
	case traces.Scan:
		return fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s >= %s ORDER BY %s LIMIT %s", list, key, t.Name, key, place(1), key, place(2))
	case traces.Delete:
		return fmt.Sprintf("DELETE FROM %s WHERE %s = %s", t.Name, key, place(1))
	case traces.Insert:
		places := make([]string, len(columns)+1)
		for i := range places {
			places[i] = place(i + 1)
		}
		return fmt.Sprintf("INSERT INTO %s (%s, %s) VALUES (%s)", t.Name, list, key, strings.Join(places, ", "))
	}
	for i, c := range columns {
		columns[i] = c + " = " + place(i+1)
	}
	return fmt.Sprintf("UPDATE %s SET %s WHERE %s = %s", t.Name, strings.Join(columns, ", "), key, place(len(columns)+1))
}

// mostSingle is the greatest number of fields for which the statements over
// each single one are prepared in advance.
const mostSingle = 32

// Shapes lists the statements to prepare in advance: those the trace may need,
// or all if it doesn't say what it does.
func (t *Table) Shapes() []Shape {
	var list []Shape
	add := func(kind traces.Kind, single bool) {
		list = append(list, Shape{Kind: kind})
		if single && len(t.Fields) <= mostSingle {
			for _, f := range t.Fields {
				list = append(list, Shape{kind, f})
			}
		}
	}
	has := func(k traces.Kind) bool { return len(t.kinds) == 0 || slices.Contains(t.kinds, k) }
	if has(traces.Read) || has(traces.ReadModifyWrite) {
		add(traces.Read, true)
	}
	if has(traces.Update) || has(traces.ReadModifyWrite) {
		add(traces.Update, true)
	}
	if has(traces.Insert) {
		add(traces.Insert, false)
	}
	if has(traces.Scan) {
		add(traces.Scan, true)
	}
	if has(traces.Delete) {
		add(traces.Delete, false)
	}
	return list
}

// ErrNoField is the answer to a write of no field, which no statement can say.
var ErrNoField error = &bindings.Error{Class: bindings.Invalid, Err: errors.New("no field is written")}
