// Package mysql is MySQL or MariaDB, through the client go-sql-driver.
//
// # Layout
//
// It is that of YCSB's JDBC binding, so that data loaded by either can be read by
// the other: a table with a row for each record, the key in the column YCSB_KEY,
// each field in a column of its name. A table that we create sorts keys bytewise
// (utf8mb4_bin); one that exists keeps its order, and scans go by it. Either way
// blanks at the end of a key don't count, as the server compares.
//
// # What an operation becomes
//
// Every statement is prepared on every connection before the first operation:
// those over all fields and over each single field. A statement over another
// selection of fields is prepared when it first occurs, in one more round trip.
// Each statement is its own transaction.
//
//   - READ is SELECT of the fields where YCSB_KEY = ?: one round trip.
//   - UPDATE is UPDATE of the fields written: one round trip; not found if no
//     row was there. A row that has these values already counts as changed.
//   - INSERT is INSERT: one round trip; duplicate if the row exists.
//   - SCAN is SELECT where YCSB_KEY >= ? order by YCSB_KEY limit ?: one round
//     trip.
//   - READMODIFYWRITE is a READ, then an UPDATE: two round trips and two
//     transactions. Fields that it doesn't write stay as they are.
//   - DELETE is DELETE: one round trip; not found if no row was there.
//
// Values go over the wire as they are, and all columns of an answer are fetched.
// A value of megabytes is sent ahead of its statement, without a round trip.
//
// # Connections
//
// Each slot has a connection of its own, and one more serves the rest; so the
// server must take slots + 1. The client is used below Go's database/sql: there
// is no pool, no ping, no retry on a broken connection, and no statement is
// prepared a second time. An operation that is given up at its deadline closes
// its connection, as the protocol has no other way; the server may go on with the
// statement. The next operation of the slot connects again, within its own time;
// how often that was is in the result.
package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"pianola/bindings"
	"pianola/bindings/sqltable"
	"pianola/traces"
)

var (
	_ bindings.Binding       = (*binding)(nil)
	_ bindings.SchemaCreator = (*binding)(nil)
	_ bindings.Counter       = (*binding)(nil)
	_ bindings.Dropper       = (*binding)(nil)
	_ bindings.Locator       = (*binding)(nil)
	_ bindings.Reporter      = (*binding)(nil)
	_ bindings.Session       = (*session)(nil)
)

// Driver describes the binding.
var Driver = bindings.Driver{
	Name:    "mysql",
	Aliases: []string{"mariadb"},
	Summary: "MySQL or MariaDB, a row for each record, prepared statements",
	Statements: `The table is that of YCSB's JDBC binding. The names of table and fields are the
trace's.

CREATE TABLE IF NOT EXISTS usertable (YCSB_KEY varchar(255) CHARACTER SET utf8mb4
  COLLATE utf8mb4_bin PRIMARY KEY, field0 text, field1 text, ...)
  DEFAULT CHARACTER SET utf8mb4

READ             SELECT field0, ... FROM usertable WHERE YCSB_KEY = ?
UPDATE           UPDATE usertable SET field0 = ?, ... WHERE YCSB_KEY = ?
INSERT           INSERT INTO usertable (field0, ..., YCSB_KEY) VALUES (?, ...)
SCAN             SELECT field0, ..., YCSB_KEY FROM usertable WHERE YCSB_KEY >= ?
                 ORDER BY YCSB_KEY LIMIT ?
READMODIFYWRITE  READ, then UPDATE
DELETE           DELETE FROM usertable WHERE YCSB_KEY = ?
count            SELECT count(*) FROM usertable

One round trip each, READMODIFYWRITE two; each statement is a transaction of its
own. All are prepared before the first operation. Each slot has a connection of
its own: the server must take one more than there are slots. The client retries
nothing; how often it had to connect again is in the result.`,
	Properties: properties,
	Kinds:      []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.ReadModifyWrite, traces.Delete},
	Place:      bindings.Remote,
	Slots:      defaultSlots,
	New: func(p bindings.Properties) (bindings.Binding, error) {
		s, err := parseSettings(p)
		if err != nil {
			return nil, err
		}
		return &binding{settings: s}, nil
	},
}

// defaultSlots stays below the 151 connections that a server takes if nobody
// has changed it.
const defaultSlots = 64

type binding struct {
	settings settings
	clock    bindings.Clock
	table    sqltable.Table
	// control is for everything but operations.
	control *conn
	// reopened counts connections that were opened in place of a broken one.
	reopened atomic.Uint64
}

// conn is a connection of the client with what we use of it.
type conn struct {
	driver.Conn
	driver.Validator
	driver.QueryerContext
	driver.ExecerContext
	driver.ConnPrepareContext
}

// connectTimeout bounds the opening of a connection.
const connectTimeout = 5 * time.Second

// Open opens the connection that serves everything but operations.
func (b *binding) Open(ctx context.Context, cfg bindings.Config) (err error) {
	b.clock = cfg.Clock
	b.table = sqltable.New(cfg.Header, dialect)
	b.control, err = b.connect(ctx)
	return err
}

// connect opens a connection.
func (b *binding) connect(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	c, err := b.dial(ctx)
	if err == nil {
		return c, nil
	}
	if own := ctx.Err(); own != nil && !errors.Is(err, own) {
		err = fmt.Errorf("%w: %w", own, err)
	}
	hint := ""
	switch class(err) {
	case bindings.Unauthorised:
		hint = "\ngive the user by db.user and the password by " + passwordVariable + " or mysql.password-file"
	case bindings.Overloaded:
		hint = "\neach slot takes a connection: use fewer --slots"
	}
	return nil, fmt.Errorf("connect to mysql at %s: %w%s", b.settings.config.Addr, err, hint)
}

func (b *binding) dial(ctx context.Context) (*conn, error) {
	connector, err := mysql.NewConnector(b.settings.config)
	if err != nil {
		return nil, err
	}
	opened, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{
		opened, opened.(driver.Validator), opened.(driver.QueryerContext),
		opened.(driver.ExecerContext), opened.(driver.ConnPrepareContext),
	}
	if b.settings.isolation != "" {
		if _, err := c.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL "+b.settings.isolation, nil); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// controlling returns the connection for everything but operations, opened
// again if it broke.
func (b *binding) controlling(ctx context.Context) (*conn, error) {
	if b.control != nil && b.control.IsValid() {
		return b.control, nil
	}
	c, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	b.control = c
	return c, nil
}

// CreateSchema creates the table if there is none.
func (b *binding) CreateSchema(ctx context.Context) error {
	c, err := b.controlling(ctx)
	if err == nil {
		_, err = c.ExecContext(ctx, b.create(), nil)
	}
	if err != nil {
		return fmt.Errorf("create table %s at %s: %w", b.table.Name, b.settings.config.Addr, err)
	}
	return nil
}

// Drop drops the table.
func (b *binding) Drop(ctx context.Context) error {
	c, err := b.controlling(ctx)
	if err == nil {
		_, err = c.ExecContext(ctx, b.table.Drop(), nil)
	}
	if err != nil {
		return fmt.Errorf("drop table %s at %s: %w", b.table.Name, b.settings.config.Addr, err)
	}
	return nil
}

const noSuchTable = 1146

// Count counts the rows: exact, and takes time in proportion.
func (b *binding) Count(ctx context.Context) (uint64, error) {
	rows, err := b.ask(ctx, b.table.Count())
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && refused.Number == noSuchTable {
		return 0, nil
	}
	if err == nil && len(rows) == 1 {
		var n uint64
		if n, err = strconv.ParseUint(rows[0][0], 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("count the rows of table %s at %s: %w", b.table.Name, b.settings.config.Addr, err)
}

// ask returns an answer as text.
func (b *binding) ask(ctx context.Context, statement string) ([][]string, error) {
	c, err := b.controlling(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.QueryContext(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	var all [][]string
	values := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(values)
		if err == io.EOF {
			return all, rows.Close()
		}
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		row := make([]string, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case []byte:
				row[i] = string(v)
			case nil:
			default:
				row[i] = fmt.Sprint(v)
			}
		}
		all = append(all, row)
	}
}

// Session opens a connection and prepares the statements.
func (b *binding) Session(ctx context.Context) (bindings.Session, error) {
	s := &session{binding: b}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Local reports whether the server is on this machine.
func (b *binding) Local() bool { return bindings.IsLocal(b.settings.config.Addr) }

func (b *binding) Close() error {
	if b.control != nil {
		closeConn(b.control)
		b.control = nil
	}
	return nil
}

// closeConn tells the server goodbye. What goes wrong then is of no account:
// nothing is under way, and the connection is gone in any case.
func closeConn(c *conn) { c.Close() }
