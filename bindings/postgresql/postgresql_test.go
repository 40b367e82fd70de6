package postgresql

import (
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

	"github.com/jackc/pgx/v5/pgconn"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/replay/outagetest"
	"pianola/traces"
	"pianola/traces/payload"
)

// A row must fit into a page of 8 KiB, but for what is moved out of it.
const mostFields = 300

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
	p := bindings.Properties{"db.url": "postgresql://" + address + "/postgres"}
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

// opened returns an open binding with a table, closed behind the test.
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

func sessionOf(t testing.TB, b *binding) *session {
	t.Helper()
	s, err := b.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*session)
}

// tell runs statements as they are and returns the first value of each answer.
func tell(t testing.TB, address string, statements ...string) []string {
	t.Helper()
	conn, err := pgconn.Connect(context.Background(), "postgresql://postgres@"+address+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var answers []string
	for _, s := range statements {
		results, err := conn.Exec(context.Background(), s).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		answer := ""
		for _, row := range results[0].Rows {
			answer += string(row[0]) + ";"
		}
		answers = append(answers, strings.TrimSuffix(answer, ";"))
	}
	return answers
}

// suiteLimits are those of each type of columns.
var suiteLimits = map[string]bindingtest.Limits{
	"text":  {TextOnly: true, MaxFields: mostFields},
	"bytes": {MaxFields: mostFields},
}

func TestSuite(t *testing.T) {
	s := servers.Start(t, "postgresql")
	for columns, limits := range suiteLimits {
		t.Run(columns, func(t *testing.T) {
			bindingtest.Run(t, func(t *testing.T) bindings.Binding {
				tell(t, s.Address, "DROP TABLE IF EXISTS usertable")
				p := at(s.Address, "postgresql.columns", columns)
				// What is asked here doesn't depend on when a write is on disk.
				p["db.url"] += "?synchronous_commit=off"
				return configured(t, p)
			}, limits)
		})
	}
}

func TestTLS(t *testing.T) {
	s := servers.Start(t, "postgresql-tls")
	authority := filepath.Join(s.Dir, servers.AuthorityFile)
	b := opened(t, at(s.Address, "postgresql.tls", "true", "postgresql.tls-ca", authority))
	if err := sessionOf(t, b).Do(t.Context(), whole(traces.Insert, "k")); err != nil {
		t.Error(err)
	}
	if got, err := b.ask(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"); got != "t" || err != nil {
		t.Errorf("the connection has TLS: %q, %v", got, err)
	}
	mustNotConnect(t, at(s.Address, "postgresql.tls", "true"), "certificate")
	mustNotConnect(t, at(s.Address), "pg_hba.conf")
}

// mustNotConnect demands an error that names address and cause within 10 s.
func mustNotConnect(t *testing.T, p bindings.Properties, cause string) {
	t.Helper()
	address := strings.TrimSuffix(strings.TrimPrefix(p["db.url"], "postgresql://"), "/postgres")
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
	if strings.Contains(err.Error(), "mellon") {
		t.Errorf("the error shows the password: %v", err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("the error came after %v", d)
	}
}

func TestAddressesThatCannotBeUsed(t *testing.T) {
	mustNotConnect(t, at("127.0.0.1:1"), "refused")
	mustNotConnect(t, at("no-such-host.invalid:5432"), "no-such-host.invalid")
	// One that takes connections and never answers.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
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
	s := servers.Start(t, "postgresql")
	mustNotConnect(t, at(s.Address, "db.user", "nobody-here"), `role "nobody-here" does not exist`)
}

func TestPassword(t *testing.T) {
	s := servers.Start(t, "postgresql")
	tell(t, s.Address, "CREATE ROLE guest LOGIN PASSWORD 'open-sesame'", "GRANT ALL ON SCHEMA public TO guest")
	hba := filepath.Join(s.Dir, "data", "pg_hba.conf")
	rule := []byte("host all guest 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n")
	if err := os.WriteFile(hba, rule, 0o600); err != nil {
		t.Fatal(err)
	}
	tell(t, s.Address, "SELECT pg_reload_conf()")
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("open-sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The reload takes effect soon, not at once.
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		b := configured(t, at(s.Address, "db.user", "guest"))
		if b.Open(t.Context(), testConfig()) != nil {
			break
		}
		b.Close()
		if time.Since(start) > 30*time.Second {
			t.Fatal("the server does not ask for the password")
		}
	}
	opened(t, at(s.Address, "db.user", "guest", "db.passwd", "open-sesame"))
	opened(t, at(s.Address, "db.user", "guest", "postgresql.password-file", file))
	mustNotConnect(t, at(s.Address, "db.user", "guest", "db.passwd", "mellon"), "password authentication failed")
	t.Setenv(passwordVariable, "open-sesame")
	b := opened(t, at(s.Address, "db.user", "guest"))
	text := fmt.Sprint(b.Facts(), Driver.Redacted(at(s.Address, "db.passwd", "open-sesame")))
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

// TestYCSBsTable runs on a table as YCSB's users make it, and reads with
// statements like YCSB's what was written.
func TestYCSBsTable(t *testing.T) {
	s := servers.Start(t, "postgresql")
	create := "CREATE TABLE usertable (YCSB_KEY VARCHAR(255) PRIMARY KEY"
	for i := range 10 {
		create += fmt.Sprintf(", FIELD%d TEXT", i)
	}
	tell(t, s.Address, create+")", "INSERT INTO usertable (YCSB_KEY,FIELD0,FIELD3) VALUES('user0','of YCSB','more')")
	b := opened(t, at(s.Address))
	session := sessionOf(t, b)
	got := &fields{}
	if err := session.Do(t.Context(), &bindings.Op{Kind: traces.Read, Key: []byte("user0"), Rows: got}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"row user0", "field0=of YCSB", "field3=more"}; !slices.Equal(got.all, want) {
		t.Errorf("read is %q, want %q", got.all, want)
	}
	if err := session.Do(t.Context(), whole(traces.Insert, "user1")); err != nil {
		t.Fatal(err)
	}
	answers := tell(t, s.Address, "SELECT FIELD9 FROM usertable WHERE YCSB_KEY = 'user1'", "SELECT count(*) FROM usertable")
	if want := []string{strings.Repeat("x", 100), "2"}; !slices.Equal(answers, want) {
		t.Errorf("stored is %q, want %q", answers, want)
	}
}

type fields struct{ all []string }

func (f *fields) Row(key []byte)                  { f.all = append(f.all, "row "+string(key)) }
func (f *fields) Field(name string, value []byte) { f.all = append(f.all, name+"="+string(value)) }

func TestSchema(t *testing.T) {
	s := servers.Start(t, "postgresql")
	b := configured(t, at(s.Address, "postgresql.isolation", "repeatable-read"))
	if err := b.Open(t.Context(), testConfig()); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if n, err := b.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("without a table: %d rows, %v", n, err)
	}
	if _, err := b.Session(t.Context()); err == nil || !strings.Contains(err.Error(), "usertable") || !strings.Contains(err.Error(), s.Address) {
		t.Errorf("a session without a table: %v", err)
	}
	if err := b.CreateSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	facts := map[string]string{}
	for _, f := range b.Facts() {
		facts[f.Name] = f.Value
	}
	for name, want := range map[string]string{
		"order of keys": "C", "rows": "0", "fsync": "on", "synchronous_commit": "on",
		"default_transaction_isolation": "repeatable read", "connections opened again": "0",
	} {
		if facts[name] != want {
			t.Errorf("fact %q is %q, want %q", name, facts[name], want)
		}
	}
}

// TestStatementsArePrepared: no operation of a trace prepares anything.
func TestStatementsArePrepared(t *testing.T) {
	s := servers.Start(t, "postgresql")
	session := sessionOf(t, opened(t, at(s.Address)))
	before := len(session.prepared)
	if before != 35 {
		t.Errorf("%d statements are prepared, want 35", before)
	}
	ops := []*bindings.Op{whole(traces.Insert, "k"), whole(traces.Update, "k"), whole(traces.ReadModifyWrite, "k")}
	for i := range 10 {
		name := fmt.Sprint("field", i)
		write := []bindings.Field{{Name: name, Value: []byte("x")}}
		ops = append(ops,
			&bindings.Op{Kind: traces.Read, Key: []byte("k"), Read: []string{name}},
			&bindings.Op{Kind: traces.Scan, Key: []byte("k"), Read: []string{name}, ScanLength: 1},
			&bindings.Op{Kind: traces.Update, Key: []byte("k"), Write: write},
			&bindings.Op{Kind: traces.ReadModifyWrite, Key: []byte("k"), Read: []string{name}, Write: write})
	}
	ops = append(ops, &bindings.Op{Kind: traces.Scan, Key: []byte("k"), ScanLength: 1}, &bindings.Op{Kind: traces.Delete, Key: []byte("k")})
	for _, op := range ops {
		if err := session.Do(t.Context(), op); err != nil {
			t.Fatalf("%v: %v", op.Kind, err)
		}
	}
	if n := len(session.prepared); n != before {
		t.Errorf("%d statements more were prepared", n-before)
	}
}

// TestDeadline: a statement that waits for a lock is cancelled, and the
// connection lives on; on a paused server the connection is given up.
func TestDeadline(t *testing.T) {
	s := servers.Start(t, "postgresql")
	b := opened(t, at(s.Address))
	session := sessionOf(t, b)
	if err := session.Do(t.Context(), whole(traces.Insert, "user1")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.control.Exec(t.Context(), "BEGIN; SELECT * FROM usertable FOR UPDATE").ReadAll(); err != nil {
		t.Fatal(err)
	}
	late := func() error {
		op := whole(traces.Update, "user1")
		op.Deadline = b.clock.Now() + 50*time.Millisecond
		return session.Do(t.Context(), op)
	}
	if err := late(); bindings.ClassOf(err) != bindings.Timeout {
		t.Errorf("behind a lock: %v, want the class %v", err, bindings.Timeout)
	}
	if session.conn.IsClosed() {
		t.Error("a cancelled statement has cost the connection")
	}
	if _, err := b.control.Exec(t.Context(), "COMMIT").ReadAll(); err != nil {
		t.Fatal(err)
	}
	if err := session.Do(t.Context(), whole(traces.Update, "user1")); err != nil {
		t.Error(err)
	}
	s.Pause()
	if err := late(); bindings.ClassOf(err) != bindings.Timeout {
		t.Errorf("on a paused server: %v, want the class %v", err, bindings.Timeout)
	}
	s.Resume()
	if err := session.Do(t.Context(), whole(traces.Update, "user1")); err != nil {
		t.Error(err)
	}
	if n := b.reopened.Load(); n != 1 {
		t.Errorf("%d connections were opened again, want 1", n)
	}
}

func TestClasses(t *testing.T) {
	s := servers.Start(t, "postgresql")
	b := opened(t, at(s.Address))
	session := sessionOf(t, b)
	do := func(op *bindings.Op, want bindings.Class, what string) {
		t.Helper()
		if err := session.Do(t.Context(), op); bindings.ClassOf(err) != want {
			t.Errorf("%s: %v, want the class %v", what, err, want)
		}
	}
	do(whole(traces.Insert, "k"), bindings.OK, "the first")
	do(whole(traces.Insert, "k"), bindings.Duplicate, "the second")
	do(whole(traces.Insert, strings.Repeat("k", 256)), bindings.Invalid, "a key too long")
	zero := whole(traces.Insert, "z")
	zero.Write[0].Value = []byte("a\x00")
	do(zero, bindings.Invalid, "a zero byte as text")
	do(&bindings.Op{Kind: traces.Read, Key: []byte("k"), Read: []string{"no_such"}}, bindings.Invalid, "a field that isn't there")
	do(&bindings.Op{Kind: traces.Update, Key: []byte("k")}, bindings.Invalid, "no field")
	tell(t, s.Address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pianola'")
	do(whole(traces.Read, "k"), bindings.Unavailable, "on a connection that was ended")
	do(whole(traces.Read, "k"), bindings.OK, "on the next one")
	tell(t, s.Address, "CREATE ROLE guest LOGIN")
	if _, err := configuredAndAsked(t, at(s.Address, "db.user", "guest"), "SELECT * FROM usertable"); class(err) != bindings.Unauthorised {
		t.Errorf("without a right: %v", err)
	}
	s.Kill()
	do(whole(traces.Read, "k"), bindings.Unavailable, "on a server that died")
	do(whole(traces.Read, "k"), bindings.Unavailable, "on a dead server")
	for err, want := range map[error]bindings.Class{
		&pgconn.PgError{Code: "53300"}: bindings.Overloaded, &pgconn.PgError{Code: "40001"}: bindings.Other,
		&pgconn.PgError{Code: "28P01"}: bindings.Unauthorised, &pgconn.PgError{Code: "57P03"}: bindings.Unavailable,
		&pgconn.PgError{Code: "57014"}: bindings.Timeout, &pgconn.PgError{}: bindings.Other,
		context.DeadlineExceeded: bindings.Timeout, errors.New("x"): bindings.Other,
	} {
		if got := class(err); got != want {
			t.Errorf("class of %v is %v, want %v", err, got, want)
		}
	}
}

func configuredAndAsked(t *testing.T, p bindings.Properties, statement string) (string, error) {
	t.Helper()
	b := configured(t, p)
	if err := b.Open(t.Context(), testConfig()); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	return b.ask(t.Context(), statement)
}

// TestTooManySlots: the error says what takes the connections.
func TestTooManySlots(t *testing.T) {
	s := servers.Start(t, "postgresql")
	tell(t, s.Address, "CREATE ROLE few LOGIN CONNECTION LIMIT 2", "GRANT ALL ON SCHEMA public TO few")
	b := opened(t, at(s.Address, "db.user", "few"))
	sessionOf(t, b)
	if _, err := b.Session(t.Context()); err == nil || !strings.Contains(err.Error(), "--slots") || !strings.Contains(err.Error(), s.Address) {
		t.Errorf("one session too many: %v", err)
	}
}

func TestUnfitSettingsAreRefused(t *testing.T) {
	for name, values := range map[string][]string{
		"db.url":  {"", "127.0.0.1", "mysql://127.0.0.1/x", "postgresql:///x", "postgresql://127.0.0.1", "postgresql://a,b/x", "postgresql://h/x?sslmode=disable"},
		"db.user": {""}, "postgresql.tls": {"", "yes"}, "postgresql.isolation": {"loose"}, "postgresql.columns": {"", "json"}, "postgresql.load": {"", "fast"},
	} {
		for _, value := range values {
			mustBeRefused(t, bindings.Properties{name: value}, "property "+name+` is "`+value+`"`)
		}
	}
	for _, url := range []string{"postgresql://u:mellon@h/x", "postgresql://h/x?password=mellon", "postgresql://u:mellon@h:x/"} {
		mustBeRefused(t, bindings.Properties{"db.url": url}, "db.url")
	}
	mustBeRefused(t, bindings.Properties{"db.url": "postgresql://u@h/x"}, "db.user")
	mustBeRefused(t, bindings.Properties{"postgresql.tls-ca": "x"}, "postgresql.tls")
	mustBeRefused(t, bindings.Properties{"postgresql.tls": "true", "postgresql.tls-ca": "/nowhere"}, "/nowhere")
	mustBeRefused(t, bindings.Properties{"postgresql.password-file": "/nowhere"}, "/nowhere")
	b := configured(t, bindings.Properties{"db.url": "jdbc:postgresql://h/x?synchronous_commit=off"})
	if got := b.settings.address(); got != "h:5432" || b.settings.config.RuntimeParams["synchronous_commit"] != "off" {
		t.Errorf("a JDBC url leads to %s with %v", got, b.settings.config.RuntimeParams)
	}
}

func mustBeRefused(t *testing.T, given bindings.Properties, want string) {
	t.Helper()
	p, err := Driver.Configure(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Driver.New(p)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v: %v, want an error with %q", given, err, want)
	}
	if err != nil && strings.Contains(err.Error(), "mellon") {
		t.Errorf("the error shows the password: %v", err)
	}
}

func TestAPauseShows(t *testing.T) {
	s := servers.Start(t, "postgresql")
	outagetest.Pause(t, outagetest.Outage{Driver: &Driver, Properties: at(s.Address), Server: s})
}

func TestAKilledServer(t *testing.T) {
	s := servers.Start(t, "postgresql")
	outagetest.Kill(t, outagetest.Outage{Driver: &Driver, Properties: at(s.Address), Server: s, Slots: 16, Recovery: 4 * time.Second})
}
