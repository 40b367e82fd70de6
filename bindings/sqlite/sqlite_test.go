package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/traces"
	"pianola/traces/payload"
)

func TestSuite(t *testing.T) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding { return configured(t, nil) }, bindingtest.Limits{})
}

// TestSuiteSynced waits for each write, with hardly a cache, and moves the log
// into the file all the time; the path has signs in it that a URL would not.
func TestSuiteSynced(t *testing.T) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding {
		return configured(t, bindings.Properties{
			"sqlite.dir": filepath.Join(t.TempDir(), "100% & more?#"), "sqlite.sync": "true", "sqlite.cache": "4KiB", "sqlite.mmap": "1MiB", "sqlite.checkpoint": "2",
		})
	}, bindingtest.Limits{})
}

func TestFiles(t *testing.T) {
	bindingtest.RunEmbedded(t, bindingtest.Embedded{Driver: &Driver, Dir: "sqlite.dir"})
}

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

// open opens the binding, makes what is missing and returns a session. It is
// closed behind the test.
func open(t testing.TB, b *binding) *session {
	t.Helper()
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
	s, err := b.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
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

// TestLayout holds the table to what is documented.
func TestLayout(t *testing.T) {
	s := open(t, configured(t, nil))
	if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"SELECT YCSB_KEY FROM usertable":                                              "user000001",
		"SELECT typeof(YCSB_KEY) FROM usertable":                                      "text",
		"SELECT typeof(field9) FROM usertable":                                        "blob",
		"SELECT count(*) FROM pragma_table_info('usertable')":                         "11",
		"SELECT group_concat(name) FROM pragma_table_info('usertable') WHERE cid < 2": "YCSB_KEY,field0",
		"PRAGMA synchronous":                                                          "1",
	} {
		if got, err := s.conn.ask(context.Background(), query); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", query, got, err, want)
		}
	}
}

// rows takes the fields of what is read.
type rows struct{ all []string }

func (r *rows) Row(key []byte)                  { r.all = append(r.all, string(key)) }
func (r *rows) Field(name string, value []byte) { r.all = append(r.all, name+"="+string(value)) }

// TestForeignRows: values of type text are read as YCSB has written them, a
// column without a value is no field, and numbers are none of ours.
func TestForeignRows(t *testing.T) {
	s := open(t, configured(t, nil))
	for _, statement := range []string{
		"INSERT INTO usertable (YCSB_KEY, field0) VALUES ('text', 'käse')",
		"INSERT INTO usertable (YCSB_KEY, field0) VALUES ('number', 7)",
	} {
		if _, err := s.conn.ask(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	got := &rows{}
	if err := s.Do(context.Background(), &bindings.Op{Kind: traces.Read, Key: []byte("text"), Rows: got}); err != nil || !slices.Equal(got.all, []string{"text", "field0=käse"}) {
		t.Errorf("a row of text is %q, %v", got.all, err)
	}
	if err := s.Do(context.Background(), &bindings.Op{Kind: traces.Read, Key: []byte("number"), Rows: got}); bindings.ClassOf(err) != bindings.Invalid || !strings.Contains(err.Error(), "field0") {
		t.Errorf("a row with a number: %v", err)
	}
}

func TestClasses(t *testing.T) {
	s := open(t, configured(t, nil))
	for _, c := range []struct {
		name string
		op   *bindings.Op
		want bindings.Class
	}{
		{"a write of nothing", &bindings.Op{Kind: traces.Update, Key: keyOf(1)}, bindings.Invalid},
		{"a field that isn't there", &bindings.Op{Kind: traces.Read, Key: keyOf(1), Read: []string{"other"}}, bindings.Invalid},
		{"what is well", whole(traces.Insert, 1), bindings.OK},
		{"the same again", whole(traces.Insert, 1), bindings.Duplicate},
		{"no such record", whole(traces.Update, 2), bindings.NotFound},
	} {
		if err := s.Do(context.Background(), c.op); bindings.ClassOf(err) != c.want {
			t.Errorf("%s: %v, want the class %v", c.name, err, c.want)
		}
	}
	if _, err := s.conn.ask(context.Background(), "PRAGMA max_page_count=1"); err != nil {
		t.Fatal(err)
	}
	var err error
	for i := 10; err == nil && i < 1000; i++ {
		err = s.Do(context.Background(), whole(traces.Insert, i))
	}
	if bindings.ClassOf(err) != bindings.Unavailable {
		t.Errorf("a full database: %v", err)
	}
}

// TestAnotherWriterIsNotWaitedFor: SQLite's own waiting is off, and reads go on.
func TestAnotherWriterIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	s := open(t, configured(t, bindings.Properties{"sqlite.dir": dir}))
	if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	other, err := connect(context.Background(), filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ask(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(context.Background(), whole(traces.Insert, 2)); bindings.ClassOf(err) != bindings.Unavailable {
		t.Errorf("a write beside another program's: %v", err)
	}
	if err := s.Do(context.Background(), &bindings.Op{Kind: traces.Read, Key: keyOf(1)}); err != nil {
		t.Errorf("a READ beside it: %v", err)
	}
	if _, err := other.ask(context.Background(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(context.Background(), whole(traces.Insert, 2)); err != nil {
		t.Errorf("behind it: %v", err)
	}
}

func TestAFileThatIsNoDatabase(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), []byte(strings.Repeat("mine", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	err := configured(t, bindings.Properties{"sqlite.dir": dir}).Open(context.Background(), testConfig())
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "not a database") {
		t.Errorf("opened: %v", err)
	}
}

func TestAMissingTable(t *testing.T) {
	dir := t.TempDir()
	s := open(t, configured(t, bindings.Properties{"sqlite.dir": dir}))
	if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	b := configured(t, bindings.Properties{"sqlite.dir": dir})
	cfg := testConfig()
	cfg.Header.Table = "an \"other\" `table`"
	if err := b.Open(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if n, err := b.Count(context.Background()); n != 0 || err != nil {
		t.Errorf("a table that isn't there has %d records, %v", n, err)
	}
	if _, err := b.Session(context.Background()); err == nil || !strings.Contains(err.Error(), "no such table") {
		t.Errorf("a session on it: %v", err)
	}
	if err := b.CreateSchema(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Session(context.Background()); err != nil {
		t.Errorf("a session behind its creation: %v", err)
	}
}

func TestAScanIsCancelled(t *testing.T) {
	s := open(t, configured(t, nil))
	for i := range scanCheck {
		if err := s.Do(context.Background(), whole(traces.Insert, i)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.scan(ctx, &bindings.Op{Kind: traces.Scan, ScanLength: 1 << 30}); !errors.Is(err, context.Canceled) {
		t.Errorf("a scan behind its cancel: %v", err)
	}
	if _, err := s.binding.Count(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a count behind its cancel: %v", err)
	}
}

// TestWhatIsPreparedIsEnough: no statement of an ordinary trace is prepared when
// it first occurs.
func TestWhatIsPreparedIsEnough(t *testing.T) {
	s := open(t, configured(t, nil))
	before := len(s.prepared)
	for _, op := range []*bindings.Op{
		whole(traces.Insert, 1), whole(traces.Update, 1), whole(traces.ReadModifyWrite, 1), {Kind: traces.Read, Key: keyOf(1)},
		{Kind: traces.Read, Key: keyOf(1), Read: []string{"field7"}}, {Kind: traces.Scan, Key: keyOf(1), ScanLength: 1, Read: []string{"field7"}},
		{Kind: traces.Update, Key: keyOf(1), Write: []bindings.Field{{Name: "field7"}}}, {Kind: traces.Delete, Key: keyOf(1)},
	} {
		if err := s.Do(context.Background(), op); err != nil {
			t.Fatalf("%v: %v", op.Kind, err)
		}
	}
	if n := len(s.prepared); n != before {
		t.Errorf("%d statements more were prepared", n-before)
	}
}

func TestFacts(t *testing.T) {
	s := open(t, configured(t, bindings.Properties{"sqlite.sync": "true"}))
	if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	facts := map[string]string{}
	for _, f := range s.binding.Facts() {
		facts[f.Name] = f.Value
	}
	for name, want := range map[string]string{"directory": "temporary", "journal mode": "wal", "synchronous": "2", "waits for the writer": "0"} {
		if facts[name] != want {
			t.Errorf("%s is %q, want %q", name, facts[name], want)
		}
	}
	if !strings.HasPrefix(facts["SQLite"], "3.") || facts["log bytes"] == "0" || facts["log bytes"] == "" {
		t.Errorf("version and log are %q and %q", facts["SQLite"], facts["log bytes"])
	}
}

func TestUnfitSettingsAreRefused(t *testing.T) {
	for name, values := range map[string][]string{
		"sqlite.sync":       {"", "maybe", "1"},
		"sqlite.cache":      {"", "0", "lots", "2000TiB"},
		"sqlite.mmap":       {"", "-1", "2000TiB"},
		"sqlite.checkpoint": {"", "-1", "often"},
	} {
		for _, value := range values {
			p, err := Driver.Configure(bindings.Properties{name: value}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Driver.New(p); err == nil || !strings.Contains(err.Error(), "property "+name+` is "`+value+`"`) {
				t.Errorf("%s=%s: %v, want an error with name and value", name, value, err)
			}
		}
	}
}
