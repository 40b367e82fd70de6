package cassandra

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"pianola/bindings"
	"pianola/traces"
)

const (
	keyColumn    = "y_id"
	bucketColumn = "bucket"
)

// statement is a text of CQL and the level it is run at.
type statement struct {
	text  string
	level gocql.Consistency
	// kept is set for those made ahead, which are found again.
	kept bool
}

func newStatement(level gocql.Consistency, format string, arguments ...any) *statement {
	return &statement{text: fmt.Sprintf(format, arguments...), level: level}
}

// statements are those of a trace. Names that come from outside are quoted, so
// that they stay as they are.
type statements struct {
	settings *settings
	// keyspace and table are quoted, table with its keyspace.
	keyspace, table string
	// fields are the names of the header's, in its order.
	fields []string
	// where picks a record.
	where                                       string
	readAll, scanAll, updateAll, insert, delete *statement
	readOne, scanOne, updateOne                 map[string]*statement
}

// quoted returns a name as CQL takes it whatever is in it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func newStatements(h *traces.Header, s *settings) *statements {
	st := &statements{settings: s, keyspace: quoted(s.keyspace), where: keyColumn + " = ?"}
	st.table = st.keyspace + "." + quoted(h.Table)
	if s.buckets > 0 {
		st.where = bucketColumn + " = ? AND " + st.where
	}
	for i := range h.Fields.Count {
		st.fields = append(st.fields, h.Fields.Name(i))
	}
	st.readAll, st.scanAll = st.readOf(nil), st.scanOf(nil)
	st.updateAll, st.insert = st.updateOf(st.fields), st.insertOf(st.fields)
	st.delete = newStatement(s.write, "DELETE FROM %s WHERE %s", st.table, st.where)
	st.readOne, st.scanOne, st.updateOne = map[string]*statement{}, map[string]*statement{}, map[string]*statement{}
	for i, name := range st.fields {
		one := st.fields[i : i+1]
		st.readOne[name], st.scanOne[name], st.updateOne[name] = st.readOf(one), st.scanOf(one), st.updateOf(one)
		st.readOne[name].kept, st.scanOne[name].kept, st.updateOne[name].kept = true, true, true
	}
	for _, made := range []*statement{st.readAll, st.scanAll, st.updateAll, st.insert, st.delete} {
		made.kept = true
	}
	return st
}

// columns lists quoted names; all columns if there are none.
func columns(names []string) string {
	if len(names) == 0 {
		return "*"
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = quoted(name)
	}
	return strings.Join(list, ", ")
}

func (st *statements) readOf(names []string) *statement {
	return newStatement(st.settings.read, "SELECT %s FROM %s WHERE %s LIMIT 1", columns(names), st.table, st.where)
}

func (st *statements) scanOf(names []string) *statement {
	if len(names) > 0 {
		names = append([]string{keyColumn}, names...)
	}
	from := fmt.Sprintf("SELECT %s FROM %s WHERE ", columns(names), st.table)
	if st.settings.buckets == 0 {
		return newStatement(st.settings.read, "%stoken(%s) >= token(?) LIMIT ?", from, keyColumn)
	}
	buckets := make([]string, st.settings.buckets)
	for i := range buckets {
		buckets[i] = fmt.Sprint(i)
	}
	return newStatement(st.settings.read, "%s%s IN (%s) AND %s >= ? ORDER BY %s LIMIT ?",
		from, bucketColumn, strings.Join(buckets, ", "), keyColumn, keyColumn)
}

func (st *statements) updateOf(names []string) *statement {
	set := make([]string, len(names))
	for i, name := range names {
		set[i] = quoted(name) + " = ?"
	}
	return newStatement(st.settings.write, "UPDATE %s SET %s WHERE %s", st.table, strings.Join(set, ", "), st.where)
}

func (st *statements) insertOf(names []string) *statement {
	key := keyColumn
	if st.settings.buckets > 0 {
		key = bucketColumn + ", " + key
	}
	list, marks := "", "?"
	if len(names) > 0 {
		list = ", " + columns(names)
	}
	if st.settings.buckets > 0 {
		marks = "?, ?"
	}
	marks += strings.Repeat(", ?", len(names))
	return newStatement(st.settings.write, "INSERT INTO %s (%s%s) VALUES (%s)", st.table, key, list, marks)
}

// chosen returns the statement that reads a set of fields: the one for all, one
// of those for a single field, or a new one.
func chosen(names []string, all *statement, one map[string]*statement, of func([]string) *statement) *statement {
	switch len(names) {
	case 0:
		return all
	case 1:
		if s := one[names[0]]; s != nil {
			return s
		}
	}
	return of(names)
}

func (st *statements) forRead(names []string) *statement {
	return chosen(names, st.readAll, st.readOne, st.readOf)
}

func (st *statements) forScan(names []string) *statement {
	return chosen(names, st.scanAll, st.scanOne, st.scanOf)
}

func (st *statements) forUpdate(write []bindings.Field) *statement {
	if len(write) == 1 {
		if s := st.updateOne[write[0].Name]; s != nil {
			return s
		}
	}
	if st.isAll(write) {
		return st.updateAll
	}
	return st.updateOf(names(write))
}

func (st *statements) forInsert(write []bindings.Field) *statement {
	if st.isAll(write) {
		return st.insert
	}
	return st.insertOf(names(write))
}

// isAll reports whether the fields are those of the header, in its order.
func (st *statements) isAll(write []bindings.Field) bool {
	if len(write) != len(st.fields) {
		return false
	}
	for i := range write {
		if write[i].Name != st.fields[i] {
			return false
		}
	}
	return true
}

func names(write []bindings.Field) []string {
	list := make([]string, len(write))
	for i := range write {
		list[i] = write[i].Name
	}
	return list
}

// usualFields bounds the fields that get statements of their own ahead of time:
// a server keeps so many and no more, and with more fields than these a trace
// reads and writes all of them, if it is not to measure that.
const usualFields = 64

// usual lists the statements that the trace's kinds of operations become; where
// it doesn't say, those of all kinds.
func (st *statements) usual(h *traces.Header) []*statement {
	var kinds []traces.Kind
	for i := range h.Phases {
		for _, share := range h.Phases[i].Mix {
			kinds = append(kinds, share.Kind)
		}
	}
	has := func(list ...traces.Kind) bool {
		return len(kinds) == 0 || slices.ContainsFunc(list, func(k traces.Kind) bool { return slices.Contains(kinds, k) })
	}
	var list []*statement
	add := func(all *statement, one map[string]*statement) {
		list = append(list, all)
		for _, name := range st.fields[:min(len(st.fields), usualFields)] {
			if s := one[name]; s != nil {
				list = append(list, s)
			}
		}
	}
	if has(traces.Read, traces.ReadModifyWrite) {
		add(st.readAll, st.readOne)
	}
	if has(traces.Scan) {
		add(st.scanAll, st.scanOne)
	}
	if has(traces.Update, traces.ReadModifyWrite) {
		add(st.updateAll, st.updateOne)
	}
	if has(traces.Insert) {
		add(st.insert, nil)
	}
	if has(traces.Delete) {
		add(st.delete, nil)
	}
	return list
}
