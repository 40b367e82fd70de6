package bbolt

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/traces"
	"pianola/traces/payload"
)

func TestSuite(t *testing.T) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding { return configured(t, nil) }, bindingtest.Limits{})
}

// TestSuiteSynced waits for each write, on a map that has to grow.
func TestSuiteSynced(t *testing.T) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding {
		return configured(t, bindings.Properties{
			"bbolt.dir": filepath.Join(t.TempDir(), "data"), "bbolt.sync": "true", "bbolt.mmap": "0", "bbolt.freelist": "array",
		})
	}, bindingtest.Limits{})
}

func TestFiles(t *testing.T) {
	bindingtest.RunEmbedded(t, bindingtest.Embedded{Driver: &Driver, Dir: "bbolt.dir"})
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

// TestLayout holds buckets, keys and records to what is documented.
func TestLayout(t *testing.T) {
	s := open(t, configured(t, nil))
	for _, op := range []*bindings.Op{
		{Kind: traces.Insert, Table: "usertable", Key: []byte("user1"), Write: []bindings.Field{{Name: "f0", Value: []byte("abc")}, {Name: "field1"}}},
		{Kind: traces.Update, Table: "usertable", Key: []byte("user1"), Write: []bindings.Field{{Name: "f0", Value: []byte("d")}}},
	} {
		if err := s.Do(context.Background(), op); err != nil {
			t.Fatal(err)
		}
	}
	want := "00000002" + hex.EncodeToString([]byte("f0")) + "00000001" + hex.EncodeToString([]byte("d")) +
		"00000006" + hex.EncodeToString([]byte("field1")) + "00000000"
	s.db.View(func(tx *bbolt.Tx) error {
		if got := hex.EncodeToString(tx.Bucket([]byte("usertable")).Get([]byte("user1"))); got != want {
			t.Errorf("the record is\n%s, want\n%s", got, want)
		}
		return nil
	})
}

func TestAFileThatIsOpenElsewhereIsExplained(t *testing.T) {
	dir := t.TempDir()
	open(t, configured(t, bindings.Properties{"bbolt.dir": dir}))
	err := configured(t, bindings.Properties{"bbolt.dir": dir}).Open(context.Background(), testConfig())
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.HasSuffix(err.Error(), "\nanother program has it open") {
		t.Errorf("opened twice: %v", err)
	}
}

func TestAMissingTable(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, configured(t, bindings.Properties{"bbolt.dir": dir})).binding.Close(); err != nil {
		t.Fatal(err)
	}
	b := configured(t, bindings.Properties{"bbolt.dir": dir})
	cfg := testConfig()
	cfg.Header.Table = "other"
	if err := b.Open(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if n, err := b.Count(context.Background()); n != 0 || err != nil {
		t.Errorf("a table that isn't there has %d records, %v", n, err)
	}
	if _, err := b.Session(context.Background()); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("a session on it: %v", err)
	}
	cfg.Header.Table = ""
	if err := configured(t, nil).Open(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "table name") {
		t.Errorf("a table without a name: %v", err)
	}
}

func TestClasses(t *testing.T) {
	s := open(t, configured(t, nil))
	if err := s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("usertable")).Put([]byte("damaged"), []byte{0, 0, 0, 9, 'x'})
	}); err != nil {
		t.Fatal(err)
	}
	large := whole(traces.Insert, 1)
	for i := range large.Write {
		large.Write[i].Value = make([]byte, 1<<27)
	}
	for _, c := range []struct {
		name string
		op   *bindings.Op
		want bindings.Class
	}{
		{"no key", &bindings.Op{Kind: traces.Insert, Table: "usertable"}, bindings.Invalid},
		{"a key too long", &bindings.Op{Kind: traces.Insert, Table: "usertable", Key: make([]byte, 32769)}, bindings.Invalid},
		{"another table", &bindings.Op{Kind: traces.Read, Table: "other", Key: keyOf(1)}, bindings.Invalid},
		{"a record too large", large, bindings.Invalid},
		{"a damaged record", &bindings.Op{Kind: traces.Read, Table: "usertable", Key: []byte("damaged")}, bindings.Other},
		{"a damaged record written", &bindings.Op{Kind: traces.Update, Table: "usertable", Key: []byte("damaged")}, bindings.Other},
		{"what is well", whole(traces.Insert, 1), bindings.OK},
	} {
		if err := s.Do(context.Background(), c.op); bindings.ClassOf(err) != c.want {
			t.Errorf("%s: %v, want the class %v", c.name, err, c.want)
		}
	}
	if err := classed(fmt.Errorf("write: %w", syscall.ENOSPC)); bindings.ClassOf(err) != bindings.Unavailable {
		t.Errorf("a full disk: %v", err)
	}
	s.db.Close()
	if err := s.Do(context.Background(), whole(traces.Insert, 2)); bindings.ClassOf(err) != bindings.Unavailable {
		t.Errorf("a closed database: %v", err)
	}
}

func TestWorkIsCancelled(t *testing.T) {
	s := open(t, configured(t, nil))
	if err := s.db.Update(func(tx *bbolt.Tx) error {
		for i := range 2 * countCheck {
			if err := tx.Bucket([]byte("usertable")).Put(keyOf(i), []byte{}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if n, err := s.binding.Count(ctx); n != 2*countCheck || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
	cancel()
	if _, err := s.binding.Count(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a count behind its cancel: %v", err)
	}
	s.bucket = []byte("usertable")
	op := &bindings.Op{Kind: traces.Scan, ScanLength: 1 << 30}
	if err := s.view(func(b *bbolt.Bucket) error { return s.scan(ctx, b, op) }); !errors.Is(err, context.Canceled) {
		t.Errorf("a scan behind its cancel: %v", err)
	}
}

func TestFacts(t *testing.T) {
	s := open(t, configured(t, nil))
	for i := range 100 {
		if err := s.Do(context.Background(), whole(traces.Insert, i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range s.binding.Facts() {
		switch {
		case f.Name == "directory" && f.Value != "temporary",
			strings.HasSuffix(f.Name, "bytes") && f.Value == "0",
			f.Name == "page bytes written" && len(f.Value) < len("400000"):
			t.Errorf("behind 100 writes %s is %q", f.Name, f.Value)
		}
	}
}

func TestReadsAllocateLittle(t *testing.T) {
	s := open(t, configured(t, nil))
	for i := range 1000 {
		if err := s.Do(context.Background(), whole(traces.Insert, i)); err != nil {
			t.Fatal(err)
		}
	}
	for name, op := range map[string]*bindings.Op{
		"READ":    {Kind: traces.Read, Table: "usertable", Key: keyOf(700)},
		"SCAN 50": {Kind: traces.Scan, Table: "usertable", Key: keyOf(700), ScanLength: 50},
	} {
		// The store's transaction, its bucket and its cursor.
		if n := testing.AllocsPerRun(100, func() { s.Do(context.Background(), op) }); n > 12 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func TestUnfitSettingsAreRefused(t *testing.T) {
	for name, values := range map[string][]string{
		"bbolt.sync":     {"", "maybe", "1"},
		"bbolt.mmap":     {"", "-1", "lots", "2000TiB"},
		"bbolt.freelist": {"", "map", "Array"},
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
