// Package cassandra drives Apache Cassandra and what speaks its protocol, such
// as ScyllaDB, through github.com/gocql/gocql.
//
// # What an operation becomes
//
// One prepared statement of CQL, which is one round trip; READMODIFYWRITE is
// two. The texts are in Driver.Statements and in statements.go. INSERT, UPDATE
// and DELETE are blind, as CQL is: they don't look for the record, and an UPDATE
// of a record that isn't there creates it with the fields it writes. YCSB's
// binding does the same.
//
// Each write carries a timestamp from this process, which decides between
// writes of a cell. They are the microseconds of the clock, but never the same
// twice, so that two writes at a time don't leave a record half from one and
// half from the other.
//
// # The client
//
// All sessions share one session of gocql with a fixed number of connections to
// each node, over which requests are multiplexed; they go round the nodes in
// turn. Nothing is retried and nothing is sent twice at a time. Writes are not
// coalesced unless cassandra.coalesce says so: gocql's default waits 200 µs
// with each, which the Go runtime makes 1.3 ms of.
//
// A connection has 32767 streams, one for each request that is not answered,
// given up or not. When none is free gocql says what it says when every node is
// down, so requests are counted here, and refused as overloaded before that
// (see streams). When every node is down gocql fails within microseconds; such
// an operation is held back for up to 100 ms, so that nothing spins.
//
// # Durability
//
// A write is answered when as many replicas as its consistency level asks for
// have it in memory and in their commit log. When the log is on disk is up to
// the server's commitlog_sync, which the result has: with periodic, its default,
// the last writes before a crash, and even before a kill of the server's process
// alone, can be lost.
package cassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gocql/gocql"

	"pianola/bindings"
	"pianola/traces"
)

var (
	_ bindings.Binding       = (*binding)(nil)
	_ bindings.SchemaCreator = (*binding)(nil)
	_ bindings.Counter       = (*binding)(nil)
	_ bindings.Dropper       = (*binding)(nil)
	_ bindings.Reporter      = (*binding)(nil)
	_ bindings.Locator       = (*binding)(nil)
	_ bindings.Session       = (*session)(nil)
)

// Driver describes the binding.
var Driver = bindings.Driver{
	Name:    "cassandra",
	Aliases: []string{"cassandra-cql", "cassandra2-cql", "scylla"},
	Summary: "Apache Cassandra, ScyllaDB and others that speak CQL",
	Statements: `One prepared statement and one round trip for each operation, two for
READMODIFYWRITE. The names are those of the keyspace, the table and the fields.

READ             SELECT * FROM ycsb.usertable WHERE y_id = ? LIMIT 1
                 SELECT field0 FROM ... for named fields
UPDATE           UPDATE ycsb.usertable SET field0 = ? WHERE y_id = ?
INSERT           INSERT INTO ycsb.usertable (y_id, field0, ...) VALUES (?, ?, ...)
SCAN             SELECT * FROM ycsb.usertable WHERE token(y_id) >= token(?) LIMIT ?
READMODIFYWRITE  as READ, then as UPDATE; not atomic
DELETE           DELETE FROM ycsb.usertable WHERE y_id = ?

UPDATE, INSERT and DELETE are blind, as CQL is. An UPDATE of a record that isn't
there silently creates it, with the fields it writes; an INSERT takes the place
of a record that is there; a DELETE of nothing succeeds. YCSB does the same.
A SCAN goes on in the order of the partitioner's hash, as YCSB's does, not in
that of the keys.

The schema:

CREATE KEYSPACE ycsb WITH replication =
    {'class': 'SimpleStrategy', 'replication_factor': 1}
CREATE TABLE ycsb.usertable (y_id varchar PRIMARY KEY, field0 varchar, ...)

With cassandra.layout=clustered, scans are in the order of the keys. A record is
in one of cassandra.buckets partitions, by the FNV-1a hash of its key:

CREATE TABLE ycsb.usertable (bucket int, y_id varchar, field0 varchar, ...,
    PRIMARY KEY (bucket, y_id)) WITH comment = 'buckets=16'

SCAN             SELECT * FROM ycsb.usertable WHERE bucket IN (0, 1, ...)
                     AND y_id >= ? ORDER BY y_id LIMIT ?
others           bucket = ? AND before y_id = ?

The node that is asked merges a scan of all buckets. YCSB does not know this
table.

gocql multiplexes all operations over a few connections to each node, and goes
round the nodes in turn, whichever has the record. It retries nothing. It
prepares again what a node has forgotten, checks each connection every 5 s, and
fetches a further page where a node does not give a scan in one: the result
counts what was sent for operations and what on its own.`,
	Properties: properties,
	Kinds:      []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.ReadModifyWrite, traces.Delete},
	Place:      bindings.Remote,
	Slots:      bindings.DefaultSlots,
	New: func(p bindings.Properties) (bindings.Binding, error) {
		s, err := parseSettings(p)
		if err != nil {
			return nil, err
		}
		return &binding{settings: s}, nil
	},
}

type binding struct {
	settings   settings
	config     bindings.Config
	statements *statements
	db         *gocql.Session
	nodes      *nodes
	streams    *streams
	log        *log
	server     server
	times      timestamps

	// prepared is set once the table was looked at and all statements are
	// prepared.
	mu       sync.Mutex
	prepared bool

	// refused counts operations that were not sent because of too many, held
	// those that were held back because no node could be had.
	refused, held atomic.Uint64
}

// Open connects and waits until every connection is there.
func (b *binding) Open(ctx context.Context, cfg bindings.Config) error {
	b.config = cfg
	b.statements = newStatements(cfg.Header, &b.settings)
	b.nodes = newNodes()
	b.log = &log{}
	b.streams = &streams{nodes: b.nodes, limit: b.settings.inflight * int64(b.settings.connections)}
	b.nodes.gone = b.streams.forget
	if int64(cfg.Slots) > b.streams.limit {
		return fmt.Errorf("%d slots are more than the %d requests that cassandra.inflight and cassandra.coreconnections permit",
			cfg.Slots, b.streams.limit)
	}
	return b.connect(ctx)
}

// Local reports whether one of the hosts is this machine.
func (b *binding) Local() bool { return slices.ContainsFunc(b.settings.hosts, bindings.IsLocal) }

func (b *binding) Close() error {
	b.db.Close()
	return nil
}

// Session returns what one slot runs its operations on. The first prepares all
// statements.
func (b *binding) Session(ctx context.Context) (bindings.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.prepared {
		if err := b.prepare(ctx); err != nil {
			return nil, fmt.Errorf("cassandra at %s: %w", b.settings.address(), err)
		}
		b.prepared = true
	}
	return newSession(b), nil
}

// prepare checks the table and prepares the statements on every node.
func (b *binding) prepare(ctx context.Context) error {
	found, err := b.findTable(ctx)
	switch {
	case err != nil:
		return err
	case found == nil:
		return fmt.Errorf("there is no table %s\nload it first", b.statements.table)
	}
	if err := b.checkTable(ctx, found); err != nil {
		return err
	}
	return b.prepareAll(ctx, b.statements.usual(b.config.Header))
}

// errPrepared stops a statement that was prepared from being run.
var errPrepared = errors.New("it is prepared")

// preparers is the number of statements that are prepared at a time.
const preparers = 16

func (b *binding) prepareAll(ctx context.Context, list []*statement) error {
	work := make(chan *statement)
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for range preparers {
		all.Go(func() {
			for s := range work {
				if err := b.prepareOn(ctx, s); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	for _, s := range list {
		if failed.Load() != nil {
			break
		}
		work <- s
	}
	close(work)
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// prepareOn prepares a statement on every node that is up. The driver prepares
// one where it is about to run it, and chooses where; so this is asked again
// until every node was chosen.
func (b *binding) prepareOn(ctx context.Context, s *statement) error {
	missing := b.nodes.up()
	for attempts := 100 * len(missing); len(missing) > 0 && attempts > 0; attempts-- {
		stop := func(*gocql.QueryInfo) ([]any, error) { return nil, errPrepared }
		iter := b.db.Bind(s.text, stop).WithContext(ctx).Iter()
		host := iter.Host()
		if err := iter.Close(); err != errPrepared {
			return fmt.Errorf("prepare %q: %w", s.text, classed(err))
		}
		delete(missing, host.HostID())
	}
	return nil
}
