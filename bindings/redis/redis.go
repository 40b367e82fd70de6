// Package redis is Redis, or a server that speaks its protocol, through the
// client rueidis.
//
// # Layout
//
// It is YCSB's, so that data loaded by either can be read by the other. A record
// is a hash under its bare key; the table's name takes no part. The sorted set
// _indices holds the key of every record, under Java's 32-bit hash of it as the
// score, so that scans go in the order of hashes, not of keys.
//
// # What an operation becomes
//
//   - READ of all fields is HGETALL, of some HMGET: one round trip. Where none
//     of the fields is there, EXISTS tells a record without them from none: a
//     second round trip.
//   - UPDATE is HSET: one round trip. It creates a record that is missing and
//     can't tell in advance; where every field was new, ZADD makes sure that the
//     record is in the index: a second round trip, which YCSB leaves out.
//   - INSERT is MULTI, HSET, ZADD, EXEC in one round trip. It takes the place
//     of a record that exists, and can't tell.
//   - READMODIFYWRITE is a READ, then an UPDATE: two round trips, not atomic,
//     but fields that it doesn't write stay as they are.
//   - SCAN is ZRANGEBYSCORE, then one HGETALL or HMGET for each key in a pipeline: two
//     round trips, and one more for each 1000 records; YCSB makes one for each
//     record. A key whose record is gone is left out.
//   - DELETE is MULTI, DEL, ZREM, EXEC in one round trip; not found if there
//     was none. YCSB's keeps the key in the index.
//
// In a cluster the two commands of an INSERT and of a DELETE go to two nodes at
// a time, without MULTI: a failure between them leaves one undone. The index is
// one key, hence on one node. MOVED and ASK are followed by the client: a second
// round trip.
//
// # Connections
//
// The sessions share redis.connections connections, each session always on the
// same one. Commands of several sessions are on their way on a connection at a
// time, in order; the client writes what is there in one go and waits for
// nothing to gather more. How many commands went into a write is in the result.
// Up to as many commands as there are slots wait in a connection's queue, so
// that nobody waits for room in it. A large answer delays those behind it on its
// connection. With redis.connections=0 each session has a connection of its own,
// as YCSB's threads have.
//
// # What the client may hide
//
// Retries are off, and so are its cache and its delay before a flush. A
// connection that broke is opened again by the next operation that needs it,
// within that operation's time; how many were opened is in the result. An
// operation that is given up at its deadline stays on its way: its answer is
// dropped when it comes.
package redis

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"pianola/bindings"
	"pianola/traces"
)

var (
	_ bindings.Binding  = (*binding)(nil)
	_ bindings.Counter  = (*binding)(nil)
	_ bindings.Dropper  = (*binding)(nil)
	_ bindings.Locator  = (*binding)(nil)
	_ bindings.Reporter = (*binding)(nil)
	_ bindings.Session  = (*session)(nil)
)

// Driver describes the binding.
var Driver = bindings.Driver{
	Name:    "redis",
	Aliases: []string{"valkey"},
	Summary: "Redis, a hash for each record, by pipelined connections",
	Statements: `A record is a hash under its bare key; the table's name takes no part. The
sorted set _indices holds every key, with Java's hash of it as the score.

READ             HGETALL key, or HMGET key field...    1 round trip; 1 more, EXISTS
                 key, where none of the fields is there
UPDATE           HSET key field value...               1 round trip; creates a
                 record that is missing, and then ZADD _indices: 1 more
INSERT           MULTI, HSET, ZADD _indices, EXEC      1 round trip; takes the
                 place of a record that exists
SCAN             ZRANGEBYSCORE _indices hash +inf LIMIT 0 n, then the READ of
                 each key in a pipeline: 2 round trips, 1 more per 1000 records;
                 in the order of the hashes
READMODIFYWRITE  READ, then UPDATE                     2 round trips
DELETE           MULTI, DEL, ZREM _indices, EXEC       1 round trip
count            ZCARD _indices, whatever the table

In a cluster INSERT and DELETE are two commands to two nodes, without MULTI.
There is nothing to create. What the client does on its own (commands written
together, connections opened again) is in the result; it retries nothing and
caches nothing.`,
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

// index is the sorted set of all keys; its name is YCSB's.
const index = "_indices"

type binding struct {
	settings settings
	clock    bindings.Clock
	traffic  traffic
	slots    int
	// clients have one connection to each node. With one for each session, the
	// first is there for everything else.
	clients []rueidis.Client

	mu       sync.Mutex
	sessions []*session
}

// connectTimeout bounds Open, but for what the settings say: an address that
// swallows everything must be named soon.
const connectTimeout = 9 * time.Second

// Open opens the shared connections, or the first one.
func (b *binding) Open(ctx context.Context, cfg bindings.Config) error {
	b.clock, b.slots = cfg.Clock, max(cfg.Slots, 1)
	n := b.settings.connections
	if n == 0 {
		n = 1
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for range n {
		c, err := b.connect(ctx, b.slots)
		if err != nil {
			return errors.Join(err, b.Close())
		}
		b.clients = append(b.clients, c)
	}
	return nil
}

// connect returns a client with an open connection to each node, on which up to
// that many operations are on their way.
func (b *binding) connect(ctx context.Context, inFlight int) (rueidis.Client, error) {
	type answer struct {
		client rueidis.Client
		err    error
	}
	answers := make(chan answer, 1)
	// The client takes no context to connect.
	go func() {
		c, err := b.dial(ctx, inFlight)
		answers <- answer{c, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil {
			return nil, b.cannotConnect(a.err)
		}
		return a.client, nil
	case <-ctx.Done():
		go func() {
			if a := <-answers; a.err == nil {
				a.client.Close()
			}
		}()
		return nil, b.cannotConnect(context.Cause(ctx))
	}
}

func (b *binding) dial(ctx context.Context, inFlight int) (rueidis.Client, error) {
	c, err := rueidis.NewClient(b.options(inFlight))
	if err != nil {
		return nil, err
	}
	if b.settings.cluster && c.Mode() != rueidis.ClientModeCluster {
		c.Close()
		return nil, errors.New("the server is no node of a cluster\nset redis.cluster=false")
	}
	for address, node := range c.Nodes() {
		if err := node.Do(ctx, node.B().Ping().Build()).Error(); err != nil {
			c.Close()
			return nil, fmt.Errorf("node %s: %w", address, err)
		}
	}
	return c, nil
}

// minRing is the least queue of a connection, as a power of two.
const minRing = 6

func (b *binding) options(inFlight int) rueidis.ClientOption {
	o := rueidis.ClientOption{
		InitAddress:       []string{b.settings.address},
		Username:          b.settings.username,
		Password:          b.settings.password,
		SelectDB:          b.settings.database,
		TLSConfig:         b.settings.tls,
		DialCtxFn:         b.traffic.dial,
		ForceSingleClient: !b.settings.cluster,
		// One connection: which one a command takes is not left to chance.
		PipelineMultiplex: -1,
		// A full queue would block, so it never is.
		RingScaleEachConn: max(minRing, bits.Len(uint(inFlight))),
		DisableRetry:      true,
		DisableCache:      true,
		AlwaysPipelining:  inFlight > 1,
		// Answers are the same flat lists from all versions.
		AlwaysRESP2: true,
		// Longer pipelines would open connections of their own.
		BlockingPipeline:    2 * scanChunk,
		ReadBufferEachConn:  64 << 10,
		WriteBufferEachConn: 64 << 10,
	}
	o.Dialer.Timeout = b.settings.timeout
	return o
}

func (b *binding) cannotConnect(err error) error {
	hint := ""
	if c := class(err); c == bindings.Unauthorised {
		hint = "\ngive the password by " + passwordVariable + " or redis.password-file"
	}
	return fmt.Errorf("connect to redis at %s: %w%s", b.settings.address, err, hint)
}

// Session returns a session on the shared connection with the fewest sessions,
// or on one of its own.
func (b *binding) Session(ctx context.Context) (bindings.Session, error) {
	s := &session{binding: b}
	b.mu.Lock()
	n := len(b.sessions)
	b.sessions = append(b.sessions, s)
	b.mu.Unlock()
	if b.settings.connections > 0 {
		s.client = b.clients[n%len(b.clients)]
		return s, nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	var err error
	if s.client, err = b.connect(ctx, 1); err != nil {
		return nil, err
	}
	s.owns = true
	return s, nil
}

// Count returns the number of keys in the index: exact, and one round trip.
// What other tables or programs have put into it counts too.
func (b *binding) Count(ctx context.Context) (uint64, error) {
	c := b.clients[0]
	n, err := c.Do(ctx, c.B().Zcard().Key(index).Build()).AsInt64()
	if err != nil {
		return 0, fmt.Errorf("count the keys in %s of redis at %s: %w", index, b.settings.address, err)
	}
	return uint64(n), nil
}

// Drop deletes the records of all keys in the index, and with them the index. A
// key that isn't in it belongs to somebody else, and stays.
func (b *binding) Drop(ctx context.Context) error {
	c := b.clients[0]
	for {
		keys, err := c.Do(ctx, c.B().Zrange().Key(index).Min("0").Max(strconv.Itoa(scanChunk-1)).Build()).AsStrSlice()
		if err == nil && len(keys) == 0 {
			return nil
		}
		commands := make(rueidis.Commands, 0, len(keys)+1)
		for _, key := range keys {
			commands = append(commands, c.B().Del().Key(key).Build())
		}
		if err == nil {
			for _, answer := range c.DoMulti(ctx, commands...) {
				err = errors.Join(err, answer.Error())
			}
		}
		if err == nil {
			err = c.Do(ctx, c.B().Zrem().Key(index).Member(keys...).Build()).Error()
		}
		if err != nil {
			return fmt.Errorf("delete the records of the keys in %s of redis at %s: %w", index, b.settings.address, err)
		}
	}
}

// Local reports whether the server is on this machine.
func (b *binding) Local() bool { return bindings.IsLocal(b.settings.address) }

// Close closes the shared connections.
func (b *binding) Close() error {
	for _, c := range slices.Backward(b.clients) {
		c.Close()
	}
	b.clients = nil
	return nil
}
