package hbase

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/traces"
	"pianola/traces/payload"
)

// limits of YCSB's mapping. Times of HBase are in milliseconds, and of a
// deletion and a write at one time the deletion counts.
var limits = bindingtest.Limits{
	BlindInsert: true, BlindUpdate: true, BlindDelete: true, SparseScans: true, DeleteLingers: 3 * time.Millisecond,
	MaxValueBytes: 10<<20 - 1024,
}

// wallClock counts real time.
type wallClock struct{ start time.Time }

func (c wallClock) Now() time.Duration          { return time.Since(c.start) }
func (c wallClock) SleepUntil(at time.Duration) { time.Sleep(at - c.Now()) }

func testConfig() bindings.Config {
	return bindings.Config{
		Header: &traces.Header{Table: "usertable", Fields: payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}}},
		Clock:  wallClock{time.Now()},
		Slots:  16,
	}
}

// at returns properties for a server.
func at(s *servers.Server, more bindings.Properties) bindings.Properties {
	p := bindings.Properties{"hosts": s.Address}
	for name, value := range more {
		p[name] = value
	}
	return p
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

// openedFor returns an open binding with its table made.
func openedFor(t testing.TB, config bindings.Config, given bindings.Properties) *binding {
	t.Helper()
	b := configured(t, given)
	if err := b.Open(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := b.CreateSchema(context.Background()); err != nil {
		t.Fatal(err)
	}
	return b
}

func opened(t testing.TB, given bindings.Properties) *binding {
	t.Helper()
	return openedFor(t, testConfig(), given)
}

func newTestSession(t testing.TB, b *binding) *session {
	t.Helper()
	s, err := b.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s.(*session)
}

// keys collects the keys of records.
type keys struct{ list [][]byte }

func (k *keys) Row(key []byte)       { k.list = append(k.list, append([]byte(nil), key...)) }
func (k *keys) Field(string, []byte) {}

// wipe removes all records: that is quicker than making the table anew.
func wipe(t testing.TB, given bindings.Properties) {
	t.Helper()
	b := opened(t, given)
	s := newTestSession(t, b)
	for {
		found := &keys{}
		if err := s.Do(t.Context(), &bindings.Op{Kind: traces.Scan, Table: "usertable", ScanLength: 1000, Rows: found}); err != nil {
			t.Fatal(err)
		}
		if len(found.list) == 0 {
			break
		}
		for _, key := range found.list {
			if err := s.Do(t.Context(), &bindings.Op{Kind: traces.Delete, Table: "usertable", Key: key}); err != nil {
				t.Fatal(err)
			}
		}
	}
	time.Sleep(limits.DeleteLingers)
}

// whole returns an operation that writes ten fields of 100 bytes.
func whole(kind traces.Kind, n int) *bindings.Op {
	op := &bindings.Op{Kind: kind, Table: "usertable", Key: fmt.Appendf(nil, "user%06d", n), ScanLength: 10}
	for i := range 10 {
		value := make([]byte, 100)
		for j := range value {
			value[j] = 'a' + byte(n+i+j)%26
		}
		op.Write = append(op.Write, bindings.Field{Name: fmt.Sprint("field", i), Value: value})
	}
	return op
}

// TestServer holds all tests that share one server; those that stop it are the
// last.
func TestServer(t *testing.T) {
	s := servers.Start(t, "hbase")
	for _, part := range []struct {
		name string
		test func(*testing.T, *servers.Server)
	}{
		{"suite", testSuite},
		{"contents", testContents},
		{"zookeeper", testZooKeeper},
		{"classes", testClasses},
		{"duplicates", testDuplicates},
		{"scans across regions and answers", testScans},
		{"tables that don't fit", testTables},
		{"facts", testFacts},
		{"allocations", testAllocations},
		{"overload", testOverload},
		{"split", testSplit},
		{"multi", testMulti},
		{"pause", testPause},
		{"kill", testKill},
		{"nothing spins", testNothingSpins},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, s) })
	}
}

func testSuite(t *testing.T, s *servers.Server) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding {
		wipe(t, at(s, nil))
		return configured(t, at(s, nil))
	}, limits)
}
