package memory_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/memory"
	"pianola/traces"
)

func open(t *testing.T) bindings.Binding {
	t.Helper()
	b, err := memory.Driver.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSuite(t *testing.T) {
	bindingtest.Run(t, open, bindingtest.Limits{})
}

func session(t *testing.T) (bindings.Binding, bindings.Session) {
	t.Helper()
	b := open(t)
	if err := b.Open(context.Background(), bindings.Config{Header: &traces.Header{Table: "t"}}); err != nil {
		t.Fatal(err)
	}
	s, err := b.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return b, s
}

// taken is what was read, as one line for each record.
type taken struct{ lines []string }

func (r *taken) Row(key []byte) { r.lines = append(r.lines, string(key)) }
func (r *taken) Field(name string, value []byte) {
	r.lines[len(r.lines)-1] += fmt.Sprintf(" %s=%q", name, value)
}

// TestAgainstAPlainMap compares the oracle of all other databases with what is
// too simple to be wrong: a map of maps that is sorted for each scan.
func TestAgainstAPlainMap(t *testing.T) {
	_, s := session(t)
	plain := map[string]map[string]string{}
	line := func(key string) string {
		text := key
		for _, name := range slices.Sorted(maps.Keys(plain[key])) {
			text += fmt.Sprintf(" %s=%q", name, plain[key][name])
		}
		return text
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 20_000 {
		kind := traces.Kind(1 + random.IntN(int(traces.KindLimit)-1))
		key := fmt.Sprint("k", random.IntN(150))
		got := &taken{}
		op := &bindings.Op{Kind: kind, Table: "t", Key: []byte(key), ScanLength: random.IntN(9), Rows: got}
		change := map[string]string{}
		for f := range 3 {
			if kind == traces.Insert || kind.Writes() && random.IntN(2) == 0 {
				change[fmt.Sprint("f", f)] = fmt.Sprint(random.Uint64())
				op.Write = append(op.Write, bindings.Field{Name: fmt.Sprint("f", f), Value: []byte(change[fmt.Sprint("f", f)])})
			}
		}
		want, class := []string(nil), bindings.OK
		_, exists := plain[key]
		switch {
		case kind == traces.Scan:
			for _, k := range slices.Sorted(maps.Keys(plain)) {
				if k >= key && len(want) < op.ScanLength {
					want = append(want, line(k))
				}
			}
		case kind == traces.Insert && exists:
			class = bindings.Duplicate
		case kind == traces.Insert:
			plain[key] = change
		case !exists:
			class = bindings.NotFound
		case kind == traces.Delete:
			delete(plain, key)
		default:
			if kind != traces.Update {
				want = []string{line(key)}
			}
			maps.Copy(plain[key], change)
		}
		if err := s.Do(context.Background(), op); bindings.ClassOf(err) != class {
			t.Fatalf("operation %d, %v %s: %v, want class %v", i, kind, key, err, class)
		}
		if !slices.Equal(got.lines, want) {
			t.Fatalf("operation %d, %v %s gave %q, want %q", i, kind, key, got.lines, want)
		}
	}
}

func TestTablesAreApart(t *testing.T) {
	b, s := session(t)
	insert := func(table, key string) error {
		return s.Do(context.Background(), &bindings.Op{Kind: traces.Insert, Table: table, Key: []byte(key)})
	}
	for _, table := range []string{"t", "u"} {
		if err := insert(table, "1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := insert("u", "2"); err != nil {
		t.Fatal(err)
	}
	if n, err := b.(bindings.Counter).Count(context.Background()); n != 1 || err != nil {
		t.Errorf("the trace's table has %d records, %v, want 1", n, err)
	}
	got := &taken{}
	s.Do(context.Background(), &bindings.Op{Kind: traces.Scan, Table: "t", ScanLength: 9, Rows: got})
	if !slices.Equal(got.lines, []string{"1"}) {
		t.Errorf("a scan of one table gave %q", got.lines)
	}
}

func TestReadsAllocateNothing(t *testing.T) {
	_, s := session(t)
	for n := range 1000 {
		key := fmt.Appendf(nil, "user%d", n)
		write := []bindings.Field{{Name: "field0", Value: bytes.Repeat([]byte("x"), 100)}}
		if err := s.Do(context.Background(), &bindings.Op{Kind: traces.Insert, Table: "t", Key: key, Write: write}); err != nil {
			t.Fatal(err)
		}
	}
	for _, op := range []*bindings.Op{
		{Kind: traces.Read, Table: "t", Key: []byte("user500")},
		{Kind: traces.Read, Table: "t", Key: []byte("missing")},
		{Kind: traces.Scan, Table: "t", Key: []byte("user500"), ScanLength: 100},
	} {
		if n := testing.AllocsPerRun(100, func() { s.Do(context.Background(), op) }); n != 0 {
			t.Errorf("%v of %q allocates %v times", op.Kind, op.Key, n)
		}
	}
}
