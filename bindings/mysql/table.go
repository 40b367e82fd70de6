package mysql

import (
	"fmt"
	"slices"
	"strings"

	"pianola/traces"
)

// table writes statements for the trace's table.
type table struct {
	// name is quoted; fields are the trace's names, columns theirs, quoted.
	name    string
	fields  []string
	columns map[string]string
	// kind is the type of the columns of fields.
	kind string
	// kinds lists the kinds of operations that the trace has.
	kinds []traces.Kind
}

// keyColumn is YCSB's.
const keyColumn = "YCSB_KEY"

func newTable(h *traces.Header, kind string) table {
	t := table{name: quoted(h.Table), columns: map[string]string{}, kind: kind}
	for i := range h.Fields.Count {
		name := h.Fields.Name(i)
		t.fields = append(t.fields, name)
		t.columns[name] = quoted(name)
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

// quoted returns a name in quotes: then it may also be a word of the language.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// column returns the column of a field, also of one that the trace doesn't have.
func (t *table) column(field string) string {
	if c, ok := t.columns[field]; ok {
		return c
	}
	return quoted(field)
}

func (t *table) create() string {
	var s strings.Builder
	fmt.Fprintf(&s, "CREATE TABLE IF NOT EXISTS %s (%s varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY", t.name, keyColumn)
	for _, f := range t.fields {
		fmt.Fprintf(&s, ", %s %s", t.column(f), t.kind)
	}
	return s.String() + ") DEFAULT CHARACTER SET utf8mb4"
}

func (t *table) drop() string { return "DROP TABLE IF EXISTS " + t.name }

func (t *table) count() string { return "SELECT count(*) FROM " + t.name }

// shape tells statements apart: by what is done and with which fields, all of
// them for "", else joined by zero bytes.
type shape struct {
	kind   traces.Kind
	fields string
}

// read returns the fields of a READ or a SCAN as a shape has them.
func (t *table) read(fields []string) string {
	switch len(fields) {
	case 0:
		return ""
	case 1:
		return fields[0]
	}
	return strings.Join(fields, "\x00")
}

// names returns the fields of a shape.
func (t *table) names(s shape) []string {
	if s.fields == "" {
		return t.fields
	}
	return strings.Split(s.fields, "\x00")
}

// statement returns the statement of a shape. Its parameters are the values in
// the order of the fields, then the key, then the limit of a SCAN.
func (t *table) statement(s shape) string {
	names := t.names(s)
	columns := make([]string, len(names))
	for i, n := range names {
		columns[i] = t.column(n)
	}
	list := strings.Join(columns, ", ")
	switch s.kind {
	case traces.Read:
		return fmt.Sprintf("SELECT %s FROM %s WHERE %s = ?", list, t.name, keyColumn)
	case traces.Scan:
		return fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s >= ? ORDER BY %s LIMIT ?", list, keyColumn, t.name, keyColumn, keyColumn)
	case traces.Delete:
		return fmt.Sprintf("DELETE FROM %s WHERE %s = ?", t.name, keyColumn)
	case traces.Insert:
		return fmt.Sprintf("INSERT INTO %s (%s, %s) VALUES (%s?)", t.name, list, keyColumn, strings.Repeat("?, ", len(columns)))
	}
	return fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s = ?", t.name, strings.Join(columns, " = ?, "), keyColumn)
}

// mostSingle is the greatest number of fields for which the statements over
// each single one are prepared in advance.
const mostSingle = 32

// shapes lists the statements to prepare in advance: those the trace may need,
// or all if it doesn't say what it does.
func (t *table) shapes() []shape {
	var list []shape
	add := func(kind traces.Kind, single bool) {
		list = append(list, shape{kind: kind})
		if single && len(t.fields) <= mostSingle {
			for _, f := range t.fields {
				list = append(list, shape{kind, f})
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
