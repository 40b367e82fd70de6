package thin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how to connect.
type Options struct {
	// Addresses are the nodes, each as host:port.
	Addresses []string
	// Connections is their number to each node.
	Connections    int
	User, Password string
	// TLS is nil for plain connections. Its ServerName, if it is empty, is the
	// host of each address.
	TLS *tls.Config
	// ConnectTimeout bounds a connection with its handshake.
	ConnectTimeout time.Duration
	// Now is the clock of deadlines; nil is the time since the client was
	// opened.
	Now func() time.Duration
}

// Client talks to the nodes of one cluster.
type Client struct {
	options Options
	nodes   []*node
	traffic
	// turn goes round the nodes.
	turn atomic.Uint32

	topology atomic.Pointer[Topology]
	changes  atomic.Uint64
	routes   atomic.Pointer[routes]
	routed   sync.Mutex // while caches are added to what is routed
	caches   []int32
	unsteady chan struct{}

	mu   sync.Mutex
	held []Receiver
	shut bool

	stop context.CancelFunc
	done sync.WaitGroup
}

// node is one address, with its connections.
type node struct {
	address string
	id      atomic.Pointer[UUID]
	turn    atomic.Uint32
	conns   []atomic.Pointer[conn]
}

// Topology is the version of the set of nodes: it grows with every node that
// joins, leaves or is lost, its minor part with every cache that starts.
type Topology struct {
	Major int64
	Minor int32
}

func (t Topology) String() string { return fmt.Sprintf("%d.%d", t.Major, t.Minor) }

func (t Topology) before(other Topology) bool {
	return t.Major < other.Major || t.Major == other.Major && t.Minor < other.Minor
}

// Dial connects to every node; one that can't be reached is an error.
func Dial(ctx context.Context, o Options) (*Client, error) {
	if o.Now == nil {
		began := time.Now()
		o.Now = func() time.Duration { return time.Since(began) }
	}
	life, stop := context.WithCancel(context.Background())
	c := &Client{options: o, stop: stop, unsteady: make(chan struct{}, 1)}
	c.topology.Store(&Topology{})
	c.routes.Store(&routes{})
	for _, address := range o.Addresses {
		c.nodes = append(c.nodes, &node{address: address, conns: make([]atomic.Pointer[conn], max(o.Connections, 1))})
	}
	for _, n := range c.nodes {
		for i := range n.conns {
			if err := c.connect(ctx, n, i); err != nil {
				return nil, errors.Join(fmt.Errorf("node %s: %w", n.address, err), c.Close())
			}
		}
	}
	for _, n := range c.nodes {
		for i := range n.conns {
			c.done.Go(func() { c.keep(life, n, i) })
		}
	}
	c.done.Go(func() { c.sweep(life) })
	c.done.Go(func() { c.follow(life) })
	return c, nil
}

// connect opens the i-th connection of a node.
func (c *Client) connect(ctx context.Context, n *node, i int) error {
	if c.options.ConnectTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.options.ConnectTimeout)
		defer cancel()
	}
	nc, id, err := dial(ctx, n.address, &c.options)
	if err != nil {
		return err
	}
	n.id.Store(&id)
	c.opened.Add(1)
	n.conns[i].Store(newConn(c, n, nc))
	return nil
}

const (
	// leastPause and mostPause lie between two tries to connect.
	leastPause = 20 * time.Millisecond
	mostPause  = time.Second
)

// keep reads a connection, and opens it again whenever it breaks.
func (c *Client) keep(life context.Context, n *node, i int) {
	pause := leastPause
	for {
		if open := n.conns[i].Load(); open != nil {
			stop := context.AfterFunc(life, func() { open.fail(ErrClosed) })
			open.run()
			stop()
			n.conns[i].Store(nil)
			if life.Err() != nil {
				return
			}
			c.lost.Add(1)
			pause = leastPause
		}
		select {
		case <-life.Done():
			return
		case <-time.After(pause):
		}
		if c.connect(life, n, i) != nil {
			pause = min(2*pause, mostPause)
			continue
		}
		c.disturbed()
	}
}

// sweepEvery is how exactly a request ends at its deadline.
const sweepEvery = 5 * time.Millisecond

// sweep gives up what is past its deadline, and answers what was held back.
func (c *Client) sweep(life context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var late, held []Receiver
	for {
		select {
		case <-life.Done():
			return
		case <-tick.C:
		}
		now := c.options.Now()
		late = late[:0]
		for _, n := range c.nodes {
			for i := range n.conns {
				if open := n.conns[i].Load(); open != nil {
					late = open.expire(now, late)
				}
			}
		}
		for _, to := range late {
			to.Receive(&Answer{Err: ErrDeadline})
		}
		c.mu.Lock()
		held, c.held = c.held, held[:0]
		c.mu.Unlock()
		for _, to := range held {
			to.Receive(&Answer{Err: ErrNoConnection})
		}
		clear(late)
		clear(held)
	}
}

// hold answers a receiver with the next sweep: where nothing is connected, who
// asks again and again would keep a processor busy with refusals.
func (c *Client) hold(to Receiver) {
	c.mu.Lock()
	shut := c.shut
	if !shut {
		c.held = append(c.held, to)
	}
	c.mu.Unlock()
	if shut {
		to.Receive(&Answer{Err: ErrClosed})
	}
}

// Close closes all connections; what is in flight is answered with ErrClosed.
func (c *Client) Close() error {
	c.stop()
	c.done.Wait()
	for _, n := range c.nodes {
		for i := range n.conns {
			if open := n.conns[i].Load(); open != nil {
				open.fail(ErrClosed)
			}
		}
	}
	c.mu.Lock()
	held := c.held
	c.held, c.shut = nil, true
	c.mu.Unlock()
	for _, to := range held {
		to.Receive(&Answer{Err: ErrClosed})
	}
	return nil
}

// open returns a connection of the node that works, or nil.
func (n *node) open() *conn {
	if len(n.conns) == 1 {
		return n.conns[0].Load()
	}
	first := n.turn.Add(1)
	for i := range n.conns {
		if open := n.conns[(int(first)+i)%len(n.conns)].Load(); open != nil {
			return open
		}
	}
	return nil
}

// any returns a connection of the nodes in turn, or nil if none works.
func (c *Client) any() *conn {
	if len(c.nodes) == 1 {
		return c.nodes[0].open()
	}
	first := c.turn.Add(1)
	for i := range c.nodes {
		if open := c.nodes[(int(first)+i)%len(c.nodes)].open(); open != nil {
			return open
		}
	}
	return nil
}

// dispatch sends a request on a connection of home, else of any node.
func (c *Client) dispatch(home *node, r *request, to Receiver) ticket {
	var open *conn
	if home != nil {
		open = home.open()
	}
	if open == nil {
		open = c.any()
	}
	if open != nil {
		switch t, err := open.send(r, to); {
		case err == nil:
			return t
		case errors.Is(err, ErrFull):
			to.Receive(&Answer{Err: err})
			return ticket{}
		}
		if t, ok := c.elsewhere(r, to); ok {
			return t
		}
	}
	c.hold(to)
	return ticket{}
}

// elsewhere sends what the connection it was meant for didn't take, since that
// has just broken.
func (c *Client) elsewhere(r *request, to Receiver) (ticket, bool) {
	for _, n := range c.nodes {
		for i := range n.conns {
			if open := n.conns[i].Load(); open != nil {
				if t, err := open.send(r, to); err == nil {
					return t, true
				}
			}
		}
	}
	return ticket{}, false
}

// sawTopology takes the version that came with an answer.
func (c *Client) sawTopology(t Topology) {
	for {
		old := c.topology.Load()
		if !old.before(t) {
			return
		}
		if c.topology.CompareAndSwap(old, &t) {
			if old.Major != 0 && old.Major != t.Major {
				c.changes.Add(1)
			}
			c.disturbed()
			return
		}
	}
}

// Counts is what a client has done so far.
type Counts struct {
	// Requests were sent in that many Writes; Late answers came when nobody
	// waited for them any more.
	Requests, Writes, Late uint64
	// Opened connections, of which some were Lost.
	Opened, Lost uint64
	// Changes of the set of nodes that were seen.
	Changes uint64
}

// Counts returns what the client has done.
func (c *Client) Counts() Counts {
	return Counts{c.requests.Load(), c.writes.Load(), c.late.Load(), c.opened.Load(), c.lost.Load(), c.changes.Load()}
}

// Topology returns the newest version that an answer told of.
func (c *Client) Topology() Topology { return *c.topology.Load() }

// waiter is a Receiver for those who wait. It keeps a copy of the body.
type waiter struct {
	ready  chan struct{}
	answer Answer
	// inReader runs on the reading goroutine before the next message is taken.
	inReader func(a *Answer)
}

// Receive implements Receiver.
func (w *waiter) Receive(a *Answer) {
	if w.inReader != nil {
		w.inReader(a)
	}
	w.answer = Answer{Decoder: NewDecoder(append([]byte{}, a.Rest()...)), Err: a.Err}
	close(w.ready)
}

func newWaiter() *waiter { return &waiter{ready: make(chan struct{})} }

// wait returns the answer, or that the context has ended.
func (w *waiter) wait(ctx context.Context) (*Answer, error) {
	select {
	case <-w.ready:
		return &w.answer, w.answer.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ask sends a request to a node and waits for the answer.
func (c *Client) ask(ctx context.Context, home *node, op Op, body []byte) (*Answer, error) {
	w := newWaiter()
	t := c.dispatch(home, &request{op: op, body: body}, w)
	a, err := w.wait(ctx)
	if a == nil && t.conn != nil {
		t.conn.leave(t.id)
	}
	return a, err
}
