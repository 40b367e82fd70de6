package badger

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/traces"
	"pianola/traces/payload"
)

var limits = bindingtest.Limits{BlindInsert: true, BlindDelete: true}

func TestSuite(t *testing.T) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding { return configured(t, nil) }, limits)
}

// TestSuiteSynced waits for each write. Memtables are small and values in their
// log, so that records lie in all places.
func TestSuiteSynced(t *testing.T) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding {
		return configured(t, bindings.Properties{
			"badger.dir": filepath.Join(t.TempDir(), "data"), "badger.sync": "true", "badger.memtable": "1MiB", "badger.cache": "1MiB",
			"badger.compression": "zstd", "badger.compactors": "2", "badger.value-threshold": "64", "badger.gc": "1ms",
		})
	}, limits)
}

func TestFiles(t *testing.T) {
	bindingtest.RunEmbedded(t, bindingtest.Embedded{Driver: &Driver, Dir: "badger.dir"})
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

// TestLayout holds keys and records to what is documented.
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
	err := s.db.View(func(tx *badger.Txn) error {
		item, err := tx.Get([]byte("usertable\x00user1"))
		if err != nil {
			return err
		}
		return item.Value(func(record []byte) error {
			if got := hex.EncodeToString(record); got != want {
				t.Errorf("the record is\n%s, want\n%s", got, want)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTablesAreApart(t *testing.T) {
	s := open(t, configured(t, nil))
	// Names that begin with one another, and keys that would continue them.
	for _, place := range [][2]string{{"usertable", "k"}, {"usertabl", "ek"}, {"usertable2", "k"}, {"", "usertable"}, {"usertable", ""}, {"usertable", "\x00"}} {
		if err := s.Do(context.Background(), &bindings.Op{Kind: traces.Insert, Table: place[0], Key: []byte(place[1])}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.binding.Count(context.Background()); n != 3 || err != nil {
		t.Errorf("the trace's table has %d records, %v; want 3", n, err)
	}
	got := &keys{}
	if err := s.Do(context.Background(), &bindings.Op{Kind: traces.Scan, Table: "usertable", ScanLength: 9, Rows: got}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.all, []string{"", "\x00", "k"}) {
		t.Errorf("a scan of the table gave %q", got.all)
	}
	if err := s.Do(context.Background(), &bindings.Op{Kind: traces.Read, Table: "user\x00table"}); bindings.ClassOf(err) != bindings.Invalid {
		t.Errorf("a table with a zero byte: %v", err)
	}
	cfg := testConfig()
	cfg.Header.Table = "user\x00table"
	if err := configured(t, nil).Open(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), `"user\x00table"`) {
		t.Errorf("opened with it: %v", err)
	}
}

// keys takes the keys of what is read.
type keys struct{ all []string }

func (k *keys) Row(key []byte)       { k.all = append(k.all, string(key)) }
func (k *keys) Field(string, []byte) {}

func TestADirectoryThatIsOpenElsewhereIsExplained(t *testing.T) {
	dir := t.TempDir()
	open(t, configured(t, bindings.Properties{"badger.dir": dir}))
	err := configured(t, bindings.Properties{"badger.dir": dir}).Open(context.Background(), testConfig())
	if err == nil || !strings.Contains(err.Error(), strconv.Quote(dir)) || !strings.HasSuffix(err.Error(), "\nanother program has it open") {
		t.Errorf("opened twice: %v", err)
	}
}

func TestClasses(t *testing.T) {
	s := open(t, configured(t, nil))
	if err := s.db.Update(func(tx *badger.Txn) error {
		return tx.Set([]byte("usertable\x00damaged"), []byte{0, 0, 0, 9, 'x'})
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
		{"a key too long", &bindings.Op{Kind: traces.Insert, Table: "usertable", Key: make([]byte, 65000)}, bindings.Invalid},
		{"the longest key", &bindings.Op{Kind: traces.Insert, Table: "usertable", Key: make([]byte, 64990)}, bindings.OK},
		{"a key of the store's own", &bindings.Op{Kind: traces.Insert, Table: "!badger!", Key: keyOf(1)}, bindings.Invalid},
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
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(context.Background(), whole(traces.Insert, 2)); bindings.ClassOf(err) != bindings.Unavailable {
		t.Errorf("a closed database: %v", err)
	}
}

func TestWorkIsCancelled(t *testing.T) {
	s := open(t, configured(t, nil))
	batch := s.db.NewWriteBatch()
	for i := range 2 * countCheck {
		if err := batch.Set([]byte("usertable\x00"+string(keyOf(i))), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Flush(); err != nil {
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
	op := &bindings.Op{Kind: traces.Scan, Table: "usertable", ScanLength: 1 << 30}
	if err := s.at.Locate(op); err != nil {
		t.Fatal(err)
	}
	if err := s.scan(ctx, op); !errors.Is(err, context.Canceled) {
		t.Errorf("a scan behind its cancel: %v", err)
	}
}

func factOf(t *testing.T, facts []bindings.Fact, name string) string {
	t.Helper()
	i := slices.IndexFunc(facts, func(f bindings.Fact) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("there is no fact %q in %v", name, facts)
	}
	return facts[i].Value
}

func TestTheStoresOwnWorkIsInTheFacts(t *testing.T) {
	dir := t.TempDir()
	properties := bindings.Properties{"badger.dir": dir, "badger.memtable": "1MiB", "badger.cache": "1MiB", "badger.value-threshold": "100KiB"}
	s := open(t, configured(t, properties))
	for i := range 4000 {
		if err := s.Do(context.Background(), whole(traces.Insert, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.binding.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, configured(t, properties))
	for i := range 4000 {
		if err := s.Do(context.Background(), whole(traces.Read, i)); err != nil {
			t.Fatal(err)
		}
	}
	facts := s.binding.Facts()
	for _, name := range []string{"tables", "table bytes"} {
		if factOf(t, facts, name) == "0" {
			t.Errorf("4 MB written through memtables of 1 MiB, and %q is 0", name)
		}
	}
	if got := factOf(t, facts, "block cache hits"); !strings.Contains(got, "% of ") {
		t.Errorf("block cache hits are %q", got)
	}
	if got := factOf(t, facts, "directory"); got != dir {
		t.Errorf("the directory is %q", got)
	}
}

func TestWhatTheStoreSaysIsCounted(t *testing.T) {
	h := &health{}
	h.Infof("a flush")
	h.Warningf("full\nof %d", 7)
	h.Errorf("broken")
	h.Errorf("again")
	h.collection(nil)
	h.collection(badger.ErrNoRewrite)
	for name, want := range map[string]string{
		"errors of its own": "2", "first error of its own": "broken", "warnings of its own": "1", "first warning of its own": "full of 7",
		"value log files rewritten": "1",
	} {
		if got := factOf(t, h.facts(), name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	h.collection(errors.New("lost"))
	if got := factOf(t, h.facts(), "errors of its own"); got != "3" {
		t.Errorf("behind a collection that failed there are %s errors", got)
	}
}

func TestUnfitSettingsAreRefused(t *testing.T) {
	for name, values := range map[string][]string{
		"badger.sync":            {"", "maybe", "1"},
		"badger.cache":           {"", "0", "lots", "2000TiB"},
		"badger.memtable":        {"", "1KiB", "4GiB"},
		"badger.compression":     {"", "Snappy", "lz4"},
		"badger.compactors":      {"", "1", "257"},
		"badger.value-threshold": {"", "0", "2MiB"},
		"badger.gc":              {"", "-1s", "often"},
	} {
		for _, value := range values {
			mustBeRefused(t, bindings.Properties{name: value}, "property "+name+` is "`+value+`"`)
		}
	}
	mustBeRefused(t, bindings.Properties{"badger.memtable": "1MiB"}, "15 % of badger.memtable")
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
