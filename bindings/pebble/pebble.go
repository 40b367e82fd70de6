// Package pebble is Pebble, CockroachDB's store, in this process: a
// log-structured merge tree on a real directory, and the database that is
// driven when none is chosen.
//
// # What an operation becomes
//
//   - READ is one Get. All fields come from the store as one value; those that
//     are asked for are decoded.
//   - INSERT is one Set. It doesn't look first, so that it costs what a write
//     costs: over a record that exists it takes its place, and can't tell.
//   - UPDATE and READMODIFYWRITE are Get, merge, Set: the record is one value,
//     so a field can't be written alone. They hold a lock over the key
//     meanwhile, and so does every other write of the key: no update is lost,
//     and a record that is missing is not found.
//   - SCAN is an iterator from the key on, in the byte order of the keys,
//     read to the length asked for.
//   - DELETE is one Delete, a tombstone; it doesn't look first either, and so
//     can't tell that there was nothing.
//
// The locks are striped: keys share one by their hash. A write waits for the
// writes of its stripe to be applied, never for their sync.
//
// # Durability
//
// Every write goes to the write-ahead log. With pebble.sync=true it is answered
// when the log is on disk, together with what others wrote meanwhile. With
// pebble.sync=false it is answered when it is in memory, as with RocksDB's
// default; but Pebble hands its log to the operating system a block of 32 KiB
// at a time, so that even a crash of this process alone can lose the last
// block. Close loses nothing.
//
// # Keys and records
//
// The key of a record is the table's name, a zero byte and the key; a table's
// name has no zero byte. The value is the record: see keyvalue.AppendRecord.
package pebble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"pianola/bindings"
	"pianola/bindings/directory"
	"pianola/bindings/keyvalue"
	"pianola/traces"
)

var (
	_ bindings.Binding       = (*binding)(nil)
	_ bindings.SchemaCreator = (*binding)(nil)
	_ bindings.Counter       = (*binding)(nil)
	_ bindings.Dropper       = (*binding)(nil)
	_ bindings.Discarder     = (*binding)(nil)
	_ bindings.Reporter      = (*binding)(nil)
	_ bindings.Session       = (*session)(nil)
)

// Driver describes the binding.
var Driver = bindings.Driver{
	Name:    "pebble",
	Summary: "CockroachDB's embedded log-structured store, on a directory",
	Statements: `No round trips: every operation is work of this process. The key is the table's
name, a zero byte and the key; all fields of a record are one value.

READ             Get; the fields asked for are decoded
UPDATE           Get, merge, Set, under a lock over the key; not found if there
                 is none
INSERT           Set, blindly: over a record that exists it takes its place
SCAN             an iterator from the key on, in the byte order of the keys
READMODIFYWRITE  as UPDATE, and the fields asked for are decoded
DELETE           Delete, blindly: that there was none can't be told

What the store does on its own (flushes, compactions, write stalls, cache hits)
is in the result.`,
	Properties: properties,
	Kinds:      []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.ReadModifyWrite, traces.Delete},
	Place:      bindings.Embedded,
	Slots:      bindings.DefaultSlotsEmbedded,
	New: func(p bindings.Properties) (bindings.Binding, error) {
		s, err := parseSettings(p)
		if err != nil {
			return nil, err
		}
		return &binding{settings: s, fs: vfs.Default, locks: keyvalue.NewLocks()}, nil
	},
	Volatile: func(p bindings.Properties) bool { return p["pebble.dir"] == "" },
}

type binding struct {
	settings settings
	fs       vfs.FS
	health   *health
	// table is the trace's; names are those of its fields, so that a name that
	// is read need not be allocated.
	table string
	names map[string]string
	dir   directory.Directory
	directory.Mark
	// db is nil while there is no database in the directory.
	db    *pebble.DB
	locks *keyvalue.Locks
}

// Open opens the database in the directory. Where there is none it waits for
// CreateSchema, but for a temporary one.
func (b *binding) Open(_ context.Context, cfg bindings.Config) (err error) {
	if err := keyvalue.CheckTable(cfg.Header.Table); err != nil {
		return err
	}
	b.health = &health{clock: cfg.Clock}
	b.table = cfg.Header.Table
	b.names = keyvalue.Names(cfg.Header)
	if b.dir, err = directory.Use(b.settings.dir, "pebble"); err != nil {
		return err
	}
	b.Note(b.dir)
	if b.dir.Temporary {
		if err := b.create(); err != nil {
			return errors.Join(err, b.dir.Remove())
		}
		return nil
	}
	version, err := b.stored()
	if err != nil || version == pebble.FormatDefault {
		return err
	}
	return b.open(version)
}

// stored returns the format version of the database in the directory, or
// FormatDefault if there is none yet. A directory with anything else in it is
// refused.
func (b *binding) stored() (pebble.FormatMajorVersion, error) {
	info, err := b.fs.Stat(b.dir.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return pebble.FormatDefault, nil
	case err != nil:
		return 0, b.cannotOpen(err)
	case !info.IsDir():
		return 0, b.cannotOpen(errors.New("it is not a directory"))
	}
	files, err := b.fs.List(b.dir.Path)
	if err != nil {
		return 0, b.cannotOpen(err)
	}
	if len(files) == 0 {
		return pebble.FormatDefault, nil
	}
	found, err := pebble.Peek(b.dir.Path, b.fs)
	if err != nil {
		return 0, b.cannotOpen(err)
	}
	if !found.Exists {
		return 0, b.cannotOpen(errors.New("it holds other files and no database"))
	}
	return found.FormatMajorVersion, nil
}

// create makes a new database.
func (b *binding) create() error { return b.open(pebble.FormatNewest) }

func (b *binding) open(version pebble.FormatMajorVersion) error {
	err := b.health.guard(func() (err error) {
		b.db, err = pebble.Open(b.dir.Path, b.settings.options(version, b.fs, b.health))
		return err
	})
	if err != nil {
		b.db = nil
		return b.cannotOpen(err)
	}
	return nil
}

func (b *binding) cannotOpen(err error) error {
	hint := ""
	if errors.Is(err, syscall.EAGAIN) {
		hint = "\nanother program has it open"
	}
	return fmt.Errorf("database directory %q: %w%s", b.dir.Path, err, hint)
}

// CreateSchema makes the database if there is none in the directory. A table
// needs nothing made.
func (b *binding) CreateSchema(context.Context) error {
	if b.db != nil {
		return nil
	}
	return b.create()
}

func (b *binding) Session(context.Context) (bindings.Session, error) {
	if b.db == nil {
		return nil, b.cannotOpen(errors.New("it holds no database yet\nload it first"))
	}
	return &session{binding: b, db: b.db}, nil
}

// Drop deletes the keys of the trace's table in one stroke.
func (b *binding) Drop(context.Context) error {
	if b.db == nil {
		return nil
	}
	err := b.health.guard(func() error {
		return b.db.DeleteRange(keyvalue.TableStart(nil, b.table), keyvalue.TableEnd(nil, b.table), pebble.Sync)
	})
	if err != nil {
		return fmt.Errorf("delete table %q in %q: %w", b.table, b.dir.Path, err)
	}
	return nil
}

// countCheck is the number of records between two looks at the context.
const countCheck = 1 << 12

// Count walks over the keys of the trace's table: it is exact, and takes time
// in proportion.
func (b *binding) Count(ctx context.Context) (n uint64, err error) {
	if b.db == nil {
		return 0, nil
	}
	err = b.health.guard(func() (err error) {
		it, err := b.db.NewIter(&pebble.IterOptions{LowerBound: keyvalue.TableStart(nil, b.table), UpperBound: keyvalue.TableEnd(nil, b.table)})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, it.Close()) }()
		for ok := it.First(); ok; ok = it.Next() {
			if n++; n%countCheck == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count the records of table %q in %q: %w", b.table, b.dir.Path, err)
	}
	return n, nil
}

// Close closes the database, with every write in its files, and removes a
// temporary one.
func (b *binding) Close() error {
	var err error
	if b.db != nil {
		if err = b.health.guard(b.db.Close); err != nil {
			err = fmt.Errorf("close the pebble database in %q: %w", b.dir.Path, err)
		}
		b.db = nil
	}
	return errors.Join(err, b.dir.Remove())
}
