package cassandra

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/traces"
)

func testTablesThatDontFit(t *testing.T, s *servers.Server) {
	plain := at(s.Address, nil)
	// Nothing there yet.
	b := configured(t, plain)
	if err := b.Open(t.Context(), testConfig()); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("no keyspace: %d records, %v", n, err)
	}
	if _, err := b.Session(t.Context()); err == nil || !strings.Contains(err.Error(), "usertable") || !strings.Contains(err.Error(), "\nload it first") {
		t.Errorf("no keyspace: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	opened(t, plain)
	clustered := at(s.Address, bindings.Properties{"cassandra.layout": "clustered", "cassandra.buckets": "5"})
	opened(t, clustered)
	with := func(p bindings.Properties, name, value string) bindings.Properties {
		p = maps.Clone(p)
		p[name] = value
		return p
	}
	peers := testConfig()
	peers.Header.Table = "peers"
	other := testConfig()
	other.Header.Fields.Count = 11
	for _, c := range []struct {
		name   string
		given  bindings.Properties
		config bindings.Config
		want   string
	}{
		{"clustered wanted", with(plain, "cassandra.layout", "clustered"), testConfig(), "cassandra.layout=ycsb"},
		{"clustered found", with(clustered, "cassandra.layout", "ycsb"), testConfig(), "cassandra.layout=clustered"},
		{"other buckets", with(clustered, "cassandra.buckets", "6"), testConfig(), `"buckets=5"`},
		{"more fields", plain, other, `no column "field10"`},
		{"no table of that kind", with(plain, "cassandra.keyspace", "system"), peers, "primary key"},
	} {
		b := configured(t, c.given)
		if err := b.Open(t.Context(), c.config); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Session(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), s.Address) {
			t.Errorf("%s: %v, want the address and %q", c.name, err, c.want)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// testTableOfYCSB reads and scans what YCSB's documented statements make, with
// a column more than the trace has.
func testTableOfYCSB(t *testing.T, s *servers.Server) {
	p := at(s.Address, nil)
	b := configured(t, p)
	if err := b.Open(t.Context(), testConfig()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	table := p["cassandra.keyspace"] + ".usertable"
	for _, text := range []string{
		"create keyspace " + p["cassandra.keyspace"] + " WITH REPLICATION = {'class' : 'SimpleStrategy', 'replication_factor': 1 }",
		"create table " + table + ` (y_id varchar primary key, field0 varchar, field1 varchar, field2 varchar, field3 varchar,
			field4 varchar, field5 varchar, field6 varchar, field7 varchar, field8 varchar, field9 varchar, spare int)`,
		"INSERT INTO " + table + " (y_id, field0, field3) VALUES ('user1', 'zero', '')",
	} {
		if err := b.db.Query(text).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	session := newTestSession(t, b)
	for _, kind := range []traces.Kind{traces.Read, traces.Scan} {
		got := rows{}
		op := &bindings.Op{Kind: kind, Key: []byte("user1"), ScanLength: 5, Rows: &got}
		if err := session.Do(t.Context(), op); err != nil {
			t.Fatal(err)
		}
		if want := "user1: field0=zero field3="; strings.Join(got, " ") != want {
			t.Errorf("%v gave %q, want %q", kind, strings.Join(got, " "), want)
		}
	}
}

// rows takes what was read as text.
type rows []string

func (r *rows) Row(key []byte)                  { *r = append(*r, string(key)+":") }
func (r *rows) Field(name string, value []byte) { *r = append(*r, name+"="+string(value)) }

// testCountPages counts more than one page in one part of the ring.
func testCountPages(t *testing.T, s *servers.Server) {
	b := opened(t, at(s.Address, bindings.Properties{
		"cassandra.layout": "clustered", "cassandra.buckets": "1", "cassandra.writeconsistencylevel": "ONE",
	}))
	const n = 2*countPage + 7
	var all sync.WaitGroup
	for worker := range 16 {
		session := newTestSession(t, b)
		all.Go(func() {
			for i := worker; i < n; i += 16 {
				op := whole(traces.Insert, i)
				op.Write = op.Write[:1]
				if err := session.Do(t.Context(), op); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if got, err := b.Count(t.Context()); got != n || err != nil {
		t.Errorf("counted %d of %d records, %v", got, n, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Count(cancelled); err == nil {
		t.Error("a cancelled count succeeds")
	}
}
