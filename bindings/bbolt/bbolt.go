// Package bbolt is bbolt, etcd's store, in this process: a B+ tree in one file,
// mapped into memory, with one writer at a time. It stands against pebble, the
// log-structured default: reads cost next to nothing, writes wait for each other.
//
// # What an operation becomes
//
// The table is a bucket. Each operation is a transaction of its own; Batch,
// which waits for company, is not used.
//
//   - READ is one Get in a read transaction. All fields come from the store as
//     one value; those that are asked for are decoded.
//   - INSERT is Get, then Put: duplicate if the record is there. The look costs
//     little, as Put goes the same way down the tree.
//   - UPDATE and READMODIFYWRITE are Get, merge, Put: the record is one value,
//     so a field can't be written alone. Not found if there is none.
//   - SCAN is a cursor from the key on, in the byte order of the keys, read to
//     the length asked for.
//   - DELETE is Get, then Delete: not found if there is none.
//
// # One writer
//
// The store takes one write transaction at a time. Operations queue for it in
// this package, in front of the store's own lock, so that their waits are in the
// result; they are part of service. Where the file outgrows what is mapped, the
// writer also waits for the read transactions under way: see bbolt.mmap.
//
// # Durability
//
// With bbolt.sync=true, bbolt's own default, a write is answered when its pages
// are on disk: two syncs for each, and nobody shares them. With bbolt.sync=false
// it is answered when the operating system has them. A crash of this process
// then loses nothing, but one of the machine can leave a file that can't be
// opened.
//
// # Keys and records
//
// The key in the bucket is the operation's; it is 1 to 32768 bytes long. The
// value is the record: see keyvalue.AppendRecord.
package bbolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"pianola/bindings"
	"pianola/bindings/directory"
	"pianola/bindings/keyvalue"
	"pianola/bindings/writer"
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
	Name:    "bbolt",
	Aliases: []string{"boltdb", "bolt"},
	Summary: "etcd's embedded B+ tree, in one file",
	Statements: `No round trips: every operation is work of this process, and a transaction of its
own. The table is a bucket; all fields of a record are one value.

READ             Get; the fields asked for are decoded
UPDATE           Get, merge, Put; not found if there is none
INSERT           Get, Put; duplicate if there is one
SCAN             a cursor from the key on, in the byte order of the keys
READMODIFYWRITE  as UPDATE, and the fields asked for are decoded
DELETE           Get, Delete; not found if there is none

One write runs at a time. How often and how long writes waited for each other is
in the result.`,
	Properties: properties,
	Kinds:      []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.ReadModifyWrite, traces.Delete},
	Place:      bindings.Embedded,
	Slots:      bindings.DefaultSlotsEmbedded,
	New: func(p bindings.Properties) (bindings.Binding, error) {
		s, err := parseSettings(p)
		if err != nil {
			return nil, err
		}
		return &binding{settings: s}, nil
	},
	Volatile: func(p bindings.Properties) bool { return p["bbolt.dir"] == "" },
}

// fileName is that of the database in its directory.
const fileName = "bbolt.db"

type binding struct {
	settings settings
	// table is the trace's; names are those of its fields.
	table string
	names map[string]string
	dir   directory.Directory
	directory.Mark
	clock bindings.Clock
	turn  *writer.Turn
	// db is nil while there is no database in the directory.
	db *bbolt.DB
}

// Open opens the database in the directory. Where there is none it waits for
// CreateSchema, but for a temporary one.
func (b *binding) Open(_ context.Context, cfg bindings.Config) (err error) {
	b.table, b.clock = cfg.Header.Table, cfg.Clock
	b.names = keyvalue.Names(cfg.Header)
	b.turn = writer.NewTurn(cfg.Clock)
	if b.table == "" {
		return errors.New("table name \"\" is empty, which bbolt takes for no bucket")
	}
	if b.dir, err = directory.Use(b.settings.dir, "bbolt"); err != nil {
		return err
	}
	b.Note(b.dir)
	exists, err := b.dir.Holds(fileName)
	if err != nil {
		return b.cannotOpen(err)
	}
	if exists {
		return b.open()
	}
	if !b.dir.Temporary {
		return nil
	}
	if err := b.CreateSchema(context.Background()); err != nil {
		return errors.Join(err, b.Close())
	}
	return nil
}

func (b *binding) open() (err error) {
	b.db, err = bbolt.Open(filepath.Join(b.dir.Path, fileName), 0o600, b.settings.options())
	if err != nil {
		b.db = nil
		return b.cannotOpen(err)
	}
	return nil
}

func (b *binding) cannotOpen(err error) error {
	hint := ""
	if errors.Is(err, bolterrors.ErrTimeout) {
		hint = "\nanother program has it open"
	}
	return fmt.Errorf("database directory %q: %w%s", b.dir.Path, err, hint)
}

// CreateSchema makes the database and the table's bucket where they are
// missing.
func (b *binding) CreateSchema(context.Context) error {
	if b.db == nil {
		if err := os.MkdirAll(b.dir.Path, 0o755); err != nil {
			return b.cannotOpen(err)
		}
		if err := b.open(); err != nil {
			return err
		}
	}
	err := b.db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte(b.table))
		return err
	})
	if err != nil {
		return fmt.Errorf("make the bucket of table %q in %q: %w", b.table, b.dir.Path, err)
	}
	return nil
}

// Session returns one on a database that is there, with the table's bucket.
func (b *binding) Session(context.Context) (bindings.Session, error) {
	if b.db == nil {
		return nil, b.cannotOpen(errors.New("it holds no database yet\nload it first"))
	}
	err := b.db.View(func(tx *bbolt.Tx) error {
		if tx.Bucket([]byte(b.table)) == nil {
			return fmt.Errorf("it holds no bucket %q\nload it first", b.table)
		}
		return nil
	})
	if err != nil {
		return nil, b.cannotOpen(err)
	}
	return &session{binding: b, db: b.db}, nil
}

// Drop deletes the trace's bucket.
func (b *binding) Drop(context.Context) error {
	if b.db == nil {
		return nil
	}
	err := b.db.Update(func(tx *bbolt.Tx) error {
		if tx.Bucket([]byte(b.table)) == nil {
			return nil
		}
		return tx.DeleteBucket([]byte(b.table))
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
	err = b.db.View(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte(b.table))
		if bucket == nil {
			return nil
		}
		cursor := bucket.Cursor()
		for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
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

// Close closes the database, with every write on disk, and removes a temporary
// one.
func (b *binding) Close() error {
	var err error
	if b.db != nil {
		if !b.settings.sync && !b.dir.Temporary {
			err = b.db.Sync()
		}
		if err = errors.Join(err, b.db.Close()); err != nil {
			err = fmt.Errorf("close the bbolt database in %q: %w", b.dir.Path, err)
		}
		b.db = nil
	}
	return errors.Join(err, b.dir.Remove())
}
