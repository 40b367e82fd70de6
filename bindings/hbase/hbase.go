// Package hbase drives Apache HBase by a client of its own, over HBase's native
// protocol.
//
// # What an operation becomes
//
// YCSB's mapping: a record is a row, its key the row's, each field a column of
// one family. READ is a Get, UPDATE and INSERT are a Put, DELETE is a Delete of
// the row: each one call. A SCAN asks one region at a time for all that is
// missing; READMODIFYWRITE is a Get and a Put. The calls are in
// Driver.Statements.
//
// # The client
//
// It is a Pipeliner. The goroutine that issues operations finds the region in
// memory and writes the frame of the call to the socket, together with those of
// other operations that are due already; answers complete operations on the
// goroutine that reads them. Nothing waits for what is not due, nothing is merged
// into batches, nothing is allocated for a READ or an UPDATE.
//
// A server that does not serve a region any more has not done the operation: the
// region is looked up again and the call goes there, again and again until the
// operation's deadline. That time is the operation's service, and the result
// counts it. Nothing else is tried twice: a server that is overloaded, a
// connection that breaks and an answer that does not come are errors.
//
// Package wire has the bytes, package rpc the connections, package cluster the
// regions.
package hbase

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pianola/bindings"
	"pianola/bindings/hbase/cluster"
	"pianola/bindings/hbase/rpc"
	"pianola/traces"
)

var (
	_ bindings.Pipeliner     = (*binding)(nil)
	_ bindings.SchemaCreator = (*binding)(nil)
	_ bindings.Counter       = (*binding)(nil)
	_ bindings.Dropper       = (*binding)(nil)
	_ bindings.Reporter      = (*binding)(nil)
	_ bindings.Locator       = (*binding)(nil)
	_ bindings.Flusher       = (*pipeline)(nil)
	_ bindings.Session       = (*session)(nil)
)

// Driver describes the binding.
var Driver = bindings.Driver{
	Name:    "hbase",
	Aliases: []string{"hbase098", "hbase10", "hbase12", "hbase14", "hbase1", "hbase20", "hbase2"},
	Summary: "Apache HBase, by its native protocol",
	Statements: `A record is a row under its key, each field a column of one family, as YCSB has
it. Calls are those of the service ClientService of region servers.

READ             Get of the family, or of named columns     1 round trip; 1 more,
                 a Get of existence only, where none of the columns is there
UPDATE, INSERT   Put, a Mutate with one value for each field        1 round trip
SCAN             Scan with as many rows as are asked for, the scanner closed
                 with the answer: 1 round trip; 1 more for each further region,
                 and where an answer ends early by its size or its time
READMODIFYWRITE  as READ, then as UPDATE; not atomic               2 round trips
DELETE           Delete of the row, in all families                 1 round trip

Writes are blind, as HBase's are and YCSB leaves them: an UPDATE of a record that
isn't there creates it, an INSERT takes the place of fields that are there, a
DELETE of nothing succeeds. With hbase.checkinserts=true an INSERT is a Mutate on
the condition that the row lacks the first field written, else a duplicate.
A SCAN is in the order of the keys' bytes. One of named fields passes by records
that have none of them.

The load creates the table if it is missing, with one family, split into regions
at keys of the trace that share the records out evenly:

create 'usertable', {NAME => 'family'}, {SPLITS => [...], SPLIT_POLICY =>
    'org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy'}

The policy keeps the regions what they are during a run; hbase.autosplit=true
leaves it out.

The count before a run reads one key of each row.

The client is our own. It retries nothing but what a server says that it has not
done since the region is elsewhere; looks up where regions are when it starts and
when they are elsewhere; merges nothing and caches no record. The result counts
what it did.`,
	Properties: properties,
	Kinds:      []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.ReadModifyWrite, traces.Delete},
	Place:      bindings.Remote,
	Slots:      slots,
	New: func(p bindings.Properties) (bindings.Binding, error) {
		s, err := parseSettings(p)
		if err != nil {
			return nil, err
		}
		return &binding{settings: s}, nil
	},
}

// slots is fewer than a region server's queue has places for calls: 10 for each
// of 30 handlers. It refuses those beyond.
const slots = 256

type binding struct {
	settings settings
	config   bindings.Config
	clock    bindings.Clock
	table    string
	cluster  *cluster.Cluster
	traffic  rpc.Traffic
	// version is the servers', "unknown" if they don't tell.
	version string
	servers int
	// names holds those of the header's fields, so that reading needs none of
	// its own.
	names map[string]string

	// life ends with Close; searches are operations that look for their region.
	life     context.Context
	end      context.CancelFunc
	searches sync.WaitGroup

	// elsewhere counts calls whose region was elsewhere, scanners those opened
	// again, held operations that were held back: no server could be had.
	elsewhere, scanners, held atomic.Uint64

	mu    sync.Mutex
	ready bool
}

// connectTimeout bounds Open: an address that swallows everything must be named
// soon.
const connectTimeout = 20 * time.Second

// Open finds the master and asks it for its version.
func (b *binding) Open(ctx context.Context, cfg bindings.Config) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	b.config, b.clock, b.table = cfg, cfg.Clock, cfg.Header.Table
	b.life, b.end = context.WithCancel(context.Background())
	b.names = make(map[string]string, cfg.Header.Fields.Count)
	for i := range cfg.Header.Fields.Count {
		name := cfg.Header.Fields.Name(i)
		b.names[name] = name
	}
	b.cluster = cluster.New(b.settings.cluster(b))
	var err error
	if b.version, b.servers, err = b.cluster.Describe(ctx); err != nil {
		b.end()
		b.cluster.Close()
		return b.placed(err)
	}
	return nil
}

// placed says where an error is from, and gives it its class.
func (b *binding) placed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("hbase at %s: %w", b.settings.address(), cluster.Classed(err))
}

// Local reports whether one of the servers is on this machine.
func (b *binding) Local() bool {
	return slices.ContainsFunc(append(b.cluster.Servers(), b.settings.addresses...), bindings.IsLocal)
}

// Close answers the operations that are under way with an error.
func (b *binding) Close() error {
	b.end()
	b.cluster.Close()
	b.searches.Wait()
	return nil
}

// CreateSchema creates the table if it is missing.
func (b *binding) CreateSchema(ctx context.Context) error {
	exists, _, err := b.cluster.Schema(ctx)
	if err != nil {
		return b.placed(err)
	}
	if exists {
		return nil // whether it fits is looked at before the first operation
	}
	regions := b.settings.splits
	if regions == 0 {
		regions = regionsPerServer * max(b.servers, 1)
	}
	return b.placed(b.cluster.Create(ctx, b.settings.family, splits(b.config.Header, regions), b.settings.autoSplit))
}

// Drop removes the table.
func (b *binding) Drop(ctx context.Context) error { return b.placed(b.cluster.Drop(ctx)) }

// Count counts the records: the rows with a field.
func (b *binding) Count(ctx context.Context) (uint64, error) {
	exists, _, err := b.cluster.Schema(ctx)
	if err != nil || !exists {
		return 0, b.placed(err)
	}
	n, err := b.cluster.Count(ctx, b.settings.family)
	return n, b.placed(err)
}

// prepare looks at the table, learns its regions and connects to their servers.
// The first session does it.
func (b *binding) prepare(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ready {
		return nil
	}
	if err := b.checkTable(ctx); err != nil {
		return b.placed(err)
	}
	if err := b.cluster.Load(ctx); err != nil {
		return b.placed(err)
	}
	b.ready = true
	return nil
}

func (b *binding) checkTable(ctx context.Context) error {
	exists, families, err := b.cluster.Schema(ctx)
	switch {
	case err != nil:
		return err
	case !exists:
		return fmt.Errorf("there is no table %q\nload it first", b.table)
	case !slices.Contains(families, b.settings.family):
		return fmt.Errorf("table %q has no family %q\nit has %s", b.table, b.settings.family, strings.Join(families, ", "))
	}
	enabled, err := b.cluster.Enabled(ctx)
	if err == nil && !enabled {
		err = fmt.Errorf("table %q is disabled", b.table)
	}
	return err
}

// name returns the name of a column as a string.
func (b *binding) name(column []byte) string {
	if name, ok := b.names[string(column)]; ok {
		return name
	}
	return string(column)
}

// Pipeline returns the session that serves all slots.
func (b *binding) Pipeline(ctx context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	p := &pipeline{binding: b, sink: sink}
	p.answer = p.answered
	return p, nil
}

// Session returns what one slot runs its operations on.
func (b *binding) Session(ctx context.Context) (bindings.Session, error) {
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	s := &session{operation: operation{binding: b}, done: make(chan error, 1)}
	s.answer = func(_ *operation, _ *bindings.Op, err error) { s.done <- err }
	return s, nil
}
