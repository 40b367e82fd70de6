package thin

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"
)

// Cache is a cache by its name. It need not exist yet.
type Cache struct {
	Name   string
	client *Client
	id     int32
}

// Cache returns a cache of the cluster.
func (c *Client) Cache(name string) *Cache {
	return &Cache{Name: name, client: c, id: HashString(name)}
}

// Track learns which nodes have which keys of the cache, so that operations on
// one key go to the node that has it, and keeps that up to date. The cache must
// exist.
func (c *Cache) Track(ctx context.Context) error { return c.client.track(ctx, c.id) }

// AppendHeader appends what every operation on a cache begins with. Objects come
// back as they are stored.
func (c *Cache) AppendHeader(dst []byte) []byte {
	return append(appendInt32(dst, c.id), keepBinary)
}

// Start sends an operation on a key without waiting. The body is the header, the
// key as an object, and what the operation has behind it; it is copied. The
// answer goes to to, ErrDeadline at the deadline on the client's clock unless
// that is 0.
func (c *Cache) Start(op Op, body []byte, deadline time.Duration, to Receiver) {
	r := request{op: op, body: body, deadline: deadline}
	c.client.dispatch(c.client.home(c.id, body[cacheHeader:]), &r, to)
}

// StartQuery sends a query (AppendQuery) without waiting, to any node.
func (c *Cache) StartQuery(body []byte, deadline time.Duration, to Receiver) {
	r := request{op: OpQuery, body: body, deadline: deadline}
	c.client.dispatch(nil, &r, to)
}

// Next sends a request on the connection that the answer came from, where its
// cursor is, for example.
func (a *Answer) Next(op Op, body []byte, deadline time.Duration, to Receiver) {
	r := request{op: op, body: body, deadline: deadline}
	if _, err := a.from.send(&r, to); err != nil {
		to.Receive(&Answer{Err: err})
	}
}

// cacheHeader is the length of what AppendHeader appends.
const cacheHeader = 5

// keyed asks for an operation on one key and waits.
func (c *Cache) keyed(ctx context.Context, op Op, key any, more ...any) (*Answer, error) {
	body, err := AppendValue(c.AppendHeader(nil), key)
	if err != nil {
		return nil, err
	}
	home := c.client.home(c.id, body[cacheHeader:])
	for _, v := range more {
		if body, err = AppendValue(body, v); err != nil {
			return nil, err
		}
	}
	a, err := c.client.ask(ctx, home, op, body)
	if err != nil {
		return nil, c.failed(err)
	}
	return a, nil
}

func (c *Cache) failed(err error) error { return fmt.Errorf("cache %q: %w", c.Name, err) }

// value takes the one value of an answer.
func (c *Cache) value(a *Answer, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	v := a.Value()
	if err := a.Decoder.Err(); err != nil {
		return nil, c.failed(err)
	}
	return v, nil
}

// Get returns the value of a key, nil if there is none.
func (c *Cache) Get(ctx context.Context, key any) (any, error) {
	return c.value(c.keyed(ctx, OpGet, key))
}

// Put stores the value of a key.
func (c *Cache) Put(ctx context.Context, key, value any) error {
	_, err := c.keyed(ctx, OpPut, key, value)
	return err
}

// Remove removes a key and reports whether it was there.
func (c *Cache) Remove(ctx context.Context, key any) (bool, error) {
	a, err := c.keyed(ctx, OpRemove, key)
	if err != nil {
		return false, err
	}
	return a.Bool(), a.Decoder.Err()
}

// GetAll returns the pairs that are there of some keys, in any order.
func (c *Cache) GetAll(ctx context.Context, keys ...any) ([]Pair, error) {
	body := appendInt32(c.AppendHeader(nil), int32(len(keys)))
	var err error
	for _, k := range keys {
		if body, err = AppendValue(body, k); err != nil {
			return nil, err
		}
	}
	a, err := c.client.ask(ctx, nil, opCacheGetAll, body)
	if err != nil {
		return nil, c.failed(err)
	}
	var pairs []Pair
	for n := a.Count(2); n > 0 && a.Decoder.Err() == nil; n-- {
		key := a.Value()
		pairs = append(pairs, Pair{key, a.Value()})
	}
	return pairs, a.Decoder.Err()
}

// PutAll stores pairs. In a transactional cache they should be in one order of
// their keys everywhere, or two calls may wait for each other.
func (c *Cache) PutAll(ctx context.Context, pairs ...Pair) error {
	body := appendInt32(c.AppendHeader(nil), int32(len(pairs)))
	var err error
	for _, p := range pairs {
		if body, err = AppendValue(body, p.Key); err != nil {
			return err
		}
		if body, err = AppendValue(body, p.Value); err != nil {
			return err
		}
	}
	if _, err = c.client.ask(ctx, nil, opCachePutAll, body); err != nil {
		return c.failed(err)
	}
	return nil
}

// AppendProcessor appends what OpInvoke has behind its key: an entry processor
// by its class, which was told of by RegisterClass, and its arguments' number.
// The arguments follow as objects.
func AppendProcessor(dst []byte, class *Type, arguments int) []byte {
	var w Writer
	dst = w.End(w.Begin(dst, class))
	return appendInt32(append(dst, platformJava), int32(arguments))
}

const (
	// platformJava is the platform of an entry processor's class.
	platformJava = 1
	// primaryCopies is the peek mode that counts each entry once.
	primaryCopies = 2
)

// Invoke runs an entry processor on a key, where it is stored, and returns what
// it answers.
func (c *Cache) Invoke(ctx context.Context, key any, class *Type, arguments ...any) (any, error) {
	body, err := AppendValue(c.AppendHeader(nil), key)
	if err != nil {
		return nil, err
	}
	home := c.client.home(c.id, body[cacheHeader:])
	body = AppendProcessor(body, class, len(arguments))
	for _, v := range arguments {
		if body, err = AppendValue(body, v); err != nil {
			return nil, err
		}
	}
	a, err := c.client.ask(ctx, home, OpInvoke, body)
	if err != nil {
		return nil, c.failed(err)
	}
	return c.value(a, nil)
}

// Size returns the number of entries, without their backups.
func (c *Cache) Size(ctx context.Context) (uint64, error) {
	body := append(appendInt32(c.AppendHeader(nil), 1), primaryCopies)
	a, err := c.client.ask(ctx, nil, opCacheGetSize, body)
	if err != nil {
		return 0, c.failed(err)
	}
	return uint64(a.Int64()), a.Decoder.Err()
}

// Destroy removes the cache with all that is in it, and waits until it is gone.
func (c *Cache) Destroy(ctx context.Context) error {
	if _, err := c.client.ask(ctx, nil, opCacheDestroy, appendInt32(nil, c.id)); err != nil {
		return c.failed(err)
	}
	return nil
}

// CacheNames lists the caches of the cluster.
func (c *Client) CacheNames(ctx context.Context) ([]string, error) {
	a, err := c.ask(ctx, nil, opCacheNames, nil)
	if err != nil {
		return nil, fmt.Errorf("list the caches: %w", err)
	}
	var names []string
	for n := a.Count(1); n > 0 && a.Decoder.Err() == nil; n-- {
		names = append(names, string(a.Text()))
	}
	return names, a.Decoder.Err()
}

// Atomicity says whether a cache takes part in transactions.
type Atomicity int32

// WriteSync says for which copies a write waits.
type WriteSync int32

const (
	Transactional Atomicity = 0
	Atomic        Atomicity = 1

	// FullSync waits for the primary copy and all backups, PrimarySync for the
	// primary, FullAsync for none.
	FullSync    WriteSync = 0
	FullAsync   WriteSync = 1
	PrimarySync WriteSync = 2
)

// CacheConfig is what a cache is created with. It is partitioned.
type CacheConfig struct {
	Name      string
	Atomicity Atomicity
	Backups   int32
	Sync      WriteSync
	// OnHeap keeps entries on Java's heap as well.
	OnHeap   bool
	Entities []QueryEntity
}

// QueryEntity makes the values of a type rows of a table.
type QueryEntity struct {
	// KeyType and ValueType are Java classes, or a Type's name.
	KeyType, ValueType string
	Table              string
	// KeyField is the name of the column that is the key; "" if there is none.
	KeyField string
	Fields   []QueryField
	Indexes  []QueryIndex
}

// QueryField is a column, with its Java class.
type QueryField struct {
	Name, Type string
	Key        bool
}

// QueryIndex is a sorted index over columns.
type QueryIndex struct {
	Name    string
	Columns []string
}

// Codes of what a cache is configured by.
const (
	configName      = 0
	configMode      = 1
	configAtomicity = 2
	configBackups   = 3
	configSync      = 4
	configOnHeap    = 101
	configEntities  = 200

	partitioned = 2
)

// CreateCache creates a cache unless one of the name exists; that is left as it
// is.
func (c *Client) CreateCache(ctx context.Context, config *CacheConfig) error {
	if _, err := c.ask(ctx, nil, opCacheGetOrCreate, appendConfig(nil, config)); err != nil {
		return fmt.Errorf("create cache %q: %w", config.Name, err)
	}
	return nil
}

// appendConfig appends the length of what follows, the number of settings and
// the settings: values without a type, but for texts.
func appendConfig(dst []byte, config *CacheConfig) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0)
	settings := 6
	dst = AppendString(appendInt16(dst, configName), config.Name)
	dst = appendInt32(appendInt16(dst, configMode), partitioned)
	dst = appendInt32(appendInt16(dst, configAtomicity), int32(config.Atomicity))
	dst = appendInt32(appendInt16(dst, configBackups), config.Backups)
	dst = appendInt32(appendInt16(dst, configSync), int32(config.Sync))
	dst = appendBool(appendInt16(dst, configOnHeap), config.OnHeap)
	if len(config.Entities) > 0 {
		settings++
		dst = appendInt32(appendInt16(dst, configEntities), int32(len(config.Entities)))
		for i := range config.Entities {
			dst = config.Entities[i].append(dst)
		}
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	binary.LittleEndian.PutUint16(dst[start+4:], uint16(settings))
	return dst
}

func (e *QueryEntity) append(dst []byte) []byte {
	dst = AppendString(AppendString(dst, e.KeyType), e.ValueType)
	dst = appendOptional(appendOptional(dst, e.Table), e.KeyField)
	dst = AppendNull(dst) // no column is the whole value
	dst = appendInt32(dst, int32(len(e.Fields)))
	for _, f := range e.Fields {
		dst = AppendString(AppendString(dst, f.Name), f.Type)
		dst = appendBool(appendBool(dst, f.Key), false) // may be null
		dst = AppendNull(dst)                           // no default
		dst = appendInt32(appendInt32(dst, -1), -1)     // any precision and scale
	}
	dst = appendInt32(dst, 0) // no aliases
	dst = appendInt32(dst, int32(len(e.Indexes)))
	for _, x := range e.Indexes {
		dst = append(appendOptional(dst, x.Name), 0) // sorted
		dst = appendInt32(dst, -1)                   // as much inline as is usual
		dst = appendInt32(dst, int32(len(x.Columns)))
		for _, column := range x.Columns {
			dst = appendBool(AppendString(dst, column), false) // ascending
		}
	}
	return dst
}
