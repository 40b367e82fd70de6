package bindingtest

import (
	"testing"

	"pianola/bindings"
	"pianola/traces"
)

func testInsertAndRead(t *testing.T, s *suite) {
	db := s.database(t, header(10, "user"))
	c := db.client()
	for n := range 5 {
		c.mustInsert(db.key(n), db.record(db.key(n)))
	}
	for n := range 5 {
		want := db.record(db.key(n))
		c.mustRead(db.key(n), want)
		c.mustRead(db.key(n), want.only("field3"), "field3")
		c.mustRead(db.key(n), want.only("field9", "field0", "field4"), "field9", "field0", "field4")
	}
	// Results are fetched even if nobody takes them.
	op := &bindings.Op{Kind: traces.Read, Table: db.header.Table, Key: []byte(db.key(1))}
	if err := c.do(t.Context(), op); err != nil {
		t.Errorf("READ whose rows nobody takes: %v", err)
	}
}

func testUpdate(t *testing.T, s *suite) {
	if !s.limits.can(traces.Update) {
		return
	}
	db := s.database(t, header(10, "user"))
	c := db.client()
	want, neighbour := db.record("first"), db.record("neighbour")
	c.mustInsert(db.key(1), want)
	c.mustInsert(db.key(2), neighbour)
	for _, change := range []record{
		{"field5": "a longer value than the one that was there before"},
		{"field5": "short"},
		{"field0": "the first", "field9": "the last"},
		db.record("all"),
	} {
		c.mustUpdate(db.key(1), change)
		want = want.with(change)
		c.mustRead(db.key(1), want)
	}
	c.mustRead(db.key(2), neighbour)
}

func testReadModifyWrite(t *testing.T, s *suite) {
	if !s.limits.can(traces.ReadModifyWrite) {
		return
	}
	db := s.database(t, header(10, "user"))
	c := db.client()
	want := db.record("first")
	c.mustInsert(db.key(1), want)
	for _, step := range []struct {
		change record
		read   []string
	}{
		{record{"field5": "changed"}, nil},
		{record{"field5": "changed again"}, []string{"field5"}},
		{record{"field6": "another"}, []string{"field5"}},
		{db.record("all"), nil},
	} {
		got, err := c.modify(db.key(1), step.change, step.read...)
		if at := c.readEnded; at != 0 && (at < c.started || at > db.clock.Now()) {
			t.Errorf("READMODIFYWRITE had read at %v, and ran from %v to %v", at, c.started, db.clock.Now())
		}
		if err != nil {
			t.Fatalf("READMODIFYWRITE %v: %v", step.change, err)
		}
		c.mustBe(got, "the read of READMODIFYWRITE", db.key(1), want.only(step.read...))
		want = want.with(step.change)
		c.mustRead(db.key(1), want)
	}
}

func testDelete(t *testing.T, s *suite) {
	if !s.limits.can(traces.Delete) {
		return
	}
	db := s.database(t, header(4, "user"))
	c := db.client()
	for n := range 3 {
		c.mustInsert(db.key(n), db.record(db.key(n)))
	}
	if err := c.remove(db.key(1)); err != nil {
		t.Fatalf("DELETE: %v", err)
	}
	c.mustMiss(db.key(1))
	c.mustRead(db.key(0), db.record(db.key(0)))
	c.mustRead(db.key(2), db.record(db.key(2)))
	c.mustInsert(db.key(1), db.record("second life"))
	c.mustRead(db.key(1), db.record("second life"))
}

func testNotFound(t *testing.T, s *suite) {
	db := s.database(t, header(4, "user"))
	c := db.client()
	missing := func(state, key string) {
		t.Helper()
		c.mustMiss(key)
		if s.limits.can(traces.ReadModifyWrite) {
			got, err := c.modify(key, record{"field1": "x"})
			mustBeOf(t, bindings.NotFound, err, state+": READMODIFYWRITE "+key)
			if len(got.keys) > 0 {
				t.Errorf("%s: READMODIFYWRITE of no record gave %q", state, got.keys)
			}
			c.mustMiss(key)
		}
		if s.limits.can(traces.Delete) {
			mustBeOf(t, unless(s.limits.BlindDelete, bindings.NotFound), c.remove(key), state+": DELETE "+key)
			c.mustMiss(key)
		}
		if s.limits.can(traces.Update) {
			mustBeOf(t, unless(s.limits.BlindUpdate, bindings.NotFound), c.update(key, record{"field1": "x"}), state+": UPDATE "+key)
			if s.limits.BlindUpdate {
				c.mustRead(key, record{"field1": "x"})
				return
			}
			c.mustMiss(key)
		}
	}
	missing("empty", db.key(1))
	c.mustInsert(db.key(5), db.record("five"))
	missing("before the only record", db.key(4))
	missing("behind the only record", db.key(6))
	missing("a beginning of its key", db.key(5)[:len(db.key(5))-1])
	missing("more than its key", db.key(5)+"0")
	c.mustRead(db.key(5), db.record("five"))
}

func testDuplicate(t *testing.T, s *suite) {
	db := s.database(t, header(4, "user"))
	c := db.client()
	first, second := db.record("first"), db.record("second")
	c.mustInsert(db.key(1), first)
	mustBeOf(t, unless(s.limits.BlindInsert, bindings.Duplicate), c.insert(db.key(1), second), "the second INSERT")
	if s.limits.BlindInsert {
		first = second
	}
	c.mustRead(db.key(1), first)
}

// unless returns OK where a limit holds, else the class.
func unless(limit bool, class bindings.Class) bindings.Class {
	if limit {
		return bindings.OK
	}
	return class
}

func mustBeOf(t *testing.T, want bindings.Class, err error, what string) {
	t.Helper()
	if got := bindings.ClassOf(err); got != want {
		t.Fatalf("%s: %v, which is of class %v, want %v", what, err, got, want)
	}
}
