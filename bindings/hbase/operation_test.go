package hbase

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/traces"
	"pianola/traces/payload"
)

func factOf(t *testing.T, b *binding, name string) string {
	t.Helper()
	facts := b.Facts()
	i := slices.IndexFunc(facts, func(f bindings.Fact) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("there is no fact %q in %v", name, facts)
	}
	return facts[i].Value
}

// settingsOf returns the directory with the settings of a server.
func settingsOf(s *servers.Server) string { return filepath.Join(s.Dir, servers.HBaseSettings) }

// testZooKeeper goes by the cluster's own settings, which name ZooKeeper.
func testZooKeeper(t *testing.T, s *servers.Server) {
	b := opened(t, bindings.Properties{"hbase.conf": settingsOf(s)})
	session := newTestSession(t, b)
	if err := session.Do(t.Context(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	if got := factOf(t, b, "client"); !strings.HasSuffix(got, "by zookeeper") {
		t.Errorf("client: %s", got)
	}
	wrong := configured(t, bindings.Properties{"hbase.conf": settingsOf(s), "zookeeper.znode.parent": "/nowhere"})
	if err := wrong.Open(t.Context(), testConfig()); err == nil || !strings.Contains(err.Error(), "node /nowhere/master: there is no such node") {
		t.Errorf("another node: %v", err)
	}
}

func testClasses(t *testing.T, s *servers.Server) {
	b := opened(t, at(s, nil))
	session := newTestSession(t, b)
	large, elsewhere, empty, late, long := whole(traces.Insert, 1), whole(traces.Read, 1), whole(traces.Read, 1), whole(traces.Read, 1), whole(traces.Update, 1)
	large.Write[0].Value = make([]byte, 11<<20)
	elsewhere.Table = "another"
	empty.Key = nil
	late.Deadline = 1
	long.Key = bytes.Repeat([]byte("k"), 40_000)
	nothing := whole(traces.Update, 1)
	nothing.Write = nil
	for name, c := range map[string]struct {
		op   *bindings.Op
		want bindings.Class
	}{
		"a value that is too large": {large, bindings.Invalid}, "another table": {elsewhere, bindings.Invalid},
		"no key": {empty, bindings.Invalid}, "late": {late, bindings.Timeout}, "a key that is too long": {long, bindings.Other},
		"no fields": {nothing, bindings.Invalid},
	} {
		if err := session.Do(t.Context(), c.op); bindings.ClassOf(err) != c.want {
			t.Errorf("%s: %v, which is %v, want %v", name, err, bindings.ClassOf(err), c.want)
		}
	}
	if err := session.Do(t.Context(), whole(traces.Insert, 1)); err != nil {
		t.Errorf("the connection is worth nothing behind it: %v", err)
	}
	// Addresses where there is no cluster.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	for _, p := range []bindings.Properties{{"hosts": "127.0.0.1:1"}, {"hosts": l.Addr().String()}, {"hbase.zookeeper.quorum": l.Addr().String()}} {
		err := configured(t, p).Open(t.Context(), testConfig())
		if err == nil || bindings.ClassOf(err) == bindings.Invalid || !strings.HasPrefix(err.Error(), "hbase at ") {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// testDuplicates: an INSERT on a condition tells that the record is there, and
// of two at a time one wins.
func testDuplicates(t *testing.T, s *servers.Server) {
	wipe(t, at(s, nil))
	b := opened(t, at(s, bindings.Properties{"hbase.checkinserts": "true", "durability": "SYNC_WAL"}))
	var mu sync.Mutex
	won := map[int]int{}
	var all sync.WaitGroup
	for range 8 {
		session := newTestSession(t, b)
		all.Go(func() {
			for n := range 30 {
				err := session.Do(t.Context(), whole(traces.Insert, n))
				switch bindings.ClassOf(err) {
				case bindings.OK:
					mu.Lock()
					won[n]++
					mu.Unlock()
				case bindings.Duplicate:
				default:
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for n := range 30 {
		if won[n] != 1 {
			t.Errorf("record %d was inserted %d times", n, won[n])
		}
	}
	session := newTestSession(t, b)
	if err := session.Do(t.Context(), whole(traces.Update, 3)); err != nil {
		t.Errorf("an UPDATE has no condition: %v", err)
	}
}

// scanned is the records of a scan, each as its key and its fields in one line.
type scanned struct{ lines []string }

func (s *scanned) Row(key []byte) { s.lines = append(s.lines, string(key)) }
func (s *scanned) Field(name string, value []byte) {
	s.lines[len(s.lines)-1] += " " + name + "=" + string(value)
}

// testScans scans a table of several regions. Where answers are cut short by
// their size, within records too, scanners go on; the rows are the same.
func testScans(t *testing.T, s *servers.Server) {
	const records = 60
	config := testConfig()
	config.Header.Table = "scanned"
	config.Header.Keys, config.Header.Records = payload.Keys{Prefix: "user", Padding: 6, Order: payload.Ordered}, records
	b := openedFor(t, config, at(s, bindings.Properties{"hbase.splits": "7"}))
	session := newTestSession(t, b)
	if got := b.cluster.Regions(); got != 7 {
		t.Fatalf("%d regions, want 7", got)
	}
	t.Cleanup(func() {
		if err := b.cluster.Drop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for n := range records {
		op := whole(traces.Insert, n)
		op.Table = "scanned"
		if err := session.Do(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	line := func(n int, fields ...string) string {
		op := whole(traces.Insert, n)
		text := string(op.Key)
		for i := range op.Write {
			if f := op.Write[i]; len(fields) == 0 || slices.Contains(fields, f.Name) {
				text += " " + f.Name + "=" + string(f.Value)
			}
		}
		return text
	}
	for _, size := range []string{"2MiB", "2500", "700", "1"} {
		small := openedFor(t, config, at(s, bindings.Properties{"hbase.client.scanner.max.result.size": size}))
		session := newTestSession(t, small)
		for _, c := range []struct{ start, length int }{{0, 1}, {0, 5}, {5, 10}, {3, 60}, {59, 1}, {0, 60}, {58, 100}, {60, 3}} {
			for _, fields := range [][]string{nil, {"field3"}} {
				got := &scanned{}
				op := &bindings.Op{Kind: traces.Scan, Table: "scanned", Key: fmt.Appendf(nil, "user%06d", c.start), ScanLength: c.length, Read: fields, Rows: got}
				if err := session.Do(t.Context(), op); err != nil {
					t.Fatalf("SCAN of %d from %d in answers of %s bytes: %v", c.length, c.start, size, err)
				}
				var want []string
				for n := c.start; n < min(records, c.start+c.length); n++ {
					want = append(want, line(n, fields...))
				}
				if !slices.Equal(got.lines, want) {
					t.Fatalf("SCAN of %d from %d in answers of %s bytes gave\n%.200q, want\n%.200q", c.length, c.start, size, got.lines, want)
				}
			}
		}
		t.Logf("answers of %s bytes: %s calls", size, factOf(t, small, "calls sent"))
	}
	if n, err := b.Count(t.Context()); n != records || err != nil {
		t.Errorf("count: %d, %v", n, err)
	}
}

func testTables(t *testing.T, s *servers.Server) {
	opened(t, at(s, nil))
	other := opened(t, at(s, bindings.Properties{"columnfamily": "another"}))
	if _, err := other.Session(t.Context()); err == nil || !strings.Contains(err.Error(), `no family "another"`) {
		t.Errorf("a family that is not there: %v", err)
	}
	config := testConfig()
	config.Header.Table = "nowhere"
	b := configured(t, at(s, nil))
	if err := b.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Session(t.Context()); err == nil || !strings.Contains(err.Error(), "load it first") {
		t.Errorf("a table that is not there: %v", err)
	}
	if n, err := b.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("its count: %d, %v", n, err)
	}
	if err := b.cluster.Drop(t.Context()); err != nil {
		t.Errorf("dropped: %v", err)
	}
	config.Header.Table = "no such space:t"
	wrong := configured(t, at(s, nil))
	if err := wrong.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	defer wrong.Close()
	if err := wrong.CreateSchema(t.Context()); err == nil {
		t.Error("a table of no namespace was made")
	}
}

func testFacts(t *testing.T, s *servers.Server) {
	b := opened(t, at(s, bindings.Properties{"durability": "FSYNC_WAL", "hbase.client.ipc.pool.size": "3"}))
	session := newTestSession(t, b)
	sent := b.traffic.Calls.Load()
	for _, kind := range []traces.Kind{traces.Insert, traces.Read, traces.Update, traces.ReadModifyWrite, traces.Scan} {
		if err := session.Do(t.Context(), whole(kind, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.traffic.Calls.Load() - sent; got != 6 {
		t.Errorf("%d calls for operations of 6", got)
	}
	for name, want := range map[string]string{
		"server version": "2.6.4-hadoop3", "region servers": "1", "durability of writes": "FSYNC_WAL", "regions found elsewhere": "0",
		"calls given up": "0", "answers too late": "0", "client": "found by registry of the servers", "calls per write": "1.00",
	} {
		if got := factOf(t, b, name); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", name, got, want)
		}
	}
	if !b.Local() {
		t.Errorf("the server at %s is said to be elsewhere", s.Address)
	}
}

// sink takes the answers of a pipeline.
type sink struct{ done chan error }

func (s *sink) Done(_ *bindings.Op, err error) { s.done <- err }

// testAllocations: in steady state READ, UPDATE and READMODIFYWRITE allocate
// nothing, nor does a SCAN.
func testAllocations(t *testing.T, s *servers.Server) {
	b := opened(t, at(s, nil))
	answers := &sink{make(chan error, 1)}
	p, err := b.Pipeline(t.Context(), answers)
	if err != nil {
		t.Fatal(err)
	}
	run := func(op *bindings.Op) {
		op.Deadline = b.clock.Now() + bindings.DefaultDeadline
		p.Issue(op)
		p.(bindings.Flusher).Flush()
		if err := <-answers.done; err != nil {
			t.Fatal(err)
		}
	}
	run(whole(traces.Insert, 1))
	for _, kind := range []traces.Kind{traces.Read, traces.Update, traces.ReadModifyWrite, traces.Insert, traces.Scan} {
		op := whole(kind, 1)
		op.ScanLength = 1
		if n := testing.AllocsPerRun(300, func() { run(op) }); n != 0 {
			t.Errorf("%v allocates %v times", kind, n)
		}
	}
}

// testOverload: what a server refuses because its queue is full is answered as
// that, and not tried again.
func testOverload(t *testing.T, s *servers.Server) {
	b := opened(t, at(s, nil))
	const n = 3000
	answers := &sink{make(chan error, n)}
	p, err := b.Pipeline(t.Context(), answers)
	if err != nil {
		t.Fatal(err)
	}
	sent := b.traffic.Calls.Load()
	for i := range n {
		p.Issue(whole(traces.Update, i%100))
	}
	p.(bindings.Flusher).Flush()
	refused := 0
	for range n {
		switch err := <-answers.done; bindings.ClassOf(err) {
		case bindings.OK:
		case bindings.Overloaded:
			refused++
		default:
			t.Fatalf("%v", err)
		}
	}
	if refused == 0 || refused == n {
		t.Errorf("%d of %d operations were refused", refused, n)
	}
	if got := b.traffic.Calls.Load() - sent; got != n {
		t.Errorf("%d calls for %d operations: some were made twice", got, n)
	}
	time.Sleep(10 * time.Millisecond)
}
