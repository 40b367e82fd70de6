package pebble

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/traces"
)

var limits = bindingtest.Limits{BlindInsert: true, BlindDelete: true}

func TestSuite(t *testing.T) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding { return configured(t, nil) }, limits)
}

// TestSuiteSynced waits for each write on a file system in memory. Memtables
// are small, so that records lie in tables too.
func TestSuiteSynced(t *testing.T) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding {
		b := configured(t, bindings.Properties{
			"pebble.dir": "data", "pebble.sync": "true", "pebble.memtable": "64KiB", "pebble.cache": "1MiB",
			"pebble.bloom": "0", "pebble.compression": "zstd", "pebble.compactions": "2",
		})
		b.fs = vfs.NewMem()
		return b
	}, limits)
}

func TestFiles(t *testing.T) {
	bindingtest.RunEmbedded(t, bindingtest.Embedded{Driver: &Driver, Dir: "pebble.dir", Durable: bindings.Properties{"pebble.sync": "true"}})
}

// open opens the binding, makes a database and returns a session.
func open(t *testing.T, b *binding) bindings.Session {
	t.Helper()
	if err := b.Open(context.Background(), testConfig()); err != nil {
		t.Fatal(err)
	}
	if err := b.CreateSchema(context.Background()); err != nil {
		t.Fatal(err)
	}
	s, err := b.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustClose(t *testing.T, b *binding) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, b *binding) uint64 {
	t.Helper()
	n, err := b.Count(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestADirectoryInUseIsRefused(t *testing.T) {
	used := t.TempDir()
	holder := configured(t, bindings.Properties{"pebble.dir": used})
	open(t, holder)
	defer mustClose(t, holder)
	err := configured(t, bindings.Properties{"pebble.dir": used}).Open(context.Background(), testConfig())
	if err == nil || !strings.Contains(err.Error(), strconv.Quote(used)) || !strings.Contains(err.Error(), "lock held") {
		t.Errorf("opened twice: %v", err)
	}
}

func TestAnOlderFormatIsKept(t *testing.T) {
	dir := t.TempDir()
	older := func() *pebble.DB {
		db, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: pebble.FormatMinSupported, Logger: &health{}})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	if err := older().Close(); err != nil {
		t.Fatal(err)
	}
	b := configured(t, bindings.Properties{"pebble.dir": dir})
	s := open(t, b)
	if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, b)
	db := older()
	defer db.Close()
	if got := db.FormatMajorVersion(); got != pebble.FormatMinSupported {
		t.Errorf("the format is now %v", got)
	}
	if _, closer, err := db.Get([]byte("usertable\x00" + string(keyOf(1)))); err != nil {
		t.Error(err)
	} else {
		closer.Close()
	}
}

// TestLayout holds keys and records to what is documented, byte for byte.
func TestLayout(t *testing.T) {
	dir := t.TempDir()
	b := configured(t, bindings.Properties{"pebble.dir": dir})
	s := open(t, b)
	for _, op := range []*bindings.Op{
		{Kind: traces.Insert, Table: "usertable", Key: []byte("user1"), Write: []bindings.Field{{Name: "f0", Value: []byte("abc")}, {Name: "field1"}}},
		{Kind: traces.Update, Table: "usertable", Key: []byte("user1"), Write: []bindings.Field{{Name: "new", Value: []byte("\x00\xff")}, {Name: "f0", Value: []byte("d")}}},
	} {
		if err := s.Do(context.Background(), op); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, b)
	db, err := pebble.Open(dir, &pebble.Options{Logger: &health{}, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	value, closer, err := db.Get([]byte("usertable\x00user1"))
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	want := "00000002" + hex.EncodeToString([]byte("f0")) + "00000001" + hex.EncodeToString([]byte("d")) +
		"00000006" + hex.EncodeToString([]byte("field1")) + "00000000" +
		"00000003" + hex.EncodeToString([]byte("new")) + "00000002" + "00ff"
	if got := hex.EncodeToString(value); got != want {
		t.Errorf("the record is\n%s, want\n%s", got, want)
	}
}

func TestTablesAreApart(t *testing.T) {
	b := configured(t, nil)
	s := open(t, b)
	defer mustClose(t, b)
	// Names that begin with one another, and keys that would continue them.
	for _, place := range [][2]string{{"usertable", "k"}, {"usertabl", "ek"}, {"usertable2", "k"}, {"", "usertable"}, {"usertable", ""}, {"usertable", "\x00"}} {
		op := &bindings.Op{Kind: traces.Insert, Table: place[0], Key: []byte(place[1])}
		if err := s.Do(context.Background(), op); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, b); n != 3 {
		t.Errorf("the trace's table has %d records, want 3", n)
	}
	got := &keys{}
	if err := s.Do(context.Background(), &bindings.Op{Kind: traces.Scan, Table: "usertable", ScanLength: 9, Rows: got}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.all, []string{"", "\x00", "k"}) {
		t.Errorf("a scan of the table gave %q", got.all)
	}
}

// keys takes the keys of what is read.
type keys struct{ all []string }

func (k *keys) Row(key []byte)       { k.all = append(k.all, string(key)) }
func (k *keys) Field(string, []byte) {}

func TestAZeroByteEndsATable(t *testing.T) {
	b := configured(t, nil)
	cfg := testConfig()
	cfg.Header.Table = "user\x00table"
	if err := b.Open(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), `"user\x00table"`) {
		t.Errorf("Open: %v", err)
	}
	s := open(t, b)
	defer mustClose(t, b)
	op := &bindings.Op{Kind: traces.Read, Table: "user\x00table", Key: []byte("1")}
	if err := s.Do(context.Background(), op); bindings.ClassOf(err) != bindings.Invalid {
		t.Errorf("Do: %v", err)
	}
}

func TestARecordTooLargeIsRefused(t *testing.T) {
	b := configured(t, nil)
	s := open(t, b)
	defer mustClose(t, b)
	value := make([]byte, 1<<28)
	op := whole(traces.Insert, 1)
	for i := range op.Write {
		op.Write[i].Value = value
	}
	if err := s.Do(context.Background(), op); bindings.ClassOf(err) != bindings.Invalid {
		t.Errorf("INSERT of 2.5 GiB: %v", err)
	}
	if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	op.Kind = traces.Update
	if err := s.Do(context.Background(), op); bindings.ClassOf(err) != bindings.Invalid {
		t.Errorf("UPDATE to 2.5 GiB: %v", err)
	}
	if err := s.Do(context.Background(), whole(traces.Update, 1)); err != nil {
		t.Errorf("the next operation: %v", err)
	}
}

func TestADamagedRecordIsAnError(t *testing.T) {
	b := configured(t, nil)
	s := open(t, b)
	defer mustClose(t, b)
	key := []byte("usertable\x00" + string(keyOf(1)))
	if err := b.db.Set(key, []byte{0, 0, 0, 2, 'f', '0', 0, 0, 0, 9, 'x'}, pebble.NoSync); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []traces.Kind{traces.Read, traces.Update, traces.ReadModifyWrite, traces.Scan} {
		op := whole(kind, 1)
		op.ScanLength = 1
		err := s.Do(context.Background(), op)
		if bindings.ClassOf(err) != bindings.Other || !strings.Contains(err.Error(), string(keyOf(1))) {
			t.Errorf("%v: %v, want an error that names the key", kind, err)
		}
	}
}

func TestCountCanBeCancelled(t *testing.T) {
	s := loaded(t, 2*countCheck)
	ctx, cancel := context.WithCancel(context.Background())
	if n, err := s.binding.Count(ctx); n != 2*countCheck || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
	cancel()
	if _, err := s.binding.Count(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	op := &bindings.Op{Kind: traces.Scan, Table: "usertable", ScanLength: 1 << 30}
	if err := s.at.Locate(op); err != nil {
		t.Fatal(err)
	}
	if err := s.scan(ctx, op); !errors.Is(err, context.Canceled) {
		t.Errorf("a scan behind its cancel: %v", err)
	}
}

func TestOperationsAllocateLittle(t *testing.T) {
	s := loaded(t, 2000)
	ctx := context.Background()
	for _, c := range []struct {
		name string
		op   *bindings.Op
		most float64
	}{
		{"READ", &bindings.Op{Kind: traces.Read, Table: "usertable", Key: keyOf(700)}, 0},
		{"READ with rows", &bindings.Op{Kind: traces.Read, Table: "usertable", Key: keyOf(700), Rows: nothing{}}, 0},
		{"READ of one field", &bindings.Op{Kind: traces.Read, Table: "usertable", Key: keyOf(700), Read: []string{"field5"}, Rows: nothing{}}, 0},
		{"READ of none", &bindings.Op{Kind: traces.Read, Table: "usertable", Key: []byte("none")}, 0},
		{"UPDATE", &bindings.Op{Kind: traces.Update, Table: "usertable", Key: keyOf(700), Write: whole(traces.Update, 700).Write[3:4]}, 1},
		{"INSERT", whole(traces.Insert, 700), 1},
		{"DELETE", &bindings.Op{Kind: traces.Delete, Table: "usertable", Key: keyOf(1)}, 1},
		{"SCAN", &bindings.Op{Kind: traces.Scan, Table: "usertable", Key: keyOf(900), ScanLength: 50}, 1},
	} {
		if poolsDrop {
			c.most += 40
		}
		// One is left for a miss of Pebble's pools.
		if n := testing.AllocsPerRun(500, func() { s.Do(ctx, c.op) }); n > c.most {
			t.Errorf("%s allocates %v times, want at most %v", c.name, n, c.most)
		}
	}
}

type nothing struct{}

func (nothing) Row([]byte)           {}
func (nothing) Field(string, []byte) {}

func TestUnfitSettingsAreRefused(t *testing.T) {
	for name, values := range map[string][]string{
		"pebble.sync":        {"", "maybe", "1"},
		"pebble.cache":       {"", "0", "lots", "2000TiB"},
		"pebble.memtable":    {"", "1KiB", "4GiB"},
		"pebble.bloom":       {"", "-1", "65", "ten"},
		"pebble.compression": {"", "Snappy", "lz4"},
		"pebble.compactions": {"", "0", "257"},
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

func TestVolatile(t *testing.T) {
	if !Driver.Volatile(bindings.Properties{"pebble.dir": ""}) || Driver.Volatile(bindings.Properties{"pebble.dir": "x"}) {
		t.Error("a temporary directory alone is volatile")
	}
}

// Discard removes a temporary directory under the open database, and no other.
func TestDiscard(t *testing.T) {
	b := configured(t, nil)
	b.Discard() // nothing is open yet
	open(t, b)
	b.Discard()
	if _, err := os.Stat(b.dir.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary directory is still there: %v", err)
	}
	kept := configured(t, bindings.Properties{"pebble.dir": t.TempDir()})
	open(t, kept)
	kept.Discard()
	if files, err := os.ReadDir(kept.dir.Path); err != nil || len(files) == 0 {
		t.Errorf("a directory that was set is gone: %v, %v", files, err)
	}
}
