// Package postgresql is PostgreSQL, through the client pgx.
//
// # Layout
//
// It is that of YCSB's JDBC binding, so that data loaded by either can be read by
// the other: a table with a row for each record, the key in the column ycsb_key,
// each field in a column of its name. YCSB writes names in capitals without
// quotes, which the server turns to small letters; so are ours. A table that we
// create sorts keys bytewise (COLLATE "C"); one that exists keeps its order, and
// scans go by it.
//
// # What an operation becomes
//
// Every statement is prepared on every connection before the first operation:
// those over all fields and over each single field. A statement over another
// selection of fields is prepared when it first occurs, in one more round trip.
// Each statement is its own transaction.
//
//   - READ is SELECT of the fields where ycsb_key = $1: one round trip.
//   - UPDATE is UPDATE of the fields written: one round trip; not found if no
//     row was there.
//   - INSERT is INSERT: one round trip; duplicate if the row exists.
//   - SCAN is SELECT where ycsb_key >= $1 order by ycsb_key limit $2: one
//     round trip.
//   - READMODIFYWRITE is a READ, then an UPDATE: two round trips and two
//     transactions. Fields that it doesn't write stay as they are.
//   - DELETE is DELETE: one round trip; not found if no row was there.
//
// Values go over the wire as they are (the binary format), and all columns of an
// answer are fetched.
//
// # Connections
//
// Each slot has a connection of its own, and one more serves the rest; so the
// server must take slots + 1, and two more where the load goes by COPY. The client
// hides nothing: no pool, no pings, no retries. At its deadline an operation is
// cancelled by a request on a connection of its own; if the server doesn't react
// within a second, the connection is closed. The next operation of the slot then
// connects again, within its own time; how often that was is in the result.
//
// # Loading by COPY
//
// A load is made of INSERTs like any phase, unless postgresql.load=copy is given.
// Then the INSERTs of phase load that wait at the same moment go together into
// one COPY, a transaction that is answered for all of them; two such are under
// way at most, on connections of their own. So there are never more rows in one
// than slots, and service includes the wait for the COPY before. Each operation
// keeps its deadline. One that is given up before its COPY begins is not written;
// one that is given up later may be, since the COPY goes on for the others. A COPY
// that the server refuses wrote nothing: its rows are inserted one by one, each
// with its own answer. The result counts statements, rows and refusals.
package postgresql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

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
	_ bindings.PhaseObserver = (*binding)(nil)
	_ bindings.Reporter      = (*binding)(nil)
	_ bindings.Session       = (*session)(nil)
)

// Driver describes the binding.
var Driver = bindings.Driver{
	Name:    "postgresql",
	Aliases: []string{"postgres", "pg"},
	Summary: "PostgreSQL, a row for each record, prepared statements",
	Statements: `The table is that of YCSB's JDBC binding. The names of table and fields are the
trace's, in small letters.

CREATE TABLE IF NOT EXISTS usertable (ycsb_key varchar(255) COLLATE "C"
  PRIMARY KEY, field0 text, field1 text, ...)

READ             SELECT field0, ... FROM usertable WHERE ycsb_key = $1
UPDATE           UPDATE usertable SET field0 = $1, ... WHERE ycsb_key = $11
INSERT           INSERT INTO usertable (field0, ..., ycsb_key) VALUES ($1, ...)
SCAN             SELECT field0, ..., ycsb_key FROM usertable WHERE ycsb_key >= $1
                 ORDER BY ycsb_key LIMIT $2
READMODIFYWRITE  READ, then UPDATE
DELETE           DELETE FROM usertable WHERE ycsb_key = $1
count            SELECT count(*) FROM usertable
load by COPY     COPY usertable (field0, ..., ycsb_key) FROM STDIN (FORMAT binary)

One round trip each, READMODIFYWRITE two; each statement is a transaction of its
own. All are prepared before the first operation. Each slot has a connection of
its own: the server must take one more than there are slots, or three more where
the load goes by COPY: with postgresql.load=copy the INSERTs of phase load that
wait at the same moment go together, up to one for each slot, and service
includes that wait; it takes many slots to be worth it. The rows of a COPY that
the server refuses are inserted one by one. Otherwise the client retries nothing;
how often it had to connect again is in the result.`,
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

// defaultSlots stays below the 100 connections that a server takes if nobody
// has changed it.
const defaultSlots = 64

type binding struct {
	settings settings
	clock    bindings.Clock
	table    sqltable.Table
	// control is for everything but operations.
	control *pgconn.PgConn
	// copier is nil unless it was asked for; it is used while copying.
	copier  *copier
	copying atomic.Bool
	// reopened counts connections that were opened in place of a broken one.
	reopened atomic.Uint64
}

const (
	// connectTimeout bounds the opening of a connection.
	connectTimeout = 5 * time.Second
	// cancelPatience is how long a cancelled statement is waited for.
	cancelPatience = time.Second
	closeTimeout   = time.Second
)

// Open opens the connection that serves everything but operations.
func (b *binding) Open(ctx context.Context, cfg bindings.Config) (err error) {
	b.clock = cfg.Clock
	b.table = sqltable.New(cfg.Header, dialect)
	if b.control, err = b.connect(ctx); err != nil || !b.settings.copyLoad {
		return err
	}
	if b.copier, err = newCopier(ctx, b); err != nil {
		closeConn(b.control)
	}
	return err
}

// PhaseStarts has the records of the load go by COPY, if that was asked for.
func (b *binding) PhaseStarts(name string, _ time.Duration) {
	b.copying.Store(b.copier != nil && name == traces.LoadPhase)
}

// connect opens a connection.
func (b *binding) connect(ctx context.Context) (*pgconn.PgConn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	c := b.settings.config.Copy()
	c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelPatience}
	}
	conn, err := pgconn.ConnectConfig(ctx, c)
	if err != nil {
		hint := ""
		switch class(err) {
		case bindings.Unauthorised:
			hint = "\ngive the user by db.user and the password by " + passwordVariable + " or postgresql.password-file"
		case bindings.Overloaded:
			hint = "\neach slot takes a connection: use fewer --slots"
		}
		// The cause comes last in the client's text; this keeps it in the tree.
		return nil, fmt.Errorf("connect to postgresql at %s: %w%s", b.settings.address(), err, hint)
	}
	return conn, nil
}

// controlling returns the connection for everything but operations, opened
// again if it broke.
func (b *binding) controlling(ctx context.Context) (*pgconn.PgConn, error) {
	if b.control != nil && !b.control.IsClosed() {
		return b.control, nil
	}
	var err error
	b.control, err = b.connect(ctx)
	return b.control, err
}

// CreateSchema creates the table if there is none.
func (b *binding) CreateSchema(ctx context.Context) error {
	conn, err := b.controlling(ctx)
	if err == nil {
		_, err = conn.Exec(ctx, b.create()).ReadAll()
	}
	if err != nil {
		return fmt.Errorf("create table %s at %s: %w", b.table.Name, b.settings.address(), err)
	}
	return nil
}

// Drop drops the table.
func (b *binding) Drop(ctx context.Context) error {
	conn, err := b.controlling(ctx)
	if err == nil {
		_, err = conn.Exec(ctx, b.table.Drop()).ReadAll()
	}
	if err != nil {
		return fmt.Errorf("drop table %s at %s: %w", b.table.Name, b.settings.address(), err)
	}
	return nil
}

const undefinedTable = "42P01"

// Count counts the rows: exact, and takes time in proportion.
func (b *binding) Count(ctx context.Context) (uint64, error) {
	value, err := b.ask(ctx, b.table.Count())
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == undefinedTable {
		return 0, nil
	}
	if err == nil {
		var n uint64
		if n, err = strconv.ParseUint(value, 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("count the rows of table %s at %s: %w", b.table.Name, b.settings.address(), err)
}

// ask returns the only value of an answer as text, or "".
func (b *binding) ask(ctx context.Context, statement string) (string, error) {
	conn, err := b.controlling(ctx)
	if err != nil {
		return "", err
	}
	results, err := conn.Exec(ctx, statement).ReadAll()
	if err != nil {
		return "", err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 1 {
		return "", nil
	}
	return string(results[0].Rows[0][0]), nil
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
func (b *binding) Local() bool { return bindings.IsLocal(b.settings.address()) }

func (b *binding) Close() error {
	if b.copier != nil {
		b.copier.close()
	}
	if b.control == nil {
		return nil
	}
	err := closeConn(b.control)
	b.control = nil
	return err
}

// closeConn tells the server goodbye; one that has broken has nothing to say.
func closeConn(conn *pgconn.PgConn) error {
	if conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	conn.Close(ctx)
	return nil
}
