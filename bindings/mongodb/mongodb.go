// Package mongodb drives MongoDB, and servers that speak its protocol, through
// the official client.
//
// # What an operation becomes
//
// A table is a collection, a record a document as YCSB stores it: _id is the
// key as a string, every field is binary data. Each command is one round trip.
//
//   - READ is find with the filter {_id: key}, limit 1 and singleBatch. Fields
//     that are asked for are a projection; _id comes with them.
//   - INSERT is insert of one document; a key that exists is a duplicate. With
//     mongodb.upsert=true it is update with a whole document and upsert: over a
//     record that exists it takes its place, and can't tell.
//   - UPDATE is update of {_id: key} with $set of the fields written. Where
//     nothing matches, the record is not found.
//   - READMODIFYWRITE is the find of READ and, if it finds the record, the
//     update of UPDATE: two round trips, between which others may write.
//   - SCAN is find with {_id: {$gte: key}}, sorted by _id, with limit and
//     batchSize such that one reply holds all, up to the 16 MiB of a reply; what
//     is beyond them costs a getMore each, and these are counted.
//   - DELETE is delete of {_id: key}; where nothing is deleted, the record is
//     not found.
//
// With the write concern w=0 the server sends no answer to a write: INSERT,
// UPDATE and DELETE are answered when they are written to the socket, and tell
// neither a duplicate, nor a miss, nor any other failure.
//
// # What the client does on its own
//
//   - Retries: retryReads, retryWrites and the retries of overloaded servers
//     are off, whatever the URL says.
//   - Pool: an operation waits for a connection while all are in use, are being
//     opened, or wait for a late answer. There is one for each slot, unless
//     maxPoolSize in the URL says otherwise, and all are opened before the first
//     operation. What operations waited for connections is in the result.
//   - Server selection: while no server is known to be up, an operation waits
//     for one, at most serverSelectionTimeoutMS (5 s unless the URL says
//     otherwise) and its deadline. It fails as unavailable.
//   - After an operation timed out, its connection is kept for 0.4 s in case the
//     answer comes, and closed then. After a broken connection the pool of that
//     server is emptied; operations fail as unavailable until a check, twice a
//     second at most, finds the server up. Both are counted.
//   - A command carries the time left until the operation's deadline as
//     maxTimeMS, so that the server gives up as well. What would be late after
//     the shortest round trip seen is not sent.
//   - One connection for each server checks it every 10 s, another measures
//     round trips; compression is off unless the URL asks for it.
package mongodb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

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

// defaultSlots is less than other remote databases have: each slot has a
// connection, and each connection a thread of the server, with its stack.
const defaultSlots = 256

// Driver describes the binding.
var Driver = bindings.Driver{
	Name:    "mongodb",
	Aliases: []string{"mongodb-async"},
	Summary: "MongoDB, by its official Go client",
	Statements: `A table is a collection of the database in mongodb.url, made by the load if it
is missing; a record is {_id: key, field0: binary, ...}. Commands, one round trip
each:

READ             {find: table, filter: {_id: key}, projection: {field: 1, ...},
                 limit: 1, singleBatch: true}
UPDATE           {update: table, updates: [{q: {_id: key}, u: {$set: {...}}}]}
                 not found if nothing matched
INSERT           {insert: table, documents: [{_id: key, ...}]}
                 duplicate if the key exists; with mongodb.upsert=true
                 {update: table, updates: [{q: {_id: key}, u: {_id: key, ...},
                 upsert: true}]}, which replaces what exists
SCAN             {find: table, filter: {_id: {$gte: key}}, sort: {_id: 1},
                 limit: n, batchSize: n + 1}
                 a getMore for each 16 MiB beyond the first, counted
READMODIFYWRITE  READ, then UPDATE: two round trips, not atomic
DELETE           {delete: table, deletes: [{q: {_id: key}, limit: 1}]}
                 not found if nothing was deleted

All carry maxTimeMS, the time left until the deadline, and the session's number
where the server has sessions. The client's retries are off. What it waits for a
free connection, and the connections it loses, are in the result.`,
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

type binding struct {
	settings settings
	clock    bindings.Clock
	table    string
	// names are the trace's field names, so that one that is read need not be
	// allocated.
	names    map[string]string
	client   *mongo.Client
	database *mongo.Database
	options  *options.ClientOptions
	pool     pool
	monitor  monitor
	server   serverFacts
}

// firstAnswer bounds the wait for the first answer of a server, unless the URL
// asks for a longer selection.
const firstAnswer = 8 * time.Second

// Open connects, and opens every connection of the pool.
func (b *binding) Open(ctx context.Context, cfg bindings.Config) error {
	if err := b.takeHeader(cfg.Header); err != nil {
		return err
	}
	b.clock = cfg.Clock
	o, err := b.settings.clientOptions(cfg.Slots)
	if err != nil {
		return err
	}
	b.options = o
	o.SetPoolMonitor(&event.PoolMonitor{Event: b.pool.event})
	o.SetServerMonitor(b.monitor.listener())
	client, err := mongo.Connect(o)
	if err != nil {
		return b.settings.cannotConnect(err)
	}
	b.client, b.database = client, client.Database(b.settings.database)
	if err := b.connect(ctx, cfg.Slots); err != nil {
		b.client = nil
		return errors.Join(b.settings.cannotConnect(err), disconnect(client))
	}
	return nil
}

// connect waits for a first answer, learns what the server is, and fills the
// pool.
func (b *binding) connect(ctx context.Context, slots int) error {
	first, cancel := context.WithTimeout(ctx, max(firstAnswer, *b.options.ServerSelectionTimeout+time.Second))
	defer cancel()
	b.monitor.expect(len(b.options.Hosts), cancel)
	if err := b.client.Ping(first, readpref.Primary()); err != nil {
		return err
	}
	b.server.ask(first, b.database)
	size := slots
	if most := b.options.MaxPoolSize; *most > 0 && *most < uint64(slots) {
		size = int(*most)
	}
	return b.pool.fill(ctx, size, func(ctx context.Context) error {
		return b.client.Ping(ctx, b.options.ReadPreference)
	})
}

// takeHeader keeps what is needed of the header and refuses names that can't
// be stored.
func (b *binding) takeHeader(h *traces.Header) error {
	if h.Table == "" || strings.ContainsAny(h.Table, "\x00$") || strings.HasPrefix(h.Table, "system.") {
		return fmt.Errorf("table %q can't be the name of a collection: it must not be empty, have a zero byte or $ in it, or begin with \"system.\"", h.Table)
	}
	if !utf8.ValidString(h.Keys.Prefix) {
		return fmt.Errorf("key prefix %q is not UTF-8, which an _id has to be", h.Keys.Prefix)
	}
	b.table = h.Table
	b.names = make(map[string]string, h.Fields.Count)
	for i := range h.Fields.Count {
		name := h.Fields.Name(i)
		if err := checkField(name); err != nil {
			return err
		}
		b.names[name] = name
	}
	return nil
}

// checkField refuses names that have a meaning of their own in a command.
func checkField(name string) error {
	if name == "" || name == idField || name[0] == '$' || strings.ContainsAny(name, ".\x00") {
		return fmt.Errorf("field name %q can't be used: that is not empty, not _id, does not begin with $, and has no dot and no zero byte", name)
	}
	return nil
}

// CreateSchema makes the collection, so that no operation has to.
func (b *binding) CreateSchema(ctx context.Context) error {
	err := b.database.CreateCollection(ctx, b.table)
	if err == nil || hasCode(err, namespaceExists) {
		return nil
	}
	return fmt.Errorf("create the collection %q in %s: %w", b.table, b.settings.place(), withoutClass(classed(err)))
}

// Drop drops the collection; one that doesn't exist is no error to the server.
func (b *binding) Drop(ctx context.Context) error {
	if err := b.database.Collection(b.table).Drop(ctx); err != nil {
		return fmt.Errorf("drop the collection %q in %s: %w", b.table, b.settings.place(), withoutClass(classed(err)))
	}
	return nil
}

// Count counts the documents of the trace's table. It is exact and takes time
// in proportion: the number that servers keep by the side can be wrong after a
// crash.
func (b *binding) Count(ctx context.Context) (uint64, error) {
	n, err := b.database.Collection(b.table).CountDocuments(ctx, bson.D{})
	if err != nil {
		return 0, fmt.Errorf("count the documents of collection %q in %s: %w", b.table, b.settings.place(), withoutClass(classed(err)))
	}
	return uint64(n), nil
}

// Session returns a session; its connection comes from the pool, which has one
// for each slot.
func (b *binding) Session(context.Context) (bindings.Session, error) {
	return newSession(b), nil
}

// Local reports whether a server runs on this machine.
func (b *binding) Local() bool { return b.settings.local() }

// Close ends the connections.
func (b *binding) Close() error {
	if b.client == nil {
		return nil
	}
	client := b.client
	b.client = nil
	return disconnect(client)
}

// disconnectLimit bounds the wait for connections in use.
const disconnectLimit = 2 * time.Second

func disconnect(client *mongo.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), disconnectLimit)
	defer cancel()
	// It ends the server's sessions, which fails in silence where there is no
	// server any more; what is still in use at the limit is closed.
	if err := client.Disconnect(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("disconnect from mongodb: %w", err)
	}
	return nil
}
