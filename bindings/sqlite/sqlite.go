// Package sqlite is SQLite in this process, by a translation of its C to Go that
// needs no C compiler: SQL and B-trees in one file, with a write-ahead log.
//
// # Layout
//
// It is that of YCSB's JDBC binding: a table with a row for each record, the key
// in the column YCSB_KEY, each field in a column of its name. Keys are text, and
// sorted bytewise; values are blobs, so that any byte can be in them. A table
// that YCSB has loaded, with values of type text, is read as well.
//
// # What an operation becomes
//
// Every statement is prepared on every connection before the first operation:
// those over all fields and over each single field. A statement over another
// selection of fields is prepared when it first occurs. Each statement is its
// own transaction.
//
//   - READ is SELECT of the fields where YCSB_KEY = ?.
//   - UPDATE is UPDATE of the fields written; not found if no row was there.
//   - INSERT is INSERT; duplicate if the row exists.
//   - SCAN is SELECT where YCSB_KEY >= ? order by YCSB_KEY limit ?.
//   - READMODIFYWRITE is a READ, then an UPDATE: two transactions.
//   - DELETE is DELETE; not found if no row was there.
//
// # One writer
//
// Each slot has a connection of its own. In the mode used, WAL, they read while
// one writes; SQLite takes one writer at a time. It would tell the others that it
// is busy, or let them sleep and try again; both are off. Operations of this
// process queue for it in this package, so that their waits are in the result;
// they are part of service. Where another program writes to the file meanwhile,
// the answer is of class unavailable.
//
// The client is used below Go's database/sql: no pool, no retry.
//
// # Durability
//
// With sqlite.sync=true (synchronous=FULL) a write is answered when the log is on
// disk. With sqlite.sync=false (NORMAL) it is answered when the operating system
// has the log: a crash of this process loses nothing, one of the machine the last
// ones, and the file stays sound.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pianola/bindings"
	"pianola/bindings/directory"
	"pianola/bindings/sqltable"
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
	Name:    "sqlite",
	Aliases: []string{"sqlite3"},
	Summary: "SQLite, embedded SQL in one file, by a translation to Go",
	Statements: `The table is that of YCSB's JDBC binding. The names of table and fields are the
trace's. No round trips: every statement is work of this process.

CREATE TABLE IF NOT EXISTS usertable (YCSB_KEY varchar(255) NOT NULL PRIMARY KEY,
  field0 blob, field1 blob, ...)

READ             SELECT field0, ... FROM usertable WHERE YCSB_KEY = ?
UPDATE           UPDATE usertable SET field0 = ?, ... WHERE YCSB_KEY = ?
INSERT           INSERT INTO usertable (field0, ..., YCSB_KEY) VALUES (?, ...)
SCAN             SELECT field0, ..., YCSB_KEY FROM usertable WHERE YCSB_KEY >= ?
                 ORDER BY YCSB_KEY LIMIT ?
READMODIFYWRITE  READ, then UPDATE
DELETE           DELETE FROM usertable WHERE YCSB_KEY = ?
count            SELECT count(*) FROM usertable

Each statement is a transaction of its own; all are prepared before the first
operation, on a connection for each slot. One write runs at a time. How often and
how long writes waited for each other is in the result.`,
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
	Volatile: func(p bindings.Properties) bool { return p["sqlite.dir"] == "" },
}

// fileName is that of the database in its directory.
const fileName = "sqlite.db"

type binding struct {
	settings settings
	table    sqltable.Table
	dir      directory.Directory
	directory.Mark
	clock bindings.Clock
	turn  *writer.Turn
	// control is for everything but operations, and nil while there is no
	// database in the directory.
	control *conn
}

// Open opens the database in the directory. Where there is none it waits for
// CreateSchema, but for a temporary one.
func (b *binding) Open(ctx context.Context, cfg bindings.Config) (err error) {
	b.table = sqltable.New(cfg.Header, dialect)
	b.turn, b.clock = writer.NewTurn(cfg.Clock), cfg.Clock
	if b.dir, err = directory.Use(b.settings.dir, "sqlite"); err != nil {
		return err
	}
	b.Note(b.dir)
	exists, err := b.dir.Holds(fileName)
	if err != nil {
		return b.cannotOpen(err)
	}
	switch {
	case exists:
		err = b.open(ctx)
	case b.dir.Temporary:
		err = b.CreateSchema(ctx)
	}
	if err != nil {
		return errors.Join(err, b.Close())
	}
	return nil
}

func (b *binding) path() string { return filepath.Join(b.dir.Path, fileName) }

// open opens the connection that serves everything but operations. The log's
// mode is the file's: the others find it.
func (b *binding) open(ctx context.Context) error {
	c, err := connect(ctx, b.path(), b.settings.pragmas()...)
	if err != nil {
		return b.cannotOpen(err)
	}
	b.control = c
	if mode, err := c.ask(ctx, "PRAGMA journal_mode=WAL"); err != nil || mode != "wal" {
		return b.cannotOpen(errors.Join(fmt.Errorf("the journal's mode is %q, not wal", mode), err))
	}
	return nil
}

func (b *binding) cannotOpen(err error) error {
	hint := ""
	if code(err) == sqliteBusy {
		hint = "\nanother program has it open"
	}
	return fmt.Errorf("database directory %q: %w%s", b.dir.Path, err, hint)
}

// CreateSchema makes the database and the table where they are missing.
func (b *binding) CreateSchema(ctx context.Context) error {
	if b.control == nil {
		if err := os.MkdirAll(b.dir.Path, 0o755); err != nil {
			return b.cannotOpen(err)
		}
		if err := b.open(ctx); err != nil {
			return err
		}
	}
	b.turn.Take()
	defer b.turn.Give()
	if _, err := b.control.ask(ctx, b.table.Create("varchar(255) NOT NULL PRIMARY KEY", "blob", "")); err != nil {
		return fmt.Errorf("create table %s in %q: %w", b.table.Name, b.dir.Path, err)
	}
	return nil
}

// Session opens a connection and prepares the statements.
func (b *binding) Session(ctx context.Context) (bindings.Session, error) {
	if b.control == nil {
		return nil, b.cannotOpen(errors.New("it holds no database yet\nload it first"))
	}
	c, err := connect(ctx, b.path(), b.settings.pragmas()...)
	if err != nil {
		return nil, b.cannotOpen(err)
	}
	s := &session{binding: b, conn: c, prepared: map[sqltable.Shape]statement{}}
	for _, of := range b.table.Shapes() {
		if s.prepared[of], err = c.prepare(b.table.Statement(of)); err != nil {
			return nil, errors.Join(fmt.Errorf("prepare the statements on table %s in %q: %w", b.table.Name, b.dir.Path, err), s.Close())
		}
	}
	return s, nil
}

// Drop removes the table.
func (b *binding) Drop(ctx context.Context) error {
	if b.control == nil {
		return nil
	}
	if _, err := b.control.ask(ctx, b.table.Drop()); err != nil {
		return fmt.Errorf("remove table %s in %q: %w", b.table.Name, b.dir.Path, err)
	}
	return nil
}

// Count counts the rows: exact, and takes time in proportion.
func (b *binding) Count(ctx context.Context) (uint64, error) {
	if b.control == nil {
		return 0, nil
	}
	there, err := b.control.ask(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", b.table.Bare)
	if err != nil || there == "0" {
		return 0, b.cannotCount(err)
	}
	var n uint64
	text, err := b.control.ask(ctx, b.table.Count())
	if err == nil {
		_, err = fmt.Sscan(text, &n)
	}
	return n, b.cannotCount(err)
}

func (b *binding) cannotCount(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("count the rows of table %s in %q: %w", b.table.Name, b.dir.Path, err)
}

// Close closes the database, which moves the log into its file, and removes a
// temporary one.
func (b *binding) Close() error {
	var err error
	if b.control != nil {
		if err = b.control.Close(); err != nil {
			err = fmt.Errorf("close the sqlite database in %q: %w", b.dir.Path, err)
		}
		b.control = nil
	}
	return errors.Join(err, b.dir.Remove())
}
