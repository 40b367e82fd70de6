package mongodb

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/traces"
	"pianola/traces/payload"
)

// wallClock counts real time.
type wallClock struct{ start time.Time }

func (c wallClock) Now() time.Duration          { return time.Since(c.start) }
func (c wallClock) SleepUntil(at time.Duration) { time.Sleep(at - c.Now()) }

func testConfig(slots int) bindings.Config {
	return bindings.Config{
		Header: &traces.Header{
			Table:  "usertable",
			Keys:   payload.Keys{Prefix: "user", Padding: 1, Order: payload.Ordered},
			Fields: payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}},
		},
		Clock: wallClock{time.Now()},
		Slots: slots,
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

// databases numbers the databases of a test's server.
var databases atomic.Int64

// on returns the properties of an empty database of the server, which may take
// its time to answer at first while the machine is full of other tests.
func on(server *servers.Server, options string) bindings.Properties {
	return bindings.Properties{"mongodb.url": fmt.Sprintf("mongodb://%s/test%d_%d?serverSelectionTimeoutMS=30000&connectTimeoutMS=29000&%s",
		server.Address, os.Getpid(), databases.Add(1), options)}
}

// opened opens a binding, and closes it behind the test.
func opened(t testing.TB, given bindings.Properties, slots int) *binding {
	t.Helper()
	b := configured(t, given)
	if err := b.Open(context.Background(), testConfig(slots)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func sessionOf(t testing.TB, b *binding) bindings.Session {
	t.Helper()
	s, err := b.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// whole returns an operation that writes ten fields of 100 bytes.
func whole(kind traces.Kind, n int) *bindings.Op {
	op := &bindings.Op{Kind: kind, Table: "usertable", Key: fmt.Appendf(nil, "user%d", n), ScanLength: 10}
	for i := range 10 {
		op.Write = append(op.Write, bindings.Field{Name: fmt.Sprint("field", i), Value: []byte(strings.Repeat("x", 100))})
	}
	return op
}

func do(t testing.TB, s bindings.Session, op *bindings.Op) {
	t.Helper()
	if err := s.Do(context.Background(), op); err != nil {
		t.Fatalf("%v %q: %v", op.Kind, op.Key, err)
	}
}

func factOf(t *testing.T, b *binding, name string) string {
	t.Helper()
	facts := b.Facts()
	i := slices.IndexFunc(facts, func(f bindings.Fact) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("there is no fact %q in %v", name, facts)
	}
	return facts[i].Value
}

// TestOnAServer holds the tests that can share a server. The last ones pause it
// and kill it.
func TestOnAServer(t *testing.T) {
	server := servers.Start(t, "mongodb")
	for _, part := range []struct {
		name string
		test func(*testing.T, *servers.Server)
	}{
		{"suite", testSuite}, {"suite with upsert", testSuiteUpsert}, {"contents", testContents}, {"documents", testDocuments}, {"unacknowledged", testUnacknowledged},
		{"what the server refuses", testWhatTheServerRefuses}, {"long scans are drained", testLongScansAreDrained},
		{"deadline", testDeadline}, {"killed", testKilled},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, server) })
	}
}

func testSuite(t *testing.T, server *servers.Server) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding { return configured(t, on(server, "w=1")) }, bindingtest.Limits{})
}

func testSuiteUpsert(t *testing.T, server *servers.Server) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding {
		p := on(server, "")
		p["mongodb.upsert"] = "true"
		return configured(t, p)
	}, bindingtest.Limits{BlindInsert: true})
}

// testDocuments: what is stored is what YCSB stores.
func testDocuments(t *testing.T, server *servers.Server) {
	b := opened(t, on(server, "w=1&journal=true"), 2)
	s := sessionOf(t, b)
	op := whole(traces.Insert, 7)
	op.Write = op.Write[:2]
	op.Write[0].Value = []byte{0, 255, 'a'}
	do(t, s, op)
	document, err := b.database.Collection("usertable").FindOne(t.Context(), bson.D{{Key: "_id", Value: "user7"}}).Raw()
	if err != nil {
		t.Fatal(err)
	}
	var want = bson.D{
		{Key: "_id", Value: "user7"},
		{Key: "field0", Value: bson.Binary{Data: []byte{0, 255, 'a'}}},
		{Key: "field1", Value: bson.Binary{Data: op.Write[1].Value}},
	}
	expected, err := bson.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(expected) != string(document) {
		t.Errorf("stored %v, want %v", document, bson.Raw(expected))
	}
	// What another program stored as text is read too.
	if _, err := b.database.Collection("usertable").InsertOne(t.Context(), bson.D{{Key: "_id", Value: "user8"}, {Key: "field0", Value: "text"}}); err != nil {
		t.Fatal(err)
	}
	got := &oneRow{}
	do(t, s, &bindings.Op{Kind: traces.Read, Table: "usertable", Key: []byte("user8"), Rows: got})
	if got.text != "user8 field0=text" {
		t.Errorf("read %q", got.text)
	}
	for name, want := range map[string]string{
		"write concern": "w=1, journal=true: answered when the journal is on disk", "retries": "off", "encryption": "none",
		"read preference": "primary", "connections": "2", "operations that got no connection": "0", "times the pool was emptied": "0",
		"connections opened in the run": "0", "connections closed in the run": "0", "getMore round trips": "0",
	} {
		if got := factOf(t, b, name); got != want {
			t.Errorf("fact %q is %q, want %q", name, got, want)
		}
	}
	if v := factOf(t, b, "server version"); v == unknown || v == "" {
		t.Errorf("the server's version is %q", v)
	}
}

// oneRow takes rows as text.
type oneRow struct{ text string }

func (r *oneRow) Row(key []byte)                  { r.text += string(key) }
func (r *oneRow) Field(name string, value []byte) { r.text += " " + name + "=" + string(value) }

// mustFailToOpen demands an error that holds all of the texts, in time.
func mustFailToOpen(t *testing.T, given bindings.Properties, texts ...string) {
	t.Helper()
	b := configured(t, given)
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := b.Open(ctx, testConfig(4))
	if err == nil {
		b.Close()
		t.Fatalf("Open of %v succeeds", given)
	}
	if ctx.Err() != nil {
		t.Errorf("it took %v to tell that %v", time.Since(start), err)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("Open of %v: %v\nwant %q in it", given, err, text)
		}
	}
	if strings.Contains(err.Error(), servers.MongoDBPassword) || strings.Contains(err.Error(), "a%2Fb") {
		t.Errorf("the password is in the error: %v", err)
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	mustFailToOpen(t, bindings.Properties{"mongodb.url": "mongodb://" + address}, address, "connection refused")
	mustFailToOpen(t, bindings.Properties{"mongodb.url": "mongodb://no-such-host.invalid:1"}, "no-such-host.invalid:1", "lookup")
}

// TestSilence: somebody is there and says nothing.
func TestSilence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mustFailToOpen(t, bindings.Properties{"mongodb.url": "mongodb://" + l.Addr().String()}, l.Addr().String(), "timeout")
}

// TestPatience: how long the URL says is how long a silent server is waited for,
// also where that is longer than without it.
func TestPatience(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := configured(t, bindings.Properties{"mongodb.url": "mongodb://" + l.Addr().String() + "/?serverSelectionTimeoutMS=9000&connectTimeoutMS=60000"})
	start := time.Now()
	if err := b.Open(t.Context(), testConfig(1)); err == nil {
		b.Close()
		t.Fatal("a silent server is opened")
	} else if took := time.Since(start); took < 9*time.Second {
		t.Errorf("given up after %v: %v", took, err)
	}
}

func TestPasswords(t *testing.T) {
	server := servers.Start(t, "mongodb-auth")
	url := "mongodb://" + servers.MongoDBUser + "@" + server.Address + "/test?authSource=admin"
	user := bindings.Properties{"mongodb.url": url}
	t.Run("by the environment", func(t *testing.T) {
		t.Setenv(passwordVariable, servers.MongoDBPassword)
		b := opened(t, user, 20)
		s := sessionOf(t, b)
		do(t, s, whole(traces.Insert, 1))
		for _, fact := range append(b.Facts(), Driver.Redacted(bindings.Properties(user))...) {
			if strings.Contains(fact.Value, servers.MongoDBPassword) {
				t.Errorf("the password is in the fact %v", fact)
			}
		}
	})
	t.Run("by a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(file, []byte(servers.MongoDBPassword+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		b := opened(t, bindings.Properties{"mongodb.url": url, "mongodb.password-file": file}, 1)
		do(t, sessionOf(t, b), whole(traces.Insert, 2))
	})
	t.Run("wrong", func(t *testing.T) {
		t.Setenv(passwordVariable, servers.MongoDBPassword+"!")
		mustFailToOpen(t, user, server.Address, "auth", passwordVariable)
	})
	t.Run("no user", func(t *testing.T) {
		b := configured(t, bindings.Properties{"mongodb.url": "mongodb://" + server.Address})
		if err := b.Open(t.Context(), testConfig(1)); err != nil {
			return // refused as early as that is as good
		}
		defer b.Close()
		if err := sessionOf(t, b).Do(t.Context(), whole(traces.Insert, 3)); bindings.ClassOf(err) != bindings.Unauthorised {
			t.Errorf("INSERT without a user: %v, want the class %v", err, bindings.Unauthorised)
		}
	})
}

func TestTLS(t *testing.T) {
	server := servers.Start(t, "mongodb-tls")
	authority := filepath.Join(server.Dir, servers.AuthorityFile)
	b := opened(t, on(server, "tls=true&tlsCAFile="+authority), 3)
	do(t, sessionOf(t, b), whole(traces.Insert, 1))
	if got := factOf(t, b, "encryption"); got != "TLS, the server's certificate is verified" {
		t.Errorf("encryption: %q", got)
	}
	mustFailToOpen(t, bindings.Properties{"mongodb.url": "mongodb://" + server.Address + "/?tls=true"}, server.Address, "unknown authority")
	mustFailToOpen(t, bindings.Properties{"mongodb.url": "mongodb://" + server.Address}, server.Address)
	insecure := opened(t, on(server, "tls=true&tlsInsecure=true"), 1)
	if got := factOf(t, insecure, "encryption"); !strings.Contains(got, "not verified") {
		t.Errorf("encryption: %q", got)
	}
}

// TestPoolWaitIsTold: with fewer connections than slots, what operations wait
// for them is in the result.
func TestPoolWaitIsTold(t *testing.T) {
	server := servers.Start(t, "mongodb-java")
	const slots, each = 8, 25
	for _, size := range []int{1, slots} {
		b := opened(t, on(server, fmt.Sprint("maxPoolSize=", size)), slots)
		if got := factOf(t, b, "connections"); got != fmt.Sprint(size) {
			t.Errorf("connections: %q, want %d", got, size)
		}
		answers := make(chan error, slots)
		for i := range slots {
			s := sessionOf(t, b)
			go func() {
				var err error
				for n := range each {
					if err == nil {
						err = s.Do(context.Background(), whole(traces.Insert, i*each+n))
					}
				}
				answers <- err
			}()
		}
		for range slots {
			if err := <-answers; err != nil {
				t.Fatal(err)
			}
		}
		if got := factOf(t, b, "connections taken from the pool"); got != fmt.Sprint(slots*each) {
			t.Errorf("connections taken: %q, want %d", got, slots*each)
		}
		if got := factOf(t, b, "connections opened in the run"); got != "0" {
			t.Errorf("%q connections were opened behind Open", got)
		}
		waits, longest := b.pool.waits.Load(), time.Duration(b.pool.longest.Load())
		t.Logf("%d connections for %d slots: %d waits, longest %v, %v in all", size, slots, waits, longest, time.Duration(b.pool.waited.Load()))
		if size == 1 && waits < each {
			t.Errorf("%d waits of 1ms and more with one connection for %d slots", waits, slots)
		}
		if size == slots && time.Duration(b.pool.waited.Load()) > slots*each*longWait {
			t.Errorf("with a connection for each slot they waited %v", time.Duration(b.pool.waited.Load()))
		}
	}
}

// testUnacknowledged: with w=0 nothing is told of a write.
func testUnacknowledged(t *testing.T, server *servers.Server) {
	b := opened(t, on(server, "w=0"), 1)
	s := sessionOf(t, b)
	do(t, s, whole(traces.Insert, 1))
	do(t, s, whole(traces.Insert, 1))
	do(t, s, whole(traces.Update, 2))
	do(t, s, whole(traces.Delete, 2))
	for start := time.Now(); ; {
		err := s.Do(t.Context(), whole(traces.Read, 1))
		if err == nil {
			break
		}
		if bindings.ClassOf(err) != bindings.NotFound || time.Since(start) > 10*time.Second {
			t.Fatal(err)
		}
	}
	if got := factOf(t, b, "write concern"); !strings.Contains(got, "not answered") {
		t.Errorf("write concern: %q", got)
	}
}

// testWhatTheServerRefuses has the class of a request that can't be met.
func testWhatTheServerRefuses(t *testing.T, server *servers.Server) {
	s := sessionOf(t, opened(t, on(server, "w=2"), 1))
	if err := s.Do(t.Context(), whole(traces.Insert, 1)); bindings.ClassOf(err) != bindings.Invalid {
		t.Errorf("w=2 on a single server: %v, want the class %v", err, bindings.Invalid)
	}
	s = sessionOf(t, opened(t, on(server, ""), 1))
	large := whole(traces.Insert, 1)
	large.Write[0].Value = make([]byte, 17<<20)
	if err := s.Do(t.Context(), large); bindings.ClassOf(err) != bindings.Invalid {
		t.Errorf("a document of 17 MiB: %v, want the class %v", err, bindings.Invalid)
	}
	for _, name := range []string{"_id", "a.b", "$a", "", "a\x00b"} {
		op := whole(traces.Update, 1)
		op.Write[0].Name = name
		if err := s.Do(t.Context(), op); bindings.ClassOf(err) != bindings.Invalid {
			t.Errorf("a field named %q is written: %v", name, err)
		}
		op = whole(traces.Read, 1)
		op.Read = []string{name}
		if err := s.Do(t.Context(), op); bindings.ClassOf(err) != bindings.Invalid {
			t.Errorf("a field named %q is read: %v", name, err)
		}
	}
}

// testLongScansAreDrained: a reply holds 16 MiB; what is more takes further
// round trips, which are counted.
func testLongScansAreDrained(t *testing.T, server *servers.Server) {
	b := opened(t, on(server, ""), 1)
	s := sessionOf(t, b)
	for n := range 20 {
		op := whole(traces.Insert, 10+n)
		op.Write = op.Write[:1]
		op.Write[0].Value = make([]byte, 1<<20)
		do(t, s, op)
	}
	for length, trips := range map[int]string{5: "0", 20: "1"} {
		before := b.pool.getMores.Load()
		counted := &rowCount{}
		do(t, s, &bindings.Op{Kind: traces.Scan, Table: "usertable", Key: []byte("user"), ScanLength: length, Rows: counted})
		if counted.rows != length {
			t.Errorf("SCAN of %d gave %d", length, counted.rows)
		}
		if got := fmt.Sprint(b.pool.getMores.Load() - before); got != trips {
			t.Errorf("SCAN of %d MiB took %s getMore, want %s", length, got, trips)
		}
	}
}

type rowCount struct{ rows int }

func (r *rowCount) Row([]byte)           { r.rows++ }
func (r *rowCount) Field(string, []byte) {}

func TestNamesThatCannotBeStored(t *testing.T) {
	for _, change := range []func(h *traces.Header){
		func(h *traces.Header) { h.Table = "" },
		func(h *traces.Header) { h.Table = "a$b" },
		func(h *traces.Header) { h.Table = "system.users" },
		func(h *traces.Header) { h.Keys.Prefix = "\xff" },
		func(h *traces.Header) { h.Fields.Prefix = "a.b" },
		func(h *traces.Header) { h.Fields.Prefix = "$f" },
		func(h *traces.Header) { h.Fields.Prefix = "f\x00" },
	} {
		cfg := testConfig(1)
		change(cfg.Header)
		if err := configured(t, nil).Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), `"`) {
			t.Errorf("a header with %q, %q, %q: %v", cfg.Header.Table, cfg.Header.Keys.Prefix, cfg.Header.Fields.Prefix, err)
		}
	}
}
