package bindingtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pianola/bindings"
	"pianola/bindings/memory"
	"pianola/traces"
)

const (
	sequenceOps  = 5000
	sequenceKeys = 300
	sequenceSeed = 20260101
)

// testRandomSequence runs one seeded sequence of all kinds through the database
// and through the memory binding. Each answer must be the same, and in the end
// the contents.
func testRandomSequence(t *testing.T, s *suite) {
	h := header(5, "user")
	db := s.database(t, h)
	c := db.client()
	o := newOracle(t, s.limits, h)
	random := rand.New(rand.NewPCG(sequenceSeed, 0))
	for i := range sequenceOps {
		step := newStep(random, db)
		want, wantErr := o.do(step)
		got, err := c.run(step.kind, step.key, step.op())
		what := fmt.Sprintf("operation %d, %v %q", i, step.kind, step.key)
		mustBeOf(t, bindings.ClassOf(wantErr), err, what)
		if step.kind == traces.Scan && s.limits.Unordered {
			o.mustHold(t, what, got, step.read)
			continue
		}
		mustEqual(t, what, got, want)
	}
	for n := range sequenceKeys {
		want, wantErr := o.client.read(db.key(n))
		got, err := c.read(db.key(n))
		what := fmt.Sprintf("in the end, READ %q", db.key(n))
		mustBeOf(t, bindings.ClassOf(wantErr), err, what)
		mustEqual(t, what, got, want)
	}
	all, err := o.client.scan("", sequenceKeys+1)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.keys) < sequenceKeys/4 {
		t.Fatalf("the sequence leaves only %d records to compare", len(all.keys))
	}
	if n, ok := db.count(); ok && n != uint64(len(all.keys)) {
		t.Errorf("in the end there are %d records, want %d", n, len(all.keys))
	}
	if s.limits.can(traces.Scan) && !s.limits.Unordered {
		got, err := c.scan(db.key(0), sequenceKeys+1)
		if err != nil {
			t.Fatalf("in the end, SCAN: %v", err)
		}
		mustEqual(t, "in the end, SCAN", got, all)
	}
}

// step is one operation, from which fresh ones are made.
type step struct {
	kind   traces.Kind
	key    string
	length int
	read   []string
	write  record
}

func newStep(random *rand.Rand, db *database) step {
	l := &db.suite.limits
	s := step{key: db.key(random.IntN(sequenceKeys))}
	for s.kind = 0; !s.kind.Valid() || !l.can(s.kind); {
		s.kind = traces.Kind(random.IntN(int(traces.KindLimit)))
	}
	fields := &db.header.Fields
	if s.kind.Reads() {
		for i := range random.IntN(3) {
			s.read = append(s.read, fields.Name((i+random.IntN(2))*2))
		}
		slices.Sort(s.read)
		s.read = slices.Compact(s.read)
	}
	if s.kind == traces.Scan {
		s.length = 1 + random.IntN(20)
	}
	if s.kind.Writes() {
		s.write = record{}
		for i := range fields.Count {
			if s.kind == traces.Insert || random.IntN(3) == 0 {
				s.write[fields.Name(i)] = l.randomValue(random, random.IntN(200))
			}
		}
		if len(s.write) == 0 {
			s.write[fields.Name(1)] = l.randomValue(random, 10)
		}
	}
	return s
}

func (s *step) op() bindings.Op {
	return bindings.Op{ScanLength: s.length, Read: slices.Clone(s.read), Write: s.write.fields()}
}

// oracle is the memory binding, with a database's limits.
type oracle struct {
	limits Limits
	client *client
}

func newOracle(t *testing.T, limits Limits, h *traces.Header) *oracle {
	b, err := memory.Driver.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Open(context.Background(), bindings.Config{Header: h}); err != nil {
		t.Fatal(err)
	}
	session, err := b.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return &oracle{limits: limits, client: &client{
		db: &database{t: t, suite: &suite{}, binding: b, header: h}, t: t,
		do: session.Do,
	}}
}

// do runs a step as a database with the limits would.
func (o *oracle) do(s step) (*rows, error) {
	if s.kind == traces.Scan && o.limits.SparseScans && len(s.read) > 0 {
		return o.scanSparse(s)
	}
	got, err := o.client.run(s.kind, s.key, s.op())
	switch {
	case s.kind == traces.Insert && o.limits.BlindInsert && err != nil:
		if err = o.client.remove(s.key); err == nil {
			err = o.client.insert(s.key, s.write)
		}
	case s.kind == traces.Update && o.limits.BlindUpdate && err != nil:
		err = o.client.insert(s.key, s.write)
	case s.kind == traces.Delete && o.limits.BlindDelete:
		err = nil
	}
	return got, err
}

// scanSparse scans only the records that have any of the fields.
func (o *oracle) scanSparse(s step) (*rows, error) {
	all, err := o.client.scan(s.key, sequenceKeys, s.read...)
	some := &rows{}
	for i, r := range all.records {
		if len(r) > 0 && len(some.keys) < s.length {
			some.keys, some.records = append(some.keys, all.keys[i]), append(some.records, r)
		}
	}
	return some, err
}

// mustHold demands that every record read is one of the oracle's.
func (o *oracle) mustHold(t *testing.T, what string, got *rows, fields []string) {
	t.Helper()
	for i, key := range got.keys {
		want, err := o.client.read(key, fields...)
		if err != nil {
			t.Fatalf("%s gave the record %q: %v", what, key, err)
		}
		if difference := compare(got.records[i], want.records[0]); difference != "" {
			t.Fatalf("%s, record %q: %s", what, key, difference)
		}
	}
}

func mustEqual(t *testing.T, what string, got, want *rows) {
	t.Helper()
	if !slices.Equal(got.keys, want.keys) {
		t.Fatalf("%s gave the records %q, want %q", what, got.keys, want.keys)
	}
	for i, key := range got.keys {
		if difference := compare(got.records[i], want.records[i]); difference != "" {
			t.Fatalf("%s, record %q: %s", what, key, difference)
		}
	}
}
