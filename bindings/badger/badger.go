// Package badger is Badger, Dgraph's store, in this process: a log-structured
// merge tree like pebble's, with multi-version transactions, and with large
// values in a log of their own.
//
// # What an operation becomes
//
// Each is a transaction of its own.
//
//   - READ is one Get. All fields come from the store as one value; those that
//     are asked for are decoded.
//   - INSERT is one Set. It doesn't look first, so that it costs what a write
//     costs: over a record that exists it takes its place, and can't tell.
//   - UPDATE and READMODIFYWRITE are Get, merge, Set: the record is one value,
//     so a field can't be written alone. Not found if there is none.
//   - SCAN is an iterator from the key on, in the byte order of the keys, read
//     to the length asked for.
//   - DELETE is one Delete, a tombstone; it doesn't look first either, and so
//     can't tell that there was nothing.
//
// # Transactions
//
// Badger would fail one of two transactions that change a record at a time, and
// leave it to its caller to try again. Here writes of a key wait for each other
// instead, as they do on pebble, and Badger's search for conflicts is off: no
// operation fails for it, none is repeated in secret, and the wait is part of
// service. Each holds its lock until it is committed. The locks are striped:
// keys share one by their hash.
//
// A transaction, a READ too, first waits for the commits that began before it
// to be finished; with badger.sync=true that is the sync of the log.
//
// # Durability
//
// Each write goes to the write-ahead log, which is mapped into memory. With
// badger.sync=true it is answered when the log is on disk, together with what
// others wrote meanwhile. With badger.sync=false, Badger's own default, it is
// answered when it is in the map: a crash of this process loses nothing, one of
// the machine the last ones.
//
// # What can't be caught
//
// Where Badger finds itself broken it ends the process with a message of its
// own; there is no report then.
//
// # Keys and records
//
// The key of a record is the table's name, a zero byte and the key, 65000 bytes
// at most; a table's name has no zero byte. The value is the record: see
// keyvalue.AppendRecord.
package badger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/dgraph-io/badger/v4"

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
	Name:    "badger",
	Summary: "Dgraph's embedded log-structured store, on a directory",
	Statements: `No round trips: every operation is work of this process, and a transaction of its
own. The key is the table's name, a zero byte and the key; all fields of a record
are one value.

READ             Get; the fields asked for are decoded
UPDATE           Get, merge, Set, under a lock over the key; not found if there
                 is none
INSERT           Set, blindly: over a record that exists it takes its place
SCAN             an iterator from the key on, in the byte order of the keys
READMODIFYWRITE  as UPDATE, and the fields asked for are decoded
DELETE           Delete, blindly: that there was none can't be told

Writes of one key wait for each other here; Badger's search for conflicts is off.
Cache hits, tables and what the store warns of are in the result.`,
	Properties: properties,
	Kinds:      []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.ReadModifyWrite, traces.Delete},
	Place:      bindings.Embedded,
	Slots:      bindings.DefaultSlotsEmbedded,
	New: func(p bindings.Properties) (bindings.Binding, error) {
		s, err := parseSettings(p)
		if err != nil {
			return nil, err
		}
		return &binding{settings: s, locks: keyvalue.NewLocks()}, nil
	},
	Volatile: func(p bindings.Properties) bool { return p["badger.dir"] == "" },
}

// manifest is the file that a database begins with.
const manifest = "MANIFEST"

type binding struct {
	settings settings
	health   health
	// table is the trace's; names are those of its fields.
	table string
	names map[string]string
	dir   directory.Directory
	directory.Mark
	clock bindings.Clock
	// db is nil while there is no database in the directory.
	db    *badger.DB
	locks *keyvalue.Locks
	// stop ends the collection of the value log, and collecting waits for it.
	stop       chan struct{}
	collecting sync.WaitGroup
}

// Open opens the database in the directory. Where there is none it waits for
// CreateSchema, but for a temporary one.
func (b *binding) Open(_ context.Context, cfg bindings.Config) (err error) {
	if err := keyvalue.CheckTable(cfg.Header.Table); err != nil {
		return err
	}
	b.table, b.clock = cfg.Header.Table, cfg.Clock
	b.names = keyvalue.Names(cfg.Header)
	if b.dir, err = directory.Use(b.settings.dir, "badger"); err != nil {
		return err
	}
	b.Note(b.dir)
	exists, err := b.dir.Holds(manifest)
	if err != nil {
		return b.cannotOpen(err)
	}
	if !exists && !b.dir.Temporary {
		return nil
	}
	if err := b.open(); err != nil {
		return errors.Join(err, b.dir.Remove())
	}
	return nil
}

func (b *binding) open() (err error) {
	b.db, err = badger.Open(b.settings.options(b.dir.Path, &b.health))
	if err != nil {
		b.db = nil
		return b.cannotOpen(err)
	}
	if b.settings.collect > 0 {
		b.stop = make(chan struct{})
		b.collecting.Go(b.collect)
	}
	return nil
}

func (b *binding) cannotOpen(err error) error {
	hint := ""
	// The cause is wrapped in a way that errors.Is can't follow.
	if strings.Contains(err.Error(), "Another process is using") {
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
	if err := os.MkdirAll(b.dir.Path, 0o755); err != nil {
		return b.cannotOpen(err)
	}
	return b.open()
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
	err := b.db.DropPrefix(keyvalue.TableStart(nil, b.table))
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
	tx := b.db.NewTransaction(false)
	defer tx.Discard()
	it := tx.NewIterator(badger.IteratorOptions{Prefix: keyvalue.TableStart(nil, b.table)})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if n++; n%countCheck == 0 && ctx.Err() != nil {
			return 0, fmt.Errorf("count the records of table %q in %q: %w", b.table, b.dir.Path, ctx.Err())
		}
	}
	return n, nil
}

// Close closes the database, with every write in its files, and removes a
// temporary one.
func (b *binding) Close() error {
	var err error
	if b.db != nil {
		if b.stop != nil {
			close(b.stop)
			b.collecting.Wait()
			b.stop = nil
		}
		if err = b.db.Close(); err != nil {
			err = fmt.Errorf("close the badger database in %q: %w", b.dir.Path, err)
		}
		b.db = nil
	}
	return errors.Join(err, b.dir.Remove())
}
