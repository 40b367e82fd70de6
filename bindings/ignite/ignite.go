// Package ignite is Apache Ignite 2.9 and later through a thin client of our
// own; see the package thin for what that does on the wire.
//
// # Layout
//
// It is YCSB's: a cache with the name of the table, whose keys are texts and
// whose values are binary objects of the type CustomType with a text for each
// field. So data loaded by either can be read by the other. With ignite.values=
// bytes the fields are byte arrays instead, which hold any byte. The cache is
// created with a table for SQL over it: the key as the column ycsb_key, and the
// fields.
//
// # What an operation becomes
//
//   - READ is a get of the whole object: one round trip, whichever fields are
//     wanted.
//   - UPDATE is a get and a put of the object with the fields changed: two round
//     trips, not atomic. Who changes another field between them has done it in
//     vain. With ignite.update=invoke it is an entry processor that runs where
//     the record is, as YCSB's is, but for its class, which must be on the
//     servers: one round trip, atomic. With ignite.update=sql it is an UPDATE by
//     the key: one round trip, and two at a time on one key may fail as a
//     conflict.
//   - INSERT is a put: one round trip. It takes the place of a record that
//     exists, and can't tell.
//   - READMODIFYWRITE is a get, and then the put, the processor or the UPDATE.
//   - SCAN is a SELECT over the index of the key, in pages of 1024 records: one
//     round trip for each. It goes in the order of Java's strings, that of UTF-16
//     units, which is the order of bytes but for characters beyond U+FFFF.
//   - DELETE is a remove, which tells whether there was a record.
//
// # Connections
//
// All slots share ignite.connections connections to each of the hosts. A request
// is sent at once; what is queued when the writer comes to it goes out in one
// write, and nothing waits to gather more. With several hosts an operation on a
// key goes to the node that has its primary copy, where that is one of them.
// The server carries out requests of one connection in any order: with several
// operations on one key in flight, --order key keeps theirs.
//
// # What the client hides
//
// Nothing is retried and nothing kept. A connection that breaks fails what is in
// flight, which may have been carried out, and is opened again; an operation
// that meets no connection at all is answered 5 ms later at most, so that slots
// don't spin. What is given up at its deadline may be carried out later.
package ignite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pianola/bindings"
	"pianola/bindings/ignite/thin"
	"pianola/traces"
)

var (
	_ bindings.Pipeliner     = (*binding)(nil)
	_ bindings.SchemaCreator = (*binding)(nil)
	_ bindings.Counter       = (*binding)(nil)
	_ bindings.Dropper       = (*binding)(nil)
	_ bindings.Locator       = (*binding)(nil)
	_ bindings.Reporter      = (*binding)(nil)
	_ bindings.Pipeline      = (*pipeline)(nil)
	_ bindings.Session       = (*session)(nil)
)

// Driver describes the binding.
var Driver = bindings.Driver{
	Name:    "ignite",
	Aliases: []string{"ignite-sql"},
	Summary: "Apache Ignite 2, a binary object for each record, by a thin client of our own",
	Statements: `A record is a binary object of the type CustomType with a text for each field,
in the cache named like the table, under its key as a text.

READ             get                                   1 round trip
UPDATE           get, put                              2 round trips, not atomic
                 with ignite.update=invoke: the entry processor
                 ` + processorClass + `           1 round trip
                 with ignite.update=sql: UPDATE usertable SET field0 = ?
                 WHERE _key = ?                        1 round trip
INSERT           put; takes the place of a record      1 round trip
                 that exists
SCAN             SELECT _key, _val FROM usertable WHERE ycsb_key >= ?
                 ORDER BY ycsb_key LIMIT ?             1 round trip for each 1024
                 records
READMODIFYWRITE  get, then the put, the processor or the UPDATE
DELETE           remove                                1 round trip
count            the size of the cache, without backups

A cache that is missing is created: partitioned, with the backups, the sync mode
and the atomicity of the properties, and a query entity with the key as the
column ycsb_key. Operations on one key that are in flight together may be
carried out in any order: --order key keeps theirs. Nothing is retried.`,
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

// processorClass sets fields where the record is; its source is with the server
// for tests.
const processorClass = "pianola.ignite.SetFields"

type binding struct {
	settings settings
	clock    bindings.Clock
	scans    bool
	client   *thin.Client
	cache    *thin.Cache
	layout   *layout
	queries  queries

	mu       sync.Mutex
	prepared bool
	idle     []*work
	before   cluster
}

// Open connects to every host.
func (b *binding) Open(ctx context.Context, cfg bindings.Config) error {
	h := cfg.Header
	b.clock = cfg.Clock
	for i := range h.Phases {
		b.scans = b.scans || slices.ContainsFunc(h.Phases[i].Mix, func(s traces.Share) bool { return s.Kind == traces.Scan })
	}
	name := b.settings.cache
	if name == "" {
		name = h.Table
	}
	var err error
	b.client, err = thin.Dial(ctx, thin.Options{
		Addresses: b.settings.hosts, Connections: b.settings.connections,
		User: b.settings.user, Password: b.settings.password, TLS: b.settings.tls,
		ConnectTimeout: b.settings.timeout, Now: cfg.Clock.Now,
	})
	if err != nil {
		hint := ""
		if class(err) == bindings.Unauthorised {
			hint = "\ngive the user by ignite.username, the password by " + passwordVariable + " or ignite.password-file"
		}
		return fmt.Errorf("connect to ignite: %w%s", err, hint)
	}
	names := make([]string, h.Fields.Count)
	for i := range names {
		names[i] = h.Fields.Name(i)
	}
	b.cache = b.client.Cache(name)
	b.layout = newLayout(names, b.settings.bytes)
	b.queries = newQueries(h.Table, names)
	return nil
}

// CreateSchema creates the cache with its table, unless it is there.
func (b *binding) CreateSchema(ctx context.Context) error {
	if err := b.register(ctx); err != nil {
		return err
	}
	class := "java.lang.String"
	if b.settings.bytes {
		class = "[B"
	}
	fields := []thin.QueryField{{Name: keyColumn, Type: "java.lang.String", Key: true}}
	for _, f := range b.layout.of.Fields {
		fields = append(fields, thin.QueryField{Name: f.Name, Type: class})
	}
	return b.client.CreateCache(ctx, &thin.CacheConfig{
		Name: b.cache.Name, Atomicity: b.settings.atomicity, Backups: b.settings.backups, Sync: b.settings.sync, OnHeap: b.settings.onHeap,
		Entities: []thin.QueryEntity{{
			KeyType: "java.lang.String", ValueType: typeName, Table: b.queries.table, KeyField: keyColumn, Fields: fields,
		}},
	})
}

// register tells the cluster of what will be sent: an object of a type that is
// not known would hang for half a minute.
func (b *binding) register(ctx context.Context) error {
	if err := b.client.RegisterType(ctx, b.layout.of); err != nil {
		return fmt.Errorf("%w\nfields of another type were stored once: set ignite.values, or restart the cluster", err)
	}
	if b.settings.update == byInvoke {
		return b.client.RegisterClass(ctx, b.layout.processor)
	}
	return nil
}

// prepareTimeout bounds what is asked before the first operation.
const prepareTimeout = 30 * time.Second

// prepare does once what may not fall into the first operations.
func (b *binding) prepare(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.prepared {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	if err := b.register(ctx); err != nil {
		return err
	}
	info, err := b.client.TypeInfo(ctx, b.layout.of.ID)
	if err != nil {
		return err
	}
	b.layout.learn(info)
	if err := b.cache.Track(ctx); err != nil {
		return fmt.Errorf("ask which node has what: %w", err)
	}
	if err := b.tryQuery(ctx); err != nil && (b.scans || b.settings.update == bySQL) {
		return fmt.Errorf("%w\nSCAN and ignite.update=sql need a cache with a table over it, and servers with the module ignite-indexing", err)
	}
	b.before = b.look(ctx)
	b.prepared = true
	return nil
}

// tryQuery runs the query of a SCAN once: a server may take a table and know no
// SQL.
func (b *binding) tryQuery(ctx context.Context) error {
	rows, err := b.cache.Query(ctx, thin.Query{Text: b.queries.scan, Args: []any{"", int32(1)}})
	if err != nil {
		return err
	}
	for rows.Next(ctx) {
	}
	return errors.Join(rows.Err(), rows.Close(ctx))
}

// Drop destroys the cache with its table.
func (b *binding) Drop(ctx context.Context) error {
	err := b.cache.Destroy(ctx)
	if isNoCache(err) {
		return nil
	}
	return err
}

// Count returns the number of entries of the cache, 0 if there is no cache.
func (b *binding) Count(ctx context.Context) (uint64, error) {
	n, err := b.cache.Size(ctx)
	if isNoCache(err) {
		return 0, nil
	}
	return n, err
}

func isNoCache(err error) bool {
	var s *thin.ServerError
	return errors.As(err, &s) && s.Status == thin.StatusNoCache
}

// Local reports whether a node is on this machine.
func (b *binding) Local() bool { return slices.ContainsFunc(b.settings.hosts, bindings.IsLocal) }

// Close closes the connections.
func (b *binding) Close() error {
	if b.client == nil {
		return nil
	}
	return b.client.Close()
}

// Pipeline returns what takes operations without waiting.
func (b *binding) Pipeline(ctx context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	return &pipeline{binding: b, sink: sink}, nil
}

type pipeline struct {
	binding *binding
	sink    bindings.Sink
}

func (p *pipeline) Issue(op *bindings.Op) { p.binding.take().begin(op, p.sink, op.Deadline) }
func (p *pipeline) Close() error          { return nil }

// Session returns what runs one operation at a time, on the connections of all.
func (b *binding) Session(ctx context.Context) (bindings.Session, error) {
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	return &session{binding: b, answer: make(chan error, 1)}, nil
}

type session struct {
	binding *binding
	answer  chan error
}

// Do gives an operation up at its deadline or the context's, the earlier; one
// that is under way when the context is cancelled is waited for.
func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	if err := ctx.Err(); err != nil {
		return classed(err)
	}
	deadline := op.Deadline
	if at, ok := ctx.Deadline(); ok {
		end := s.binding.clock.Now() + time.Until(at)
		if deadline == 0 || end < deadline {
			deadline = max(end, 1)
		}
	}
	s.binding.take().begin(op, s, deadline)
	return <-s.answer
}

func (s *session) Done(_ *bindings.Op, err error) { s.answer <- err }
func (s *session) Close() error                   { return nil }

// take returns memory for an operation.
func (b *binding) take() *work {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.idle); n > 0 {
		w := b.idle[n-1]
		b.idle = b.idle[:n-1]
		return w
	}
	return &work{binding: b}
}

func (b *binding) put(w *work) {
	b.mu.Lock()
	b.idle = append(b.idle, w)
	b.mu.Unlock()
}

// keyColumn is the column that is the key; its name is YCSB's.
const keyColumn = "ycsb_key"

// queries are the statements. Names of columns and tables are in capitals, as
// the server makes them.
type queries struct {
	table, scan string
	// updates has a statement for each field alone.
	updates []string
}

func newQueries(table string, fields []string) queries {
	q := queries{table: strings.ToUpper(table)}
	q.scan = "SELECT _KEY, _VAL FROM " + quoted(q.table) + " WHERE " + strings.ToUpper(keyColumn) + " >= ? ORDER BY " + strings.ToUpper(keyColumn) + " LIMIT ?"
	for _, f := range fields {
		q.updates = append(q.updates, q.update(f))
	}
	return q
}

// update returns the statement that changes some fields.
func (q *queries) update(fields ...string) string {
	sets := make([]string, len(fields))
	for i, f := range fields {
		sets[i] = quoted(strings.ToUpper(f)) + " = ?"
	}
	return "UPDATE " + quoted(q.table) + " SET " + strings.Join(sets, ", ") + " WHERE _KEY = ?"
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
