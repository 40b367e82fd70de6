package pebble

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/keyvalue"
	"pianola/traces"
	"pianola/traces/payload"
)

// wallClock counts real time.
type wallClock struct{ start time.Time }

func (c wallClock) Now() time.Duration          { return time.Since(c.start) }
func (c wallClock) SleepUntil(at time.Duration) { time.Sleep(at - c.Now()) }

func testConfig() bindings.Config {
	return bindings.Config{
		Header: &traces.Header{Table: "usertable", Fields: payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}}},
		Clock:  wallClock{time.Now()},
		Slots:  4,
	}
}

// configured returns a binding with the given properties over the defaults.
func configured(t testing.TB, given bindings.Properties) *binding {
	t.Helper()
	p, err := Driver.Configure(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Driver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return b.(*binding)
}

// loaded returns a session on a temporary database with n records.
func loaded(t testing.TB, n int) *session {
	t.Helper()
	b := configured(t, nil)
	if err := b.Open(context.Background(), testConfig()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := b.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := s.Do(context.Background(), whole(traces.Insert, i)); err != nil {
			t.Fatal(err)
		}
	}
	return s.(*session)
}

func keyOf(n int) []byte { return fmt.Appendf(nil, "user%06d", n) }

// whole returns an operation that writes ten fields of 100 bytes.
func whole(kind traces.Kind, n int) *bindings.Op {
	op := &bindings.Op{Kind: kind, Table: "usertable", Key: keyOf(n)}
	for i := range 10 {
		op.Write = append(op.Write, bindings.Field{Name: fmt.Sprint("field", i), Value: make([]byte, 100)})
	}
	return op
}

func BenchmarkDo(b *testing.B) {
	const records = 20_000
	s := loaded(b, records)
	for _, c := range []struct {
		name string
		op   *bindings.Op
	}{
		{"read all", &bindings.Op{Kind: traces.Read, Table: "usertable"}},
		{"read one", &bindings.Op{Kind: traces.Read, Table: "usertable", Read: []string{"field5"}}},
		{"update one", &bindings.Op{Kind: traces.Update, Table: "usertable", Write: whole(traces.Update, 0).Write[5:6]}},
		{"insert", whole(traces.Insert, 0)},
		{"scan 50", &bindings.Op{Kind: traces.Scan, Table: "usertable", ScanLength: 50}},
		{"delete", &bindings.Op{Kind: traces.Delete, Table: "usertable"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.op.Key = fmt.Appendf(c.op.Key[:0], "user%06d", i*7919%records)
				if err := s.Do(context.Background(), c.op); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOverhead compares the binding with the bare store, by the calls that
// an operation becomes and without decoding.
func BenchmarkOverhead(b *testing.B) {
	first := loaded(b, 0)
	ctx := context.Background()
	records := 0
	pair := func(kind traces.Kind, bare func(key []byte) error) func(int) bindingtest.Pair {
		return func(int) bindingtest.Pair {
			session := &session{binding: first.binding, db: first.db}
			records++
			if err := session.Do(ctx, whole(traces.Insert, records)); err != nil {
				b.Fatal(err)
			}
			op := whole(kind, records)
			op.Write = op.Write[5:6]
			key := append(keyvalue.TableStart(nil, op.Table), op.Key...)
			return bindingtest.Pair{
				Ours: func(int) error { return session.Do(ctx, op) },
				Bare: func(int) error { return bare(key) },
			}
		}
	}
	look := func(key []byte) error {
		_, closer, err := first.db.Get(key)
		if err != nil {
			return err
		}
		return closer.Close()
	}
	b.Run("read", func(b *testing.B) { bindingtest.Overhead(b, pair(traces.Read, look), nil) })
	b.Run("update", func(b *testing.B) {
		record := keyvalue.AppendRecord(nil, whole(traces.Update, 0).Write)
		bindingtest.Overhead(b, pair(traces.Update, func(key []byte) error {
			if err := look(key); err != nil {
				return err
			}
			return first.db.Set(key, record, pebble.NoSync)
		}), nil)
	})
}
