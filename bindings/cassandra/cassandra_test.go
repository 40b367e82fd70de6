package cassandra

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/traces"
	"pianola/traces/payload"
)

// limits of YCSB's layout. Fields are text, as YCSB's are.
var limits = bindingtest.Limits{Unordered: true, BlindInsert: true, BlindUpdate: true, BlindDelete: true, TextOnly: true}

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

// keyspaces is the number of keyspaces that tests have used: each has its own.
var keyspaces atomic.Int64

// at returns properties for a server, with a keyspace of its own.
func at(address string, more bindings.Properties) bindings.Properties {
	p := bindings.Properties{"hosts": address, "cassandra.keyspace": fmt.Sprintf("test_%d_%d", time.Now().Unix(), keyspaces.Add(1))}
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

// opened returns an open binding with its table made.
func opened(t testing.TB, given bindings.Properties) *binding {
	t.Helper()
	b := configured(t, given)
	if err := b.Open(context.Background(), testConfig()); err != nil {
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

func newTestSession(t testing.TB, b *binding) *session {
	t.Helper()
	s, err := b.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s.(*session)
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
	s := servers.Start(t, "cassandra")
	for _, part := range []struct {
		name string
		test func(*testing.T, *servers.Server)
	}{
		{"suite", testSuite},
		{"suite clustered", testSuiteClustered},
		{"contents", testContents},
		{"facts", testFacts},
		{"requests", testRequests},
		{"protocol 3", testOldProtocol},
		{"tables that don't fit", testTablesThatDontFit},
		{"a table of YCSB's", testTableOfYCSB},
		{"classes", testClassesOfAnswers},
		{"count", testCountPages},
		{"full", testFull},
		{"pause", testPause},
		{"nothing spins", testNothingSpins},
		{"kill", testKill},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, s) })
	}
}

func testSuite(t *testing.T, s *servers.Server) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding { return configured(t, at(s.Address, nil)) }, limits)
}

func testSuiteClustered(t *testing.T, s *servers.Server) {
	clustered := limits
	clustered.Unordered = false
	more := bindings.Properties{"cassandra.layout": "clustered", "cassandra.buckets": "3"}
	bindingtest.Run(t, func(t *testing.T) bindings.Binding { return configured(t, at(s.Address, more)) }, clustered)
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

func testFacts(t *testing.T, s *servers.Server) {
	b := opened(t, at(s.Address, bindings.Properties{
		"cassandra.coreconnections": "3", "cassandra.readconsistencylevel": "local_one", "cassandra.writeconsistencylevel": "ALL",
		"cassandra.tracing": "true", "cassandra.coalesce": "200us",
	}))
	session := newTestSession(t, b)
	for _, kind := range []traces.Kind{traces.Insert, traces.Read, traces.ReadModifyWrite} {
		if err := session.Do(t.Context(), whole(kind, 1)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"server version": "5.0.8", "nodes up": "1", "protocol": "4", "commit log sync": "periodic, 10",
		"partitioner": "Murmur3Partitioner", "replication": "SimpleStrategy", "consistency": "reads LOCAL_ONE, writes ALL",
		"layout": "ycsb", "requests for operations": "4", "requests unanswered": "0", "refused as too many": "0",
		"held back, no node up": "0", "connections opened": "5", "connections refused": "0", "times a node went down": "0",
	} {
		if got := factOf(t, b, name); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", name, got, want)
		}
	}
	if !b.Local() {
		t.Errorf("the server at %s is said to be elsewhere", s.Address)
	}
	// The server writes its traces behind the answers.
	for traced := 0; traced == 0; {
		if err := b.db.Query("SELECT COUNT(*) FROM system_traces.sessions").Consistency(gocql.One).Scan(&traced); err != nil {
			t.Fatal(err)
		}
	}
}

// testRequests: each operation is one request, a READMODIFYWRITE two, and none
// of them has to be prepared first.
func testRequests(t *testing.T, s *servers.Server) {
	for _, layout := range []string{"ycsb", "clustered"} {
		b := opened(t, at(s.Address, bindings.Properties{"cassandra.layout": layout}))
		session := newTestSession(t, b)
		const n = 200
		ours, own := b.streams.ours.Load(), b.streams.own.Load()
		for i := range n {
			for _, kind := range []traces.Kind{traces.Insert, traces.Read, traces.Scan, traces.Update, traces.ReadModifyWrite, traces.Delete} {
				if err := session.Do(t.Context(), whole(kind, i)); err != nil {
					t.Fatalf("%v: %v", kind, err)
				}
			}
			one := whole(traces.ReadModifyWrite, i)
			one.Write, one.Read = one.Write[i%10:i%10+1], []string{"field3"}
			if err := session.Do(t.Context(), whole(traces.Insert, i)); err != nil {
				t.Fatal(err)
			}
			if err := session.Do(t.Context(), one); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.streams.ours.Load() - ours; got != 10*n {
			t.Errorf("%s: %d requests for %d operations with %d round trips", layout, got, 8*n, 10*n)
		}
		// Heartbeats: a few in each second.
		if got := b.streams.own.Load() - own; got > n/2 {
			t.Errorf("%s: the driver sent %d requests of its own", layout, got)
		}
	}
}

// testOldProtocol goes through something that speaks version 3 at most, in the
// words of a server.
func testOldProtocol(t *testing.T, s *servers.Server) {
	old := listening(t, func(client net.Conn) {
		defer client.Close()
		server, err := net.Dial("tcp", s.Address)
		if err != nil {
			t.Error(err)
			return
		}
		defer server.Close()
		first := make([]byte, 9)
		if _, err := io.ReadFull(client, first); err != nil {
			return
		}
		if first[0] > 3 {
			message := "Invalid or unsupported protocol version (4); the lowest supported version is 3 and the greatest is 3"
			body := append([]byte{0, 0, 0, 0x0a, 0, byte(len(message))}, message...)
			client.Write(append([]byte{0x83, 0, 0, 0, 0, 0, 0, 0, byte(len(body))}, body...))
			return
		}
		if _, err := server.Write(first); err != nil {
			return
		}
		go io.Copy(client, server)
		io.Copy(server, client)
	})
	for _, more := range []bindings.Properties{nil, {"cassandra.protocol": "3"}} {
		b := opened(t, at(old, more))
		session := newTestSession(t, b)
		for _, kind := range []traces.Kind{traces.Insert, traces.Read, traces.Scan, traces.ReadModifyWrite, traces.Delete} {
			if err := session.Do(t.Context(), whole(kind, 1)); err != nil {
				t.Errorf("%v: %v", kind, err)
			}
		}
		if got := factOf(t, b, "protocol"); got != "3" {
			t.Errorf("protocol %s, want 3", got)
		}
	}
}

func testClassesOfAnswers(t *testing.T, s *servers.Server) {
	good := opened(t, at(s.Address, nil))
	// The server takes three copies on one node, and finds two missing later.
	scarce := opened(t, at(s.Address, bindings.Properties{"cassandra.replication.factor": "3"}))
	empty := whole(traces.Insert, 1)
	empty.Key = nil
	text := whole(traces.Insert, 1)
	text.Write[3].Value = []byte{0xff, 0xfe}
	strange := whole(traces.Update, 1)
	strange.Write[0].Name = "nowhere"
	late := whole(traces.Read, 1)
	late.Deadline = time.Nanosecond
	for _, c := range []struct {
		name string
		b    *binding
		op   *bindings.Op
		want bindings.Class
	}{
		{"too few replicas", scarce, whole(traces.Insert, 1), bindings.Unavailable},
		{"no key", good, empty, bindings.Invalid},
		{"no text", good, text, bindings.Invalid},
		{"no such column", good, strange, bindings.Invalid},
		{"late", good, late, bindings.Timeout},
		{"nothing", good, whole(traces.Read, 2), bindings.NotFound},
		{"good", good, whole(traces.Insert, 1), bindings.OK},
	} {
		if err := newTestSession(t, c.b).Do(t.Context(), c.op); bindings.ClassOf(err) != c.want {
			t.Errorf("%s: %v, which is %v, want %v", c.name, err, bindings.ClassOf(err), c.want)
		}
	}
}

// listening returns the address of a listener that hands each connection to f.
func listening(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go f(conn)
		}
	}()
	return l.Addr().String()
}
