package ignite

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/ignite/thin"
	"pianola/bindings/servers"
	"pianola/replay"
	"pianola/replay/checktest"
	"pianola/replay/outagetest"
	"pianola/traces"
	"pianola/traces/payload"
	"pianola/traces/tracetest"
)

// wallClock counts real time.
type wallClock struct{ start time.Time }

func (c wallClock) Now() time.Duration          { return time.Since(c.start) }
func (c wallClock) SleepUntil(at time.Duration) { time.Sleep(at - c.Now()) }

func testConfig() bindings.Config {
	return bindings.Config{
		Header: &traces.Header{Table: "usertable", Fields: payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}}},
		Clock:  wallClock{time.Now()},
		Slots:  64,
	}
}

// at returns the properties of a node and others in pairs of name and value.
func at(hosts string, others ...string) bindings.Properties {
	p := bindings.Properties{"hosts": hosts}
	for i := 0; i < len(others); i += 2 {
		p[others[i]] = others[i+1]
	}
	return p
}

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

// opened returns an open binding with its cache, closed behind the test.
func opened(t testing.TB, given bindings.Properties) *binding {
	t.Helper()
	b := configured(t, given)
	if err := b.Open(context.Background(), testConfig()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if err := b.CreateSchema(context.Background()); err != nil {
		t.Fatal(err)
	}
	return b
}

// emptied destroys the cache of a table.
func emptied(t testing.TB, p bindings.Properties) {
	t.Helper()
	b := configured(t, p)
	if err := b.Open(context.Background(), testConfig()); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.cache.Destroy(context.Background()); err != nil && class(err) != bindings.Invalid {
		t.Fatal(err)
	}
}

// TestSuite runs on a node for each type of the fields, since a cluster that has
// known one takes no other.
func TestSuite(t *testing.T) {
	for _, values := range []string{"string", "bytes"} {
		s := servers.Start(t, "ignite")
		for _, c := range []struct {
			name   string
			limits bindingtest.Limits
			p      bindings.Properties
		}{
			{"getput", bindingtest.Limits{WholeUpdates: true}, at(s.Address, "ignite.connections", "2")},
			{"invoke", bindingtest.Limits{}, at(s.Address, "ignite.update", "invoke")},
			{"sql", bindingtest.Limits{Conflicts: true}, at(s.Address, "ignite.update", "sql")},
			{"transactional", bindingtest.Limits{WholeUpdates: true}, at(s.Address, "ignite.atomicity", "transactional", "ignite.onheap", "true")},
		} {
			if values == "bytes" && c.name == "transactional" {
				continue // the type of the fields makes no difference to it
			}
			c.p["ignite.values"] = values
			c.limits.BlindInsert, c.limits.TextOnly = true, values == "string"
			t.Run(fmt.Sprint(values, "/", c.name), func(t *testing.T) {
				bindingtest.Run(t, func(t *testing.T) bindings.Binding {
					emptied(t, c.p)
					return configured(t, c.p)
				}, c.limits)
			})
		}
	}
}

// whole returns an operation on a record of ten fields.
func whole(kind traces.Kind, n int) *bindings.Op {
	op := &bindings.Op{Kind: kind, Table: "usertable", Key: fmt.Append(nil, "user", n)}
	for i := range 10 {
		op.Write = append(op.Write, bindings.Field{Name: fmt.Sprint("field", i), Value: []byte(strings.Repeat("v", 100))})
	}
	return op
}

// TestNode runs what one node is enough for.
func TestNode(t *testing.T) {
	s := servers.Start(t, "ignite")
	for name, test := range map[string]func(*testing.T, *servers.Server){
		"layout": testLayout, "other fields": testOtherFields, "no text": testNoText, "long scan": testLongScan, "facts": testFacts,
		"nothing is allocated": testNothingIsAllocated, "settings of a cache": testCacheSettings, "deadline": testDeadline, "classes": testClasses,
	} {
		t.Run(name, func(t *testing.T) {
			emptied(t, at(s.Address))
			test(t, s)
		})
	}
	t.Run("contents", func(t *testing.T) { testContents(t, s) })
	t.Run("pause", func(t *testing.T) {
		emptied(t, at(s.Address))
		outagetest.Pause(t, outagetest.Outage{Driver: &Driver, Properties: at(s.Address), Server: s, Slots: 1024})
	})
}

// One trace makes one contents, whatever database it is replayed on.
func testContents(t *testing.T, s *servers.Server) {
	checktest.Run(t, checktest.Database{Driver: &Driver, Properties: at(s.Address)})
}

func sessionOf(t testing.TB, b *binding) bindings.Session {
	t.Helper()
	s, err := b.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustDo(t testing.TB, s bindings.Session, ops ...*bindings.Op) {
	t.Helper()
	for _, op := range ops {
		if err := s.Do(t.Context(), op); err != nil {
			t.Fatalf("%v %q: %v", op.Kind, op.Key, err)
		}
	}
}

// testLayout looks at what is stored by SQL and by the client's own calls.
func testLayout(t *testing.T, s *servers.Server) {
	b := opened(t, at(s.Address))
	mustDo(t, sessionOf(t, b), whole(traces.Insert, 1),
		&bindings.Op{Kind: traces.Update, Key: []byte("user1"), Write: []bindings.Field{{Name: "field3", Value: []byte("changed")}}})
	rows, err := b.rows(t.Context(), `select ycsb_key, field0, field3 from "usertable".usertable`)
	if want := fmt.Sprintf("[[user1 %s changed]]", strings.Repeat("v", 100)); fmt.Sprint(rows) != want || err != nil {
		t.Errorf("SQL sees %v, %v", rows, err)
	}
	v, err := b.cache.Get(t.Context(), "user1")
	if err != nil {
		t.Fatal(err)
	}
	o := v.(thin.Object)
	if o.TypeID() != thin.HashString("customtype") || o.Len() != 10 {
		t.Errorf("the record is of type %d and has %d fields", o.TypeID(), o.Len())
	}
}

// testOtherFields: objects that another program wrote, with other lists of
// fields, can be read, changed and scanned.
func testOtherFields(t *testing.T, s *servers.Server) {
	b := opened(t, at(s.Address))
	session := sessionOf(t, b)
	other := opened(t, at(s.Address))
	foreign := thin.NewType(typeName, thin.TypeField{Name: "field7", Code: thin.FieldString}, thin.TypeField{Name: "more", Code: thin.FieldInt},
		thin.TypeField{Name: "field1", Code: thin.FieldString})
	if err := other.client.RegisterType(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	var w thin.Writer
	raw := w.Begin(nil, foreign)
	w.Field(raw)
	raw = thin.AppendString(raw, "seven")
	w.Field(raw)
	raw = thin.AppendInt(raw, 3)
	w.Field(raw)
	raw = w.End(thin.AppendString(raw, "one"))
	d := thin.NewDecoder(raw)
	object := d.Object()
	mustDo(t, session, whole(traces.Insert, 1))
	if err := other.cache.Put(t.Context(), "user2", object); err != nil {
		t.Fatal(err)
	}
	mustDo(t, session, whole(traces.Insert, 3))
	got := &rows{}
	mustDo(t, session, &bindings.Op{Kind: traces.Scan, Key: []byte("user1"), ScanLength: 9, Rows: got})
	if len(got.keys) != 3 || got.keys[1] != "user2" || fmt.Sprint(got.fields[1]) != "map[field1:one field7:seven]" || len(got.fields[2]) != 10 {
		t.Errorf("the scan gives %q, %v", got.keys, got.fields)
	}
	mustDo(t, session, &bindings.Op{Kind: traces.Update, Key: []byte("user2"), Write: []bindings.Field{{Name: "field1", Value: []byte("changed")}}})
	got = &rows{}
	mustDo(t, session, &bindings.Op{Kind: traces.Read, Key: []byte("user2"), Rows: got})
	if fmt.Sprint(got.fields) != "[map[field1:changed field7:seven]]" {
		t.Errorf("the record is %v", got.fields)
	}
}

// rows collects what was read.
type rows struct {
	keys   []string
	fields []map[string]string
}

func (r *rows) Row(key []byte) {
	r.keys, r.fields = append(r.keys, string(key)), append(r.fields, map[string]string{})
}
func (r *rows) Field(name string, value []byte) { r.fields[len(r.fields)-1][name] = string(value) }

func testNoText(t *testing.T, s *servers.Server) {
	session := sessionOf(t, opened(t, at(s.Address)))
	for _, op := range []*bindings.Op{
		{Kind: traces.Insert, Key: []byte("user1"), Write: []bindings.Field{{Name: "field0", Value: []byte{0xff}}}},
		{Kind: traces.Insert, Key: []byte{0xff}},
		{Kind: traces.Read, Key: []byte{0xff}},
		{Kind: traces.Insert, Key: []byte("user1"), Write: []bindings.Field{{Name: "no such field"}}},
	} {
		if err := session.Do(t.Context(), op); bindings.ClassOf(err) != bindings.Invalid {
			t.Errorf("%v %q: %v", op.Kind, op.Key, err)
		}
	}
	if err := session.Do(t.Context(), &bindings.Op{Kind: traces.Read, Key: []byte("user1")}); err != bindings.ErrNotFound {
		t.Errorf("a refused record: %v", err)
	}
	b := configured(t, at(s.Address, "ignite.values", "bytes"))
	if err := b.Open(t.Context(), testConfig()); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.CreateSchema(t.Context()); err == nil || !strings.Contains(err.Error(), "ignite.values") {
		t.Errorf("bytes where there were texts: %v", err)
	}
}

// testLongScan takes several pages, and leaves no cursor open.
func testLongScan(t *testing.T, s *servers.Server) {
	b := opened(t, at(s.Address))
	session := sessionOf(t, b)
	const n = 2*scanPage + 100
	for i := range n {
		op := whole(traces.Insert, 0)
		op.Key, op.Write = fmt.Appendf(nil, "user%06d", i), op.Write[:1]
		mustDo(t, session, op)
	}
	for _, length := range []int{n - 1, 2 * scanPage, n, 2 * n} {
		got := &rows{}
		mustDo(t, session, &bindings.Op{Kind: traces.Scan, Key: []byte("user"), ScanLength: length, Rows: got})
		if len(got.keys) != min(n, length) || !slices.IsSorted(got.keys) {
			t.Errorf("a scan of %d gives %d records", length, len(got.keys))
		}
	}
	for range 300 { // a connection may have 128 cursors
		mustDo(t, session, &bindings.Op{Kind: traces.Scan, Key: []byte("user"), ScanLength: 3})
	}
}

func factOf(t *testing.T, b *binding, name string) string {
	t.Helper()
	for _, f := range b.Facts() {
		if f.Name == name {
			return f.Value
		}
	}
	t.Fatalf("there is no fact %q in %v", name, b.Facts())
	return ""
}

func testFacts(t *testing.T, s *servers.Server) {
	t.Setenv(passwordVariable, "open-sesame")
	b := opened(t, at(s.Address, "ignite.backups", "2", "ignite.sync", "primary_sync"))
	mustDo(t, sessionOf(t, b), whole(traces.Insert, 1))
	for name, want := range map[string]string{
		"server": "2.17.0", "topology at the start": "1 servers, 0 thick clients", "topology at the end": "1 servers", "topology changed": "no",
		"cache": "usertable, PARTITIONED, ATOMIC, 2 backups, PRIMARY_SYNC", "connections lost": "0", "answers that came too late": "0",
	} {
		if got := factOf(t, b, name); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if text := fmt.Sprint(b.Facts()); strings.Contains(text, "sesame") {
		t.Errorf("the password is shown: %s", text)
	}
}

func testCacheSettings(t *testing.T, s *servers.Server) {
	b := opened(t, at(s.Address, "ignite.cache", "another", "ignite.atomicity", "transactional", "ignite.sync", "full_async", "ignite.onheap", "true"))
	defer b.cache.Destroy(context.Background())
	mustDo(t, sessionOf(t, b), whole(traces.Insert, 1))
	if got, want := factOf(t, b, "cache"), "another, PARTITIONED, TRANSACTIONAL, 1 backups, FULL_ASYNC, on heap too"; got != want {
		t.Errorf("the cache is %q, want %q", got, want)
	}
	usual := configured(t, at(s.Address))
	if err := usual.Open(t.Context(), testConfig()); err != nil {
		t.Fatal(err)
	}
	defer usual.Close()
	if n, err := usual.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("without a cache there are %d records, %v", n, err)
	}
}

// testDeadline: an operation on a node that hangs is given up in time.
func testDeadline(t *testing.T, s *servers.Server) {
	b := opened(t, at(s.Address))
	session := sessionOf(t, b)
	mustDo(t, session, whole(traces.Insert, 1))
	s.Pause()
	defer s.Resume()
	for range 20 {
		op := whole(traces.Update, 1)
		op.Deadline = b.clock.Now() + 20*time.Millisecond
		if err := session.Do(t.Context(), op); bindings.ClassOf(err) != bindings.Timeout {
			t.Fatalf("on a node that hangs: %v", err)
		}
		for i := range op.Write {
			copy(op.Write[i].Value, "!!!!!")
		}
		copy(op.Key, "!!!!!")
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := session.Do(short, whole(traces.Read, 1)); bindings.ClassOf(err) != bindings.Timeout {
		t.Errorf("with a context's deadline: %v", err)
	}
	s.Resume()
	mustDo(t, session, whole(traces.Read, 1))
	if n, err := b.Count(t.Context()); n != 1 || err != nil {
		t.Errorf("there are %d records, %v", n, err)
	}
}

func testClasses(t *testing.T, s *servers.Server) {
	b := opened(t, at(s.Address))
	session := sessionOf(t, b)
	if err := b.cache.Destroy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := session.Do(t.Context(), whole(traces.Insert, 1)); bindings.ClassOf(err) != bindings.Invalid {
		t.Errorf("without a cache: %v", err)
	}
	for err, want := range map[error]bindings.Class{
		thin.ErrDeadline: bindings.Timeout, thin.ErrLost: bindings.Unavailable, thin.ErrNoConnection: bindings.Unavailable, thin.ErrFull: bindings.Overloaded,
		&thin.ServerError{Status: thin.StatusUnauthorised}:                                               bindings.Unauthorised,
		&thin.ServerError{Status: thin.StatusFailed, Message: "Cache transaction timed out"}:             bindings.Timeout,
		&thin.ServerError{Status: thin.StatusFailed, Message: "something else"}:                          bindings.Other,
		&thin.ServerError{Status: thin.StatusFailed, Message: "Failed to map keys for cache (all left)"}: bindings.Unavailable,
		&thin.ServerError{Status: thin.StatusTooManyCursors}:                                             bindings.Overloaded,
		thin.ErrMalformed: bindings.Other,
	} {
		if got := class(err); got != want {
			t.Errorf("the class of %v is %v, want %v", err, got, want)
		}
	}
}

// TestKill kills a node that keeps its data and starts it again, in mid-run.
func TestKill(t *testing.T) {
	s := servers.Start(t, "ignite-auth")
	outagetest.Kill(t, outagetest.Outage{
		Driver: &Driver, Server: s, Slots: 1024, Rate: 200, Recovery: 30 * time.Second,
		Properties: at(s.Address, "ignite.username", "ignite", "ignite.password", "ignite"),
	})
}

func TestSecureConnections(t *testing.T) {
	s := servers.Start(t, "ignite-tls")
	p := at(s.Address, "ignite.tls", "true", "ignite.tls-ca", filepath.Join(s.Dir, servers.AuthorityFile))
	mustDo(t, sessionOf(t, opened(t, p)), whole(traces.Insert, 1), whole(traces.Read, 1))
	for _, p := range []bindings.Properties{at(s.Address, "ignite.tls", "true"), at(s.Address, "ignite.timeout", "500ms"), at("127.0.0.1:1")} {
		b := configured(t, p)
		if err := b.Open(t.Context(), testConfig()); err == nil || !strings.Contains(err.Error(), p["hosts"]) {
			b.Close()
			t.Errorf("%v: %v", p, err)
		}
	}
}

// TestThreeNodes runs what takes a cluster.
func TestThreeNodes(t *testing.T) {
	nodes := servers.StartCluster(t, "ignite", 3)
	var addresses []string
	for _, n := range nodes {
		addresses = append(addresses, n.Address)
	}
	hosts := strings.Join(addresses, ",")
	t.Run("suite", func(t *testing.T) {
		bindingtest.Run(t, func(t *testing.T) bindings.Binding {
			emptied(t, at(hosts))
			return configured(t, at(hosts))
		}, bindingtest.Limits{BlindInsert: true, TextOnly: true, WholeUpdates: true})
	})
	t.Run("a node is lost", func(t *testing.T) { testANodeIsLost(t, hosts, nodes) })
}

// testANodeIsLost: with a backup, nothing that was acknowledged is lost with a
// node, though it is one of the hosts; the result tells of it.
func testANodeIsLost(t *testing.T, hosts string, nodes []*servers.Server) {
	emptied(t, at(hosts))
	b := opened(t, at(hosts, "ignite.backups", "1"))
	const workers, each = 8, 1500
	var acknowledged [workers][each]bool
	var written atomic.Int32
	var all sync.WaitGroup
	for w := range workers {
		session := sessionOf(t, b)
		all.Go(func() {
			for i := range each {
				op := whole(traces.Insert, w*each+i)
				op.Deadline = b.clock.Now() + bindings.DefaultDeadline
				err := session.Do(t.Context(), op)
				acknowledged[w][i] = err == nil
				if class := bindings.ClassOf(err); err != nil && class != bindings.Unavailable && class != bindings.Timeout {
					t.Errorf("%v: %v", class, err)
				}
				written.Add(1)
			}
		})
	}
	for written.Load() < workers*each/3 {
		time.Sleep(time.Millisecond)
	}
	nodes[1].Kill()
	all.Wait()
	session := sessionOf(t, b)
	lost, failed := 0, 0
	for w := range workers {
		for i := range each {
			if !acknowledged[w][i] {
				failed++
				continue
			}
			err := session.Do(t.Context(), whole(traces.Read, w*each+i))
			if err == bindings.ErrNotFound {
				lost++
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d of %d inserts failed, %d acknowledged ones are lost; %s", failed, workers*each, lost, factOf(t, b, "topology changed"))
	if lost > 0 || failed == workers*each {
		t.Errorf("%d acknowledged records are lost", lost)
	}
	if got := factOf(t, b, "topology changed"); !strings.HasPrefix(got, "YES") {
		t.Errorf("topology changed: %q", got)
	}
	if got := factOf(t, b, "topology at the end"); !strings.Contains(got, "2 servers") {
		t.Errorf("topology at the end: %q", got)
	}
}

// TestOrder: the server carries out requests in any order, but with --order key
// the change that is due last is the one that stays.
func TestOrder(t *testing.T) {
	s := servers.Start(t, "ignite")
	const changes = 5000
	h := tracetest.Header(tracetest.Load(), tracetest.Run(20000))
	h.Records = 1
	ops := append(tracetest.Inserts(1), tracetest.Reads(1, changes, 50*time.Microsecond, 1)...)
	for i := range ops[1:] {
		ops[1+i].Kind = traces.Update
	}
	trace, err := traces.Open(tracetest.File(t, h, ops))
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	r := &replay.Runner{Trace: trace, Driver: &Driver, Binding: configured(t, at(s.Address)), Slots: 256, Order: replay.KeyOrder, Deadline: time.Minute}
	result, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := result.Phases[1].Total()
	if err != nil || all.Counts.Completed != changes {
		t.Fatalf("%+v, %v", all.Counts, err)
	}
	b := configured(t, at(s.Address))
	config := testConfig()
	config.Header = h
	if err := b.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	got := &rows{}
	mustDo(t, sessionOf(t, b), &bindings.Op{Kind: traces.Read, Key: h.Keys.Append(nil, 0), Rows: got})
	// The load writes version 0, and the operations behind it 1 and so on.
	for i := range h.Fields.Count {
		want := string(h.Fields.Append(nil, h.Seed, 0, i, changes))
		if name := h.Fields.Name(i); got.fields[0][name] != want {
			t.Errorf("%s is %q, want %q", name, got.fields[0][name], want)
		}
	}
}
