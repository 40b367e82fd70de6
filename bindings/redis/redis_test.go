package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/replay/outagetest"
	"pianola/traces"
	"pianola/traces/payload"
)

var limits = bindingtest.Limits{Unordered: true, BlindInsert: true, BlindUpdate: true}

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

// at returns the properties of a server and others in pairs of name and value.
func at(address string, others ...string) bindings.Properties {
	host, port, _ := net.SplitHostPort(address)
	p := bindings.Properties{"redis.host": host, "redis.port": port}
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

// opened returns an open binding, closed behind the test.
func opened(t testing.TB, given bindings.Properties) *binding {
	t.Helper()
	b := configured(t, given)
	if err := b.Open(context.Background(), testConfig()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func sessionOf(t testing.TB, b *binding) *session {
	t.Helper()
	s, err := b.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*session)
}

// tell sends commands as they are and returns the first lines of the answers.
func tell(t testing.TB, address string, commands ...string) []string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lines := bufio.NewReader(conn)
	var answers []string
	for _, c := range commands {
		if _, err := fmt.Fprintf(conn, "%s\r\n", c); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "-") {
			t.Fatalf("%s: %s", c, line)
		}
		if strings.HasPrefix(line, "$") && line != "$-1" {
			if line, err = lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			line = strings.TrimSpace(line)
		}
		answers = append(answers, line)
	}
	return answers
}

func TestSuite(t *testing.T) {
	s := servers.Start(t, "redis")
	for _, connections := range []string{"4", "1", "0"} {
		t.Run(connections, func(t *testing.T) {
			bindingtest.Run(t, func(t *testing.T) bindings.Binding {
				tell(t, s.Address, "FLUSHALL")
				return configured(t, at(s.Address, "redis.connections", connections))
			}, limits)
		})
	}
}

// TestSuiteOnACluster runs on three nodes that share the slots.
func TestSuiteOnACluster(t *testing.T) {
	nodes := []string{cluster(t), cluster(t), cluster(t)}
	join(t, nodes)
	bindingtest.Run(t, func(t *testing.T) bindings.Binding {
		for _, n := range nodes {
			tell(t, n, "FLUSHALL")
		}
		return configured(t, at(nodes[0], "redis.cluster", "true", "redis.connections", "2"))
	}, limits)
}

func cluster(t *testing.T) string { return servers.Start(t, "redis-cluster").Address }

// join makes one cluster of nodes that each had all slots.
func join(t *testing.T, nodes []string) {
	t.Helper()
	const slots = 16384
	third := slots/len(nodes) + 1
	for i, n := range nodes {
		from, to := i*third, min((i+1)*third, slots)-1
		tell(t, n, "CLUSTER RESET HARD", fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", from, to), fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1))
	}
	for _, n := range nodes[1:] {
		host, port, _ := net.SplitHostPort(nodes[0])
		tell(t, n, fmt.Sprintf("CLUSTER MEET %s %s %s", host, port, busPort(t, nodes[0])))
	}
	deadline := time.Now().Add(30 * time.Second)
	for _, n := range nodes {
		for {
			info := clusterInfo(t, n)
			if strings.Contains(info, "cluster_state:ok") && strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", len(nodes))) &&
				strings.Contains(info, fmt.Sprintf("cluster_slots_ok:%d", slots)) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the nodes are no cluster yet: %s", info)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func client(t testing.TB, address string) rueidis.Client {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}, ForceSingleClient: true, DisableCache: true, AlwaysRESP2: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func clusterInfo(t *testing.T, address string) string {
	t.Helper()
	c := client(t, address)
	text, err := c.Do(t.Context(), c.B().ClusterInfo().Build()).ToString()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func busPort(t *testing.T, address string) string {
	t.Helper()
	c := client(t, address)
	pair, err := c.Do(t.Context(), c.B().ConfigGet().Parameter("cluster-port").Build()).AsStrSlice()
	if err != nil || len(pair) != 2 {
		t.Fatal(pair, err)
	}
	return pair[1]
}

func TestTLS(t *testing.T) {
	s := servers.Start(t, "redis-tls")
	authority := filepath.Join(s.Dir, servers.AuthorityFile)
	b := opened(t, at(s.Address, "redis.tls", "true", "redis.tls-ca", authority))
	if err := sessionOf(t, b).Do(t.Context(), whole(traces.Insert, "k")); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		p     bindings.Properties
		cause string
	}{
		{at(s.Address, "redis.tls", "true"), "certificate"},
		{at(strings.Replace(s.Address, "127.0.0.1", "localhost.localdomain", 1), "redis.tls", "true", "redis.tls-ca", authority), ""},
		{at(s.Address), ""},
	} {
		mustNotConnect(t, c.p, c.cause)
	}
}

// mustNotConnect demands an error that names address and cause within 10 s.
func mustNotConnect(t *testing.T, p bindings.Properties, cause string) {
	t.Helper()
	address := net.JoinHostPort(p["redis.host"], p["redis.port"])
	b := configured(t, p)
	start := time.Now()
	err := b.Open(t.Context(), testConfig())
	if err == nil {
		b.Close()
		t.Fatalf("%v: it connects", p)
	}
	if !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), cause) {
		t.Errorf("%q: want an error that names %s and %q", err, address, cause)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("the error came after %v", d)
	}
}

func TestAddressesThatCannotBeUsed(t *testing.T) {
	mustNotConnect(t, at("127.0.0.1:1"), "refused")
	mustNotConnect(t, at("no-such-host.invalid:6379"), "no-such-host.invalid")
	// One that takes connections and never answers.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mustNotConnect(t, at(l.Addr().String(), "redis.timeout", "300"), "deadline")
	mustNotConnect(t, at(l.Addr().String()), "deadline")
	// One that speaks another language.
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, "SSH-2.0-x\r\n")
			conn.Close()
		}
	}()
	mustNotConnect(t, at(l.Addr().String()), "")
	mustNotConnect(t, at(servers.Start(t, "redis").Address, "redis.cluster", "true"), "cluster")
}

func TestPassword(t *testing.T) {
	s := servers.Start(t, "redis")
	tell(t, s.Address, "CONFIG SET requirepass open-sesame")
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("open-sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened(t, at(s.Address, "redis.password", "open-sesame"))
	opened(t, at(s.Address, "redis.password-file", file))
	mustNotConnect(t, at(s.Address), "NOAUTH")
	mustNotConnect(t, at(s.Address, "redis.password", "mellon"), "WRONGPASS")
	t.Setenv(passwordVariable, "open-sesame")
	b := opened(t, at(s.Address))
	text := fmt.Sprint(b.Facts(), Driver.Redacted(at(s.Address, "redis.password", "open-sesame")))
	if strings.Contains(text, "sesame") {
		t.Errorf("the password is shown: %s", text)
	}
}

func whole(kind traces.Kind, key string) *bindings.Op {
	op := &bindings.Op{Kind: kind, Table: "usertable", Key: []byte(key)}
	for i := range 10 {
		op.Write = append(op.Write, bindings.Field{Name: fmt.Sprint("field", i), Value: []byte(strings.Repeat("x", 100))})
	}
	return op
}

// TestLayout looks at what is stored with commands of its own.
func TestLayout(t *testing.T) {
	s := servers.Start(t, "redis")
	b := opened(t, at(s.Address))
	session := sessionOf(t, b)
	for _, op := range []*bindings.Op{
		{Kind: traces.Insert, Table: "usertable", Key: []byte("user1"), Write: []bindings.Field{{Name: "field0", Value: []byte("abc")}, {Name: "field1", Value: []byte("def")}}},
		{Kind: traces.Update, Table: "other", Key: []byte("user1"), Write: []bindings.Field{{Name: "field1", Value: []byte("changed")}}},
		{Kind: traces.Insert, Table: "usertable", Key: []byte("user2"), Write: []bindings.Field{{Name: "field0", Value: []byte("x")}}},
		{Kind: traces.Update, Table: "usertable", Key: []byte("user3"), Write: []bindings.Field{{Name: "field0", Value: []byte("x")}}},
		{Kind: traces.Delete, Table: "usertable", Key: []byte("user2")},
	} {
		if err := session.Do(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	got := tell(t, s.Address, "HGET user1 field0", "HGET user1 field1", "HLEN user1",
		"ZSCORE _indices user1", "EXISTS user2", "ZSCORE _indices user2", "ZSCORE _indices user3", "ZCARD _indices", "DBSIZE")
	want := []string{"abc", "changed", ":2", "111578566", ":0", "$-1", "111578568", ":2", ":3"}
	if !slices.Equal(got, want) {
		t.Errorf("stored is %q, want %q", got, want)
	}
	if n, err := b.Count(t.Context()); n != 2 || err != nil {
		t.Errorf("count %d, %v", n, err)
	}
}

// TestScore compares with what Java's String.hashCode is known to give.
func TestScore(t *testing.T) {
	for key, want := range map[string]int32{
		"": 0, "a": 97, "Aa": 2112, "BB": 2112, "user1": 111578566,
		"polygenelubricants": -2147483648,
		"é":                  233, "🎹": 31*0xd83c + 0xdfb9,
	} {
		if got := score([]byte(key)); got != want {
			t.Errorf("score(%q) = %d, want %d", key, got, want)
		}
	}
}

// TestAScanSkipsWhatIsGone: another program may have deleted a record alone.
func TestAScanSkipsWhatIsGone(t *testing.T) {
	s := servers.Start(t, "redis")
	session := sessionOf(t, opened(t, at(s.Address)))
	const n = 2*scanChunk + 100
	for i := range n {
		if err := session.Do(t.Context(), whole(traces.Insert, fmt.Sprint("user", i))); err != nil {
			t.Fatal(err)
		}
	}
	tell(t, s.Address, "DEL user7")
	got := &keys{}
	// The least hash is the score of no key that is less.
	op := &bindings.Op{Kind: traces.Scan, Key: []byte("polygenelubricants"), ScanLength: n + 5, Rows: got}
	if err := session.Do(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	if len(got.all) != n-1 || slices.Contains(got.all, "user7") {
		t.Errorf("a scan gives %d records, want %d", len(got.all), n-1)
	}
	if !slices.IsSortedFunc(got.all, func(a, b string) int { return int(score([]byte(a))) - int(score([]byte(b))) }) {
		t.Error("a scan is not in the order of the hashes")
	}
}

type keys struct{ all []string }

func (k *keys) Row(key []byte)       { k.all = append(k.all, string(key)) }
func (k *keys) Field(string, []byte) {}

// TestDeadline: an operation on a paused server is given up in time, and its
// bytes are not those of a later one when it is carried out after all.
func TestDeadline(t *testing.T) {
	for _, connections := range []string{"1", "0"} {
		t.Run(connections, func(t *testing.T) {
			s := servers.Start(t, "redis")
			b := opened(t, at(s.Address, "redis.connections", connections))
			session := sessionOf(t, b)
			if err := session.Do(t.Context(), whole(traces.Insert, "user1")); err != nil {
				t.Fatal(err)
			}
			s.Pause()
			for i := range 20 {
				op := whole(traces.Update, "user1")
				op.Write[0].Value = fmt.Appendf(nil, "value %d", i)
				op.Deadline = b.clock.Now() + 20*time.Millisecond
				err := session.Do(t.Context(), op)
				if bindings.ClassOf(err) != bindings.Timeout {
					t.Fatalf("on a paused server: %v, want the class %v", err, bindings.Timeout)
				}
				for j := range op.Write {
					for k := range op.Write[j].Value {
						op.Write[j].Value[k] = '!'
					}
				}
				copy(op.Key, "!!!!!")
			}
			s.Resume()
			if err := session.Do(t.Context(), &bindings.Op{Kind: traces.Read, Key: []byte("user1")}); err != nil {
				t.Fatal(err)
			}
			got := tell(t, s.Address, "DBSIZE", "HGET user1 field0", "HGET user1 field1")
			if got[0] != ":2" || strings.Contains(got[1]+got[2], "!") {
				t.Errorf("there are keys %s and the values %q", got[0], got[1:])
			}
		})
	}
}

func TestClasses(t *testing.T) {
	s := servers.Start(t, "redis")
	session := sessionOf(t, opened(t, at(s.Address)))
	for _, c := range []struct {
		commands []string
		want     bindings.Class
	}{
		{[]string{"SET user1 text"}, bindings.Invalid},
		{[]string{"DEL user1", "CONFIG SET maxmemory 1"}, bindings.Overloaded},
		{[]string{"CONFIG SET maxmemory 0", "REPLICAOF 127.0.0.1 1"}, bindings.Unavailable},
		{[]string{"REPLICAOF NO ONE", "ACL SETUSER default -hset"}, bindings.Unauthorised},
	} {
		tell(t, s.Address, c.commands...)
		for _, kind := range []traces.Kind{traces.Insert, traces.Update} {
			err := session.Do(t.Context(), whole(kind, "user1"))
			if bindings.ClassOf(err) != c.want {
				t.Errorf("%v after %q: %v, want the class %v", kind, c.commands, err, c.want)
			}
		}
	}
	empty := &bindings.Op{Kind: traces.Insert, Key: []byte("user1")}
	if err := session.Do(t.Context(), empty); bindings.ClassOf(err) != bindings.Invalid {
		t.Errorf("a record without fields: %v", err)
	}
	s.Kill()
	op := whole(traces.Read, "user1")
	if err := session.Do(t.Context(), op); bindings.ClassOf(err) != bindings.Unavailable {
		t.Errorf("on a dead server: %v", err)
	}
	for err, want := range map[error]bindings.Class{
		io.EOF: bindings.Unavailable, context.DeadlineExceeded: bindings.Timeout, errors.New("x"): bindings.Other,
		&net.OpError{Op: "dial", Err: errors.New("refused")}: bindings.Unavailable,
	} {
		if got := class(err); got != want {
			t.Errorf("class of %v is %v, want %v", err, got, want)
		}
	}
}

func TestFacts(t *testing.T) {
	s := servers.Start(t, "redis")
	b := opened(t, at(s.Address, "redis.connections", "1"))
	session := sessionOf(t, b)
	for i := range 10 {
		if err := session.Do(t.Context(), whole(traces.Insert, fmt.Sprint("user", i))); err != nil {
			t.Fatal(err)
		}
	}
	facts := map[string]string{}
	for _, f := range b.Facts() {
		facts[f.Name] = f.Value
	}
	for name, want := range map[string]string{
		"connections opened": "1", "commands sent": "40", "appendonly": "no", "save": "none",
		"records in the index": "10", "role": "master", "mode": "standalone",
	} {
		if facts[name] != want {
			t.Errorf("fact %q is %q, want %q", name, facts[name], want)
		}
	}
	if v := facts["server"]; v == "" || v == "unknown" {
		t.Errorf("the server's version is %q", v)
	}
	// Closed connections are opened again, and it shows.
	tell(t, s.Address, "CLIENT KILL TYPE normal")
	time.Sleep(50 * time.Millisecond)
	if err := session.Do(t.Context(), whole(traces.Update, "user1")); err != nil {
		t.Fatal(err)
	}
	if n := b.traffic.opened.Load(); n != 2 {
		t.Errorf("%d connections were opened, want 2", n)
	}
}

func TestUnfitSettingsAreRefused(t *testing.T) {
	for name, values := range map[string][]string{
		"redis.host": {""}, "redis.port": {"", "0", "70000", "http"}, "redis.cluster": {"", "maybe"},
		"redis.timeout": {"", "0", "-1", "9s", "soon"}, "redis.connections": {"", "-1", "2000"},
		"redis.database": {"", "-1", "x"}, "redis.tls": {"", "yes"},
	} {
		for _, value := range values {
			mustBeRefused(t, bindings.Properties{name: value}, "property "+name+` is "`+value+`"`)
		}
	}
	mustBeRefused(t, bindings.Properties{"redis.tls-ca": "x"}, "redis.tls")
	mustBeRefused(t, bindings.Properties{"redis.tls": "true", "redis.tls-ca": "/nowhere"}, "/nowhere")
	mustBeRefused(t, bindings.Properties{"redis.cluster": "true", "redis.database": "1"}, "redis.database")
	mustBeRefused(t, bindings.Properties{"redis.password-file": "/nowhere"}, "/nowhere")
}

func mustBeRefused(t *testing.T, given bindings.Properties, want string) {
	t.Helper()
	p, err := Driver.Configure(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Driver.New(p); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v: %v, want an error with %q", given, err, want)
	}
}

func TestAPauseShows(t *testing.T) {
	s := servers.Start(t, "redis")
	outagetest.Pause(t, outagetest.Outage{Driver: &Driver, Properties: at(s.Address), Server: s, Slots: 1024})
}

func TestAKilledServer(t *testing.T) {
	s := servers.Start(t, "redis")
	outagetest.Kill(t, outagetest.Outage{Driver: &Driver, Properties: at(s.Address), Server: s, Rate: 1000, Recovery: 2 * time.Second})
}
