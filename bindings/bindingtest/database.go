package bindingtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/traces"
	"pianola/traces/payload"
)

// database is an open one.
type database struct {
	t       *testing.T
	suite   *suite
	binding bindings.Binding
	header  *traces.Header
	clock   wallClock
	// shared is the pipeline, where the suite goes through it.
	shared *pipelineClient
}

// slots is the number of operations in flight that a database is opened for.
const slots = 16

// wallClock counts real time.
type wallClock struct{ start time.Time }

func (c wallClock) Now() time.Duration          { return time.Since(c.start) }
func (c wallClock) SleepUntil(at time.Duration) { time.Sleep(at - c.Now()) }

// header describes a trace over records with that many fields and keys that
// begin with the prefix; the keys' order is that of their numbers.
func header(fields int, prefix string) *traces.Header {
	return &traces.Header{
		FormatVersion: 1,
		Seed:          1,
		Tick:          time.Nanosecond,
		Keys:          payload.Keys{Prefix: prefix, Padding: 6, Order: payload.Ordered},
		Fields:        payload.Fields{Count: fields, Prefix: "field", Length: payload.Length{Constant: 100}},
		Table:         "usertable",
		Phases:        []traces.Phase{{Name: traces.LoadPhase}, {Name: "run", Paced: true}},
	}
}

// database opens an empty one, which is closed behind the test.
func (s *suite) database(t *testing.T, h *traces.Header) *database {
	t.Helper()
	db := &database{t: t, suite: s, binding: s.open(t), header: h, clock: wallClock{time.Now()}}
	ctx := context.Background()
	if err := db.binding.Open(ctx, bindings.Config{Header: h, Clock: db.clock, Slots: slots}); err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := db.binding.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if c, ok := db.binding.(bindings.SchemaCreator); ok {
		if err := c.CreateSchema(ctx); err != nil {
			t.Fatalf("create the schema: %v", err)
		}
	}
	if s.pipeline {
		db.shared = newPipelineClient(t, db.binding.(bindings.Pipeliner))
	}
	if o, ok := db.binding.(bindings.PhaseObserver); ok {
		for _, p := range h.Phases {
			o.PhaseStarts(p.Name, db.clock.Now())
		}
	}
	return db
}

// client returns a new session, or the pipeline that all share.
func (db *database) client() *client {
	db.t.Helper()
	if db.shared != nil {
		return &client{db: db, t: db.t, do: db.shared.do}
	}
	session, err := db.binding.Session(context.Background())
	if err != nil {
		db.t.Fatalf("session: %v", err)
	}
	open := true
	c := &client{db: db, t: db.t, do: func(ctx context.Context, op *bindings.Op) error {
		key := string(op.Key)
		err := session.Do(ctx, op)
		checkKey(db.t, op, key)
		spoil(op)
		return err
	}, close: func() {
		if err := session.Close(); err != nil {
			db.t.Errorf("close a session: %v", err)
		}
		open = false
	}}
	db.t.Cleanup(func() {
		if open {
			c.close()
		}
	})
	return c
}

// key returns the key of a key number.
func (db *database) key(n int) string {
	return string(db.header.Keys.Append(nil, uint64(n)))
}

// record returns a record with every field of the header; its values begin with
// the tag.
func (db *database) record(tag string) record {
	r := record{}
	for i := range db.header.Fields.Count {
		r[db.header.Fields.Name(i)] = fmt.Sprintf("%s of field %d", tag, i)
	}
	return r
}

// count asks the binding, where it can count.
func (db *database) count() (uint64, bool) {
	db.t.Helper()
	c, ok := db.binding.(bindings.Counter)
	if !ok {
		return 0, false
	}
	n, err := c.Count(context.Background())
	if err != nil {
		db.t.Fatalf("count: %v", err)
	}
	return n, true
}

// record is the values of a record by field name.
type record map[string]string

// fields returns what an operation writes, in the order of the names.
func (r record) fields() []bindings.Field {
	var fields []bindings.Field
	for _, name := range slices.Sorted(maps.Keys(r)) {
		fields = append(fields, bindings.Field{Name: name, Value: []byte(r[name])})
	}
	return fields
}

// only returns the record with the named fields alone; all if none is named.
func (r record) only(names ...string) record {
	if len(names) == 0 {
		return r
	}
	some := record{}
	for _, name := range names {
		if value, ok := r[name]; ok {
			some[name] = value
		}
	}
	return some
}

// with returns the record with the fields of another over its own.
func (r record) with(changes record) record {
	all := maps.Clone(r)
	maps.Copy(all, changes)
	return all
}

// String shortens what would fill the screen.
func (r record) String() string {
	s := fmt.Sprintf("%q", map[string]string(r))
	if len(s) > 400 {
		return fmt.Sprintf("%s… (%d fields)", s[:400], len(r))
	}
	return s
}
