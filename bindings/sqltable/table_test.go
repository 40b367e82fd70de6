package sqltable

import (
	"fmt"
	"slices"
	"testing"

	"pianola/bindings"
	"pianola/traces"
	"pianola/traces/payload"
)

var numbered = Dialect{
	Key:   "id",
	Quote: func(name string) string { return "<" + name + ">" },
	Place: func(n int) string { return fmt.Sprint("$", n) },
}

func header(fields int, kinds ...traces.Kind) *traces.Header {
	h := &traces.Header{Table: "usertable", Fields: payload.Fields{Count: fields, Prefix: "f"}}
	for _, k := range kinds {
		h.Phases = append(h.Phases, traces.Phase{Mix: []traces.Share{{Kind: k}}})
	}
	return h
}

func TestStatements(t *testing.T) {
	table := New(header(3), numbered)
	for _, c := range []struct {
		shape Shape
		want  string
	}{
		{table.Reading(traces.Read, nil), "SELECT <f0>, <f1>, <f2> FROM <usertable> WHERE id = $1"},
		{table.Reading(traces.Read, []string{"f1"}), "SELECT <f1> FROM <usertable> WHERE id = $1"},
		{table.Reading(traces.Read, []string{"f2", "other"}), "SELECT <f2>, <other> FROM <usertable> WHERE id = $1"},
		{table.Reading(traces.Scan, []string{"f1"}), "SELECT <f1>, id FROM <usertable> WHERE id >= $1 ORDER BY id LIMIT $2"},
		{table.Writing(traces.Insert, []bindings.Field{{Name: "f0"}, {Name: "f1"}, {Name: "f2"}}), "INSERT INTO <usertable> (<f0>, <f1>, <f2>, id) VALUES ($1, $2, $3, $4)"},
		{table.Writing(traces.Update, []bindings.Field{{Name: "f2"}}), "UPDATE <usertable> SET <f2> = $1 WHERE id = $2"},
		{table.Writing(traces.Update, []bindings.Field{{Name: "f2"}, {Name: "f0"}}), "UPDATE <usertable> SET <f2> = $1, <f0> = $2 WHERE id = $3"},
		{Shape{Kind: traces.Delete}, "DELETE FROM <usertable> WHERE id = $1"},
	} {
		if got := table.Statement(c.shape); got != c.want {
			t.Errorf("%+v is\n%s, want\n%s", c.shape, got, c.want)
		}
	}
	if got, want := table.Create("text PRIMARY KEY", "blob", ""), "CREATE TABLE IF NOT EXISTS <usertable> (id text PRIMARY KEY, <f0> blob, <f1> blob, <f2> blob)"; got != want {
		t.Errorf("it is made by\n%s, want\n%s", got, want)
	}
}

// TestWritesOfAllFields: the same fields in their order are the same statement,
// and in another order another.
func TestWritesOfAllFields(t *testing.T) {
	table := New(header(2), numbered)
	if got := table.Writing(traces.Insert, []bindings.Field{{Name: "f0"}, {Name: "f1"}}); got != (Shape{Kind: traces.Insert}) {
		t.Errorf("all fields in order are %+v", got)
	}
	if got := table.Writing(traces.Insert, []bindings.Field{{Name: "f1"}, {Name: "f0"}}); got != (Shape{traces.Insert, "f1\x00f0"}) {
		t.Errorf("turned round they are %+v", got)
	}
	one := New(header(1), numbered)
	if got := one.Writing(traces.Update, []bindings.Field{{Name: "f0"}}); got != (Shape{Kind: traces.Update}) {
		t.Errorf("the only field is %+v", got)
	}
}

func TestShapesAreThoseTheTraceNeeds(t *testing.T) {
	kinds := func(h *traces.Header) (list []traces.Kind) {
		table := New(h, numbered)
		for _, s := range table.Shapes() {
			if s.Fields == "" {
				list = append(list, s.Kind)
			}
		}
		return list
	}
	if got, want := kinds(header(2)), []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.Delete}; !slices.Equal(got, want) {
		t.Errorf("a trace that doesn't say needs %v, want %v", got, want)
	}
	if got, want := kinds(header(2, traces.ReadModifyWrite, traces.Insert)), []traces.Kind{traces.Read, traces.Update, traces.Insert}; !slices.Equal(got, want) {
		t.Errorf("READMODIFYWRITE and INSERT need %v, want %v", got, want)
	}
	few, many := New(header(mostSingle, traces.Read), numbered), New(header(mostSingle+1, traces.Read), numbered)
	if len(few.Shapes()) != 1+mostSingle || len(many.Shapes()) != 1 {
		t.Errorf("%d and %d statements are prepared for %d fields and one more", len(few.Shapes()), len(many.Shapes()), mostSingle)
	}
}
