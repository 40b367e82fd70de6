package thin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pianola/bindings/servers"
)

func dialed(t testing.TB, o Options) *Client {
	t.Helper()
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = 10 * time.Second
	}
	c, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// created returns a new cache, removed behind the test.
func created(t testing.TB, c *Client, config *CacheConfig) *Cache {
	t.Helper()
	if err := c.CreateCache(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	cache := c.Cache(config.Name)
	t.Cleanup(func() { cache.Destroy(context.Background()) })
	return cache
}

func statusOf(err error) int32 {
	var s *ServerError
	if errors.As(err, &s) {
		return s.Status
	}
	return 0
}

// TestNode runs everything that one node is enough for.
func TestNode(t *testing.T) {
	s := servers.Start(t, "ignite")
	for name, test := range map[string]func(t *testing.T, c *Client){
		"keys and values": testKeysAndValues, "objects": testObjects, "sql": testSQL, "transactions": testTransactions,
		"given up in a transaction": testGivenUp, "tasks": testTasks, "crowd": testCrowd, "closed": testClosed,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, dialed(t, Options{Addresses: []string{s.Address}, Connections: 2}))
		})
	}
	t.Run("refused", func(t *testing.T) { testRefused(t, s.Address) })
	t.Run("deadline", func(t *testing.T) { testDeadline(t, s) })
	t.Run("killed", func(t *testing.T) { testKilled(t, s) })
}

func testKeysAndValues(t *testing.T, c *Client) {
	ctx := t.Context()
	cache := created(t, c, &CacheConfig{Name: "kv", Atomicity: Atomic})
	at := time.UnixMilli(1700000000123).UTC().Add(456)
	values := []any{int8(1), int16(2), int32(3), int64(4), float32(1.5), 2.5, true, "text é", []byte{0, 255}, UUID{1, 2}, at, []any{int32(1), "a"}}
	for i, v := range values {
		if err := cache.Put(ctx, int32(i), v); err != nil {
			t.Fatalf("put %v: %v", v, err)
		}
		if got, err := cache.Get(ctx, int32(i)); fmt.Sprint(got) != fmt.Sprint(v) || err != nil {
			t.Errorf("got %v, %v, want %v", got, err, v)
		}
	}
	if got, err := cache.Get(ctx, "no such key"); got != nil || err != nil {
		t.Errorf("a miss is %v, %v", got, err)
	}
	if n, err := cache.Size(ctx); n != uint64(len(values)) || err != nil {
		t.Errorf("size %d, %v, want %d", n, err, len(values))
	}
	if err := cache.PutAll(ctx, Pair{"a", int32(1)}, Pair{"b", int32(2)}); err != nil {
		t.Fatal(err)
	}
	pairs, err := cache.GetAll(ctx, "a", "b", "c")
	slices.SortFunc(pairs, func(a, b Pair) int { return strings.Compare(a.Key.(string), b.Key.(string)) })
	if fmt.Sprint(pairs) != "[{a 1} {b 2}]" || err != nil {
		t.Errorf("get all: %v, %v", pairs, err)
	}
	for _, want := range []bool{true, false} {
		if was, err := cache.Remove(ctx, "a"); was != want || err != nil {
			t.Errorf("remove: %v, %v, want %v", was, err, want)
		}
	}
	if names, err := c.CacheNames(ctx); !slices.Contains(names, "kv") || err != nil {
		t.Errorf("caches %q, %v", names, err)
	}
	if err := cache.Put(ctx, nil, "x"); statusOf(err) != StatusFailed {
		t.Errorf("a key of null: %v", err)
	}
	if _, err := c.Cache("none").Get(ctx, "a"); statusOf(err) != StatusNoCache {
		t.Errorf("a cache that isn't there: %v", err)
	}
	if top := c.Topology(); top.Major == 0 {
		t.Errorf("topology %v", top)
	}
}

func testObjects(t *testing.T, c *Client) {
	ctx := t.Context()
	two := NewType("pianola.test.Two", TypeField{Name: "first", Code: FieldString}, TypeField{Name: "second", Code: FieldString})
	class := NewType("pianola.ignite.SetFields")
	if err := errors.Join(c.RegisterType(ctx, two), c.RegisterType(ctx, two), c.RegisterClass(ctx, class)); err != nil {
		t.Fatal(err)
	}
	info, err := c.TypeInfo(ctx, two.ID)
	if err != nil || info == nil || info.Name != two.Name || !slices.Equal(info.Fields, two.Fields) ||
		!slices.Equal(info.Schemas[two.SchemaID], []int32{two.Fields[0].ID, two.Fields[1].ID}) {
		t.Errorf("the type is known as %+v, %v", info, err)
	}
	if info, err := c.TypeInfo(ctx, 12345); info != nil || err != nil {
		t.Errorf("an unknown type is %+v, %v", info, err)
	}
	other := NewType(two.Name, TypeField{Name: "first", Code: FieldInt})
	if err := c.RegisterType(ctx, other); statusOf(err) != StatusFailed {
		t.Errorf("with another field type: %v", err)
	}
	cache := created(t, c, &CacheConfig{Name: "objects", Atomicity: Atomic})
	d := NewDecoder(object(t, two, "a", "b"))
	sent := d.Object()
	if err := cache.Put(ctx, "k", sent); err != nil {
		t.Fatal(err)
	}
	second := func() string {
		v, err := cache.Get(ctx, "k")
		if err != nil {
			t.Fatal(err)
		}
		o := v.(Object)
		field := o.Field(1)
		return string(field.Payload())
	}
	if got := second(); got != "b" {
		t.Errorf("the second field is %q", got)
	}
	for key, want := range map[string]any{"k": true, "none": false} {
		if got, err := cache.Invoke(ctx, key, class, "second", "changed"); got != want || err != nil {
			t.Errorf("invoke on %q: %v, %v, want %v", key, got, err, want)
		}
	}
	if got := second(); got != "changed" {
		t.Errorf("behind the invoke the second field is %q", got)
	}
	if _, err := cache.Invoke(ctx, "k", class, int32(1), int32(2)); statusOf(err) != StatusProcessorFailed {
		t.Errorf("a processor that fails: %v", err)
	}
}

func testSQL(t *testing.T, c *Client) {
	ctx := t.Context()
	if err := c.RegisterType(ctx, person); err != nil {
		t.Fatal(err)
	}
	cache := created(t, c, &CacheConfig{Name: "query", Atomicity: Atomic, Entities: []QueryEntity{{
		KeyType: "java.lang.Integer", ValueType: "Person",
		Fields:  []QueryField{{Name: "id", Type: "java.lang.Integer"}, {Name: "firstName", Type: "java.lang.String"}, {Name: "salary", Type: "java.lang.Double"}},
		Indexes: []QueryIndex{{Columns: []string{"salary"}}},
	}}})
	const n = 100
	for i := range int32(n) {
		d := NewDecoder(object(t, person, i, int32(0), fmt.Sprint("name", i), "x", float64(i)*1000))
		if err := cache.Put(ctx, i, d.Object()); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []int32{0, 30, 100, 1} {
		rows, err := cache.Query(ctx, Query{Text: "select id, firstName from Person where salary >= ? order by salary", Args: []any{float64(0)}, Page: page})
		if err != nil {
			t.Fatal(err)
		}
		i := int32(0)
		for ; rows.Next(ctx); i++ {
			if row := rows.Row(); row[0] != i || row[1] != fmt.Sprint("name", i) {
				t.Fatalf("pages of %d: row %d is %v", page, i, row)
			}
		}
		if i != n || rows.Err() != nil {
			t.Errorf("pages of %d: %d rows, %v", page, i, rows.Err())
		}
	}
	// More cursors than a connection may have open, if they weren't closed.
	for range 300 {
		rows, err := cache.Query(ctx, Query{Text: "select id from Person", Page: 1})
		if err != nil || !rows.Next(ctx) {
			t.Fatal(err, rows.Err())
		}
		if err := rows.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := cache.Query(ctx, Query{Text: "selec"}); statusOf(err) != StatusFailed || !strings.Contains(err.Error(), "42000") {
		t.Errorf("no SQL: %v", err)
	}
	rows, err := cache.Query(ctx, Query{Text: "update Person set firstName = ? where _key = ?", Args: []any{"new", int32(7)}})
	if err != nil || !rows.Next(ctx) || rows.Row()[0] != int64(1) {
		t.Errorf("an update: %v, %v", rows, err)
	}
}

func testTransactions(t *testing.T, c *Client) {
	ctx := t.Context()
	cache := created(t, c, &CacheConfig{Name: "tx", Atomicity: Transactional})
	value := func(key string) any {
		t.Helper()
		v, err := cache.Get(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	begin := func(how Concurrency, level Isolation, timeout time.Duration) *Tx {
		t.Helper()
		tx, err := c.Begin(ctx, how, level, timeout)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	tx := begin(Pessimistic, RepeatableRead, 0)
	if err := tx.Put(ctx, cache, "a", "in tx"); err != nil {
		t.Fatal(err)
	}
	if v, err := tx.Get(ctx, cache, "a"); v != "in tx" || err != nil {
		t.Errorf("inside, a is %v, %v", v, err)
	}
	if v := value("a"); v != nil {
		t.Errorf("outside, a is %v before the commit", v)
	}
	if err := tx.Commit(ctx); err != nil || value("a") != "in tx" {
		t.Errorf("commit: %v, a is %v", err, value("a"))
	}
	// Behind its end the server would carry this out for good.
	if err := tx.Put(ctx, cache, "a", "behind the end"); !errors.Is(err, ErrTxEnded) || value("a") != "in tx" {
		t.Errorf("a put behind the end: %v, a is %v", err, value("a"))
	}
	if err := tx.Commit(ctx); !errors.Is(err, ErrTxEnded) {
		t.Errorf("a second commit: %v", err)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Errorf("a rollback behind a commit: %v", err)
	}

	tx = begin(Pessimistic, RepeatableRead, 0)
	if was, err := tx.Remove(ctx, cache, "a"); !was || err != nil {
		t.Errorf("remove: %v, %v", was, err)
	}
	if err := tx.Rollback(ctx); err != nil || value("a") != "in tx" {
		t.Errorf("rollback: %v, a is %v", err, value("a"))
	}

	one, two := begin(Optimistic, Serializable, 0), begin(Optimistic, Serializable, 0)
	for _, tx := range []*Tx{one, two} {
		if _, err := tx.Get(ctx, cache, "a"); err != nil {
			t.Fatal(err)
		}
		if err := tx.Put(ctx, cache, "a", "changed"); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.Commit(ctx); err != nil {
		t.Errorf("the first of two: %v", err)
	}
	if err := two.Commit(ctx); TxFailureOf(err) != TxConflict {
		t.Errorf("the second of two: %v", err)
	}

	one, two = begin(Pessimistic, RepeatableRead, 0), begin(Pessimistic, RepeatableRead, 300*time.Millisecond)
	if err := one.Put(ctx, cache, "a", "locked"); err != nil {
		t.Fatal(err)
	}
	if err := two.Put(ctx, cache, "a", "waits"); TxFailureOf(err) != TxLocked && TxFailureOf(err) != TxTimeout {
		t.Errorf("a lock that isn't to be had: %v", err)
	}
	if err := errors.Join(one.Commit(ctx), two.Rollback(ctx)); err != nil || value("a") != "locked" {
		t.Errorf("%v, a is %v", err, value("a"))
	}
	// As many as would not fit if their ends were not told.
	for range 250 {
		if err := begin(Pessimistic, RepeatableRead, 0).Rollback(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// testGivenUp: an operation that is given up may still be carried out, and the
// end of its transaction must not overtake it.
func testGivenUp(t *testing.T, c *Client) {
	ctx := t.Context()
	cache := created(t, c, &CacheConfig{Name: "given-up", Atomicity: Transactional})
	holder, err := c.Begin(ctx, Pessimistic, RepeatableRead, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Put(ctx, cache, "a", "held"); err != nil {
		t.Fatal(err)
	}
	tx, err := c.Begin(ctx, Pessimistic, RepeatableRead, 0)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := tx.Put(short, cache, "a", "given up"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a put that waits: %v", err)
	}
	if err := tx.Put(ctx, cache, "b", "too"); !errors.Is(err, ErrTxEnded) {
		t.Errorf("a put behind one that was given up: %v", err)
	}
	if err := tx.Commit(short); !errors.Is(err, ErrTxEnded) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the commit: %v", err)
	}
	if err := holder.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	// Its lock is given back once it was rolled back.
	if err := cache.Put(ctx, "a", "free"); err != nil {
		t.Fatal(err)
	}
	if v, err := cache.Get(ctx, "a"); v != "free" || err != nil {
		t.Errorf("a is %v, %v", v, err)
	}
	if v, err := cache.Get(ctx, "b"); v != nil || err != nil {
		t.Errorf("b is %v, %v", v, err)
	}
}

func testTasks(t *testing.T, c *Client) {
	ctx := t.Context()
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			if n, err := c.Execute(ctx, "pianola.ignite.Run", int32(i%5+1)); n != int32(i%5+1) || err != nil {
				t.Errorf("%d jobs: %v, %v", i%5+1, n, err)
			}
		})
	}
	all.Wait()
	if list, err := c.Execute(ctx, "pianola.ignite.Apply", int32(3)); err != nil || len(list.([]any)) != 3 {
		t.Errorf("apply: %v, %v", list, err)
	}
	if n, err := c.Execute(ctx, "pianola.ignite.Broadcast", nil, c.NodeIDs()...); n != int32(1) || err != nil {
		t.Errorf("broadcast: %v, %v", n, err)
	}
	created(t, c, &CacheConfig{Name: "affinity", Atomicity: Atomic})
	if n, err := c.Execute(ctx, "pianola.ignite.AffinityCall", []any{"affinity", int32(1)}); n != int32(1) || err != nil {
		t.Errorf("affinity call: %v, %v", n, err)
	}
	for _, task := range []string{"no.such.Task", "pianola.ignite.AffinityCall"} {
		if _, err := c.Execute(ctx, task, nil); statusOf(err) == 0 {
			t.Errorf("%s: %v", task, err)
		}
	}
}

// testCrowd has many in flight on two connections; every answer must be its
// own.
func testCrowd(t *testing.T, c *Client) {
	ctx := t.Context()
	cache := created(t, c, &CacheConfig{Name: "crowd", Atomicity: Atomic})
	var all sync.WaitGroup
	for i := range int64(32) {
		all.Go(func() {
			for n := range int64(200) {
				key := i<<32 | n
				value := strings.Repeat(fmt.Sprint(key, " "), int(n*n/10))
				if err := cache.Put(ctx, key, value); err != nil {
					t.Error(err)
					return
				}
				if got, err := cache.Get(ctx, key); got != value || err != nil {
					t.Errorf("key %d: another's answer, or %v", key, err)
					return
				}
			}
		})
	}
	all.Wait()
	if n := c.Counts(); n.Writes > n.Requests || n.Late != 0 || n.Opened != 2 {
		t.Errorf("%+v", n)
	}
}

func testClosed(t *testing.T, c *Client) {
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Cache("x").Put(t.Context(), "a", "b"); !errors.Is(err, ErrClosed) {
		t.Errorf("on a closed client: %v", err)
	}
}

func testRefused(t *testing.T, address string) {
	for _, a := range []string{"127.0.0.1:1", "no-such-host.invalid:10800"} {
		if c, err := Dial(t.Context(), Options{Addresses: []string{address, a}}); err == nil || !strings.Contains(err.Error(), a) {
			t.Errorf("%s: %v, %v", a, c, err)
		}
	}
	// A plain port spoken to by TLS.
	if c, err := Dial(t.Context(), Options{Addresses: []string{address}, TLS: &tls.Config{}}); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("%v, %v", c, err)
	}
}

func testDeadline(t *testing.T, s *servers.Server) {
	began := time.Now()
	now := func() time.Duration { return time.Since(began) }
	c := dialed(t, Options{Addresses: []string{s.Address}, Now: now})
	cache := created(t, c, &CacheConfig{Name: "deadline", Atomicity: Atomic})
	s.Pause()
	defer s.Resume()
	w := newWaiter()
	cache.Start(OpPut, mustValue(t, cache.AppendHeader(nil), "a", "late"), now()+50*time.Millisecond, w)
	if _, err := w.wait(t.Context()); !errors.Is(err, ErrDeadline) {
		t.Errorf("on a node that hangs: %v", err)
	}
	s.Resume()
	for c.Counts().Late == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the late answer never comes")
		}
		time.Sleep(time.Millisecond)
	}
	if v, err := cache.Get(t.Context(), "a"); v != "late" || err != nil {
		t.Errorf("given up and carried out, it is %v, %v", v, err)
	}
}

func testKilled(t *testing.T, s *servers.Server) {
	c := dialed(t, Options{Addresses: []string{s.Address}})
	cache := created(t, c, &CacheConfig{Name: "killed", Atomicity: Atomic})
	s.Pause()
	w := newWaiter()
	cache.Start(OpGet, mustValue(t, cache.AppendHeader(nil), "a"), 0, w)
	s.Kill()
	if _, err := w.wait(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("in flight at the kill: %v", err)
	}
	if _, err := cache.Get(t.Context(), "a"); !errors.Is(err, ErrNoConnection) {
		t.Errorf("on a dead node: %v", err)
	}
	s.Restart()
	for {
		_, err := cache.Get(t.Context(), "a")
		if statusOf(err) == StatusNoCache {
			break // it has forgotten everything
		}
		if !errors.Is(err, ErrNoConnection) {
			t.Fatalf("on a node that is back: %v", err)
		}
	}
	if n := c.Counts(); n.Opened != 2 || n.Lost != 1 {
		t.Errorf("%+v", n)
	}
}

func TestTLS(t *testing.T) {
	s := servers.Start(t, "ignite-tls")
	text, err := os.ReadFile(filepath.Join(s.Dir, servers.AuthorityFile))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	c := dialed(t, Options{Addresses: []string{s.Address}, TLS: &tls.Config{RootCAs: pool}})
	testKeysAndValues(t, c)
	for name, config := range map[string]*tls.Config{"": nil, "certificate": {}} {
		if c, err := Dial(t.Context(), Options{Addresses: []string{s.Address}, TLS: config, ConnectTimeout: 5 * time.Second}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, %v: want an error about %q", c, err, name)
		}
	}
}

func TestLogin(t *testing.T) {
	s := servers.Start(t, "ignite-auth")
	c := dialed(t, Options{Addresses: []string{s.Address}, User: "ignite", Password: "ignite"})
	testKeysAndValues(t, c)
	for _, password := range []string{"", "wrong"} {
		_, err := Dial(t.Context(), Options{Addresses: []string{s.Address}, User: "ignite", Password: password})
		if statusOf(err) != StatusUnauthorised {
			t.Errorf("with the password %q: %v", password, err)
		}
	}
	if _, err := Dial(t.Context(), Options{Addresses: []string{s.Address}}); statusOf(err) == 0 {
		t.Errorf("without a user: %v", err)
	}
}

// TestThreeNodes: keys go to the nodes that have them, and the loss of a node
// costs nothing that has a backup.
func TestThreeNodes(t *testing.T) {
	nodes := servers.StartCluster(t, "ignite", 3)
	var addresses []string
	for _, n := range nodes {
		addresses = append(addresses, n.Address)
	}
	c := dialed(t, Options{Addresses: addresses})
	cache := created(t, c, &CacheConfig{Name: "spread", Atomicity: Atomic, Backups: 1, Sync: FullSync})
	if err := cache.Track(t.Context()); err != nil {
		t.Fatal(err)
	}
	perNode := map[*node]int{}
	const n = 300
	for i := range n {
		key := fmt.Sprint("user", i)
		perNode[c.home(cache.id, AppendString(nil, key))]++
		if err := cache.Put(t.Context(), key, int32(i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(perNode) != 3 || perNode[nil] > 0 {
		t.Errorf("keys by node: %v", perNode)
	}
	if n, err := c.Execute(t.Context(), "pianola.ignite.Broadcast", nil); n != int32(3) || err != nil {
		t.Errorf("broadcast: %v, %v", n, err)
	}
	// The nodes themselves say where a key is.
	wrong := 0
	for i := range 30 {
		key := fmt.Sprint("user", i)
		home := c.home(cache.id, AppendString(nil, key))
		rows, err := cache.client.Execute(t.Context(), "pianola.ignite.AffinityCall", []any{"spread", key}, *home.id.Load())
		if err != nil || rows != int32(1) {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of 30 keys are not where they are thought to be", wrong)
	}
	before := c.Topology()
	nodes[2].Kill()
	for i := range n {
		key := fmt.Sprint("user", i)
		for {
			v, err := cache.Get(t.Context(), key)
			if err == nil {
				if v != int32(i) {
					t.Fatalf("key %q is %v", key, v)
				}
				break
			}
			if !errors.Is(err, ErrLost) && !errors.Is(err, ErrNoConnection) {
				t.Fatal(err)
			}
		}
	}
	if got := c.Counts(); got.Changes == 0 || !before.before(c.Topology()) {
		t.Errorf("the loss of a node is not seen: %+v, topology %v, then %v", got, before, c.Topology())
	}
}
