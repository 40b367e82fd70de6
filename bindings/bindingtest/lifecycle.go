package bindingtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/traces"
)

// everyKind returns one operation of each kind that the database has.
func (db *database) everyKind(n int) []*bindings.Op {
	var ops []*bindings.Op
	for kind := traces.Read; kind < traces.KindLimit; kind++ {
		if !db.suite.limits.can(kind) {
			continue
		}
		op := &bindings.Op{Kind: kind, Table: db.header.Table, Key: []byte(db.key(n))}
		if kind == traces.Scan {
			op.ScanLength = 10
		}
		if kind.Writes() {
			op.Write = db.record("written").fields()
		}
		ops = append(ops, op)
	}
	return ops
}

// testAnswers: a database that stores nothing answers everything with success
// and gives nothing back.
func testAnswers(t *testing.T, s *suite) {
	db := s.database(t, header(3, "user"))
	c := db.client()
	for range 3 {
		for _, op := range db.everyKind(1) {
			got := &rows{}
			op.Rows = got
			kind := op.Kind
			if err := c.do(t.Context(), op); err != nil || len(got.keys) > 0 {
				t.Errorf("%v: %v, gave %q", kind, err, got.keys)
			}
		}
	}
}

func testUnknownKinds(t *testing.T, s *suite) {
	db := s.database(t, header(3, "user"))
	c := db.client()
	unknown := append([]traces.Kind{0, traces.KindLimit, 255}, s.limits.Lacks...)
	for _, kind := range unknown {
		err := c.do(t.Context(), &bindings.Op{Kind: kind, Table: db.header.Table, Key: []byte(db.key(1)), Write: db.record("x").fields()})
		mustBeOf(t, bindings.Invalid, err, "an operation of "+kind.String())
	}
	if n, ok := db.count(); ok && n != 0 {
		t.Errorf("operations of unknown kinds have left %d records", n)
	}
}

func testFacts(t *testing.T, s *suite) {
	db := s.database(t, header(3, "user"))
	c := db.client()
	for _, op := range db.everyKind(1) {
		c.do(t.Context(), op)
	}
	r, ok := db.binding.(bindings.Reporter)
	if !ok {
		return
	}
	seen := map[string]bool{}
	for _, fact := range r.Facts() {
		if fact.Name == "" || seen[fact.Name] {
			t.Errorf("a fact has the name %q, which is empty or that of another", fact.Name)
		}
		if strings.ContainsAny(fact.Name+fact.Value, "\n\t") {
			t.Errorf("fact %q is not one line: %q", fact.Name, fact.Value)
		}
		seen[fact.Name] = true
	}
}

func testSessionsCloseApart(t *testing.T, s *suite) {
	if s.pipeline {
		return
	}
	db := s.database(t, header(3, "user"))
	first, second := db.client(), db.client()
	first.mustInsert(db.key(1), db.record("first"))
	first.close()
	second.mustInsert(db.key(2), db.record("second"))
	if !s.limits.Forgets {
		second.mustRead(db.key(1), db.record("first"))
	}
	third := db.client()
	third.mustInsert(db.key(3), db.record("third"))
}

// testCancel: what is cancelled or late before it starts is answered, in one
// way or another, and the session goes on.
func testCancel(t *testing.T, s *suite) {
	db := s.database(t, header(3, "user"))
	c := db.client()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancelLate()
	for _, ctx := range []context.Context{cancelled, late, context.Background()} {
		for _, op := range db.everyKind(1) {
			op.Deadline = 1
			c.do(ctx, op)
		}
	}
	c.mustInsert(db.key(2), db.record("after"))
	if !s.limits.Forgets {
		c.mustRead(db.key(2), db.record("after"))
	}
}

// testCancelledWrite: a write that is cancelled has happened or not; there is
// no third way, and success means that it has.
func testCancelledWrite(t *testing.T, s *suite) {
	db := s.database(t, header(5, "user"))
	c := db.client()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for n, kind := range []traces.Kind{traces.Update, traces.ReadModifyWrite, traces.Insert} {
		if !s.limits.can(kind) {
			continue
		}
		before, after := db.record("before"), db.record("after")
		if kind != traces.Insert {
			c.mustInsert(db.key(n), before)
		}
		op := &bindings.Op{Kind: kind, Table: db.header.Table, Key: []byte(db.key(n)), Write: after.fields(), Deadline: 1}
		writeErr := c.do(cancelled, op)
		got, err := c.read(db.key(n))
		switch {
		case bindings.ClassOf(err) == bindings.NotFound && kind == traces.Insert && writeErr != nil:
		case err != nil:
			t.Errorf("READ behind a cancelled %v: %v", kind, err)
		case compare(got.records[0], after) == "":
		case compare(got.records[0], before) == "" && writeErr != nil && kind != traces.Insert:
		default:
			t.Errorf("a cancelled %v (%v) has left %v", kind, writeErr, got.records[0])
		}
	}
}

func testCount(t *testing.T, s *suite) {
	db := s.database(t, header(3, "user"))
	c := db.client()
	expect := func(want uint64, when string) {
		t.Helper()
		if n, ok := db.count(); ok && n != want {
			t.Errorf("%s the table is said to have %d records, want %d", when, n, want)
		}
	}
	expect(0, "empty")
	spread(c, 300)
	expect(300, "loaded,")
	if s.limits.can(traces.Update) {
		c.mustUpdate(db.key(0), record{"field0": "changed"})
	}
	c.mustMiss(db.key(1))
	expect(300, "after an update and a miss")
	if s.limits.can(traces.Delete) {
		if err := c.remove(db.key(0)); err != nil {
			t.Fatalf("DELETE: %v", err)
		}
		expect(299, "after a DELETE")
	}
}

// testSchemaTwice: creating what exists leaves it as it is.
func testSchemaTwice(t *testing.T, s *suite) {
	db := s.database(t, header(3, "user"))
	creator, ok := db.binding.(bindings.SchemaCreator)
	if !ok {
		return
	}
	c := db.client()
	c.mustInsert(db.key(1), db.record("kept"))
	if err := creator.CreateSchema(t.Context()); err != nil {
		t.Fatalf("create the schema a second time: %v", err)
	}
	c.mustRead(db.key(1), db.record("kept"))
}

// testDrop: dropping leaves nothing of the table, and no error where there is
// none; what is loaded afterwards is as if nothing had been before.
func testDrop(t *testing.T, s *suite) {
	db := s.database(t, header(3, "user"))
	dropper, ok := db.binding.(bindings.Dropper)
	if !ok {
		return
	}
	c := db.client()
	spread(c, 300)
	if c.close != nil {
		c.close()
	}
	for range 2 {
		if err := dropper.Drop(t.Context()); err != nil {
			t.Fatalf("drop: %v", err)
		}
	}
	if creator, ok := db.binding.(bindings.SchemaCreator); ok {
		if err := creator.CreateSchema(t.Context()); err != nil {
			t.Fatalf("create the schema behind a drop: %v", err)
		}
	}
	if n, ok := db.count(); ok && n != 0 {
		t.Errorf("a table that was dropped is said to have %d records", n)
	}
	c = db.client()
	c.mustMiss(db.key(0))
	c.mustInsert(db.key(0), db.record("after"))
	c.mustRead(db.key(0), db.record("after"))
	if n, ok := db.count(); ok && n != 1 {
		t.Errorf("the table is said to have %d records behind a drop and an INSERT", n)
	}
}
