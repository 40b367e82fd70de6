package mongodb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"pianola/bindings"
)

// longWait is from when on a wait for a connection is counted as one: to take a
// free one takes microseconds.
const longWait = time.Millisecond

// pool hears what the client's pools of connections do. Counting begins when
// they are full.
type pool struct {
	size int
	// gate is not nil while the pools are filled.
	gate atomic.Pointer[gate]

	taken, waits, failed  atomic.Int64
	waited, longest       atomic.Int64 // nanoseconds
	opened, lost, cleared atomic.Int64
	getMores              atomic.Int64
}

// gate holds every operation that has a connection until so many have one.
type gate struct {
	all  chan struct{}
	left atomic.Int64
	give <-chan struct{}
}

// pass waits for the others, or until the gate is given up.
func (g *gate) pass() {
	if g.left.Add(-1) == 0 {
		close(g.all)
	}
	select {
	case <-g.all:
	case <-g.give:
	}
}

// fillLimit bounds the time to fill the pools.
const fillLimit = 30 * time.Second

// fill opens size connections: it runs as many pings at a time, each of which
// keeps its connection until all have one. (The client's own minPoolSize is no
// way to do so: it opens ten connections every ten seconds.)
func (p *pool) fill(ctx context.Context, size int, ping func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, fillLimit)
	defer cancel()
	g := &gate{all: make(chan struct{}), give: ctx.Done()}
	g.left.Store(int64(size))
	p.size = size
	p.gate.Store(g)
	defer p.gate.Store(nil)
	failures := make(chan error, size)
	var pings sync.WaitGroup
	for range size {
		pings.Go(func() {
			if err := ping(ctx); err != nil {
				failures <- err
				cancel()
			}
		})
	}
	pings.Wait()
	p.reset()
	if len(failures) == 0 {
		return nil
	}
	err := <-failures
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("not done in %v: %w", fillLimit, err)
	}
	return fmt.Errorf("open %d connections at a time: %w\nif the server takes fewer, lower --slots or set maxPoolSize in mongodb.url", size, err)
}

// reset forgets what it took to fill the pools.
func (p *pool) reset() {
	for _, n := range []*atomic.Int64{&p.taken, &p.waits, &p.failed, &p.waited, &p.longest, &p.opened, &p.lost, &p.cleared} {
		n.Store(0)
	}
}

// event is called by the client, on the goroutine that it happens to.
func (p *pool) event(e *event.PoolEvent) {
	switch e.Type {
	case event.ConnectionCheckedOut:
		if g := p.gate.Load(); g != nil {
			g.pass()
			return
		}
		p.taken.Add(1)
		p.wait(e.Duration)
	case event.ConnectionCheckOutFailed:
		p.failed.Add(1)
		p.wait(e.Duration)
	case event.ConnectionReady:
		p.opened.Add(1)
	case event.ConnectionClosed:
		p.lost.Add(1)
	case event.ConnectionPoolCleared:
		p.cleared.Add(1)
	}
}

func (p *pool) wait(d time.Duration) {
	p.waited.Add(int64(d))
	if d >= longWait {
		p.waits.Add(1)
	}
	for {
		longest := p.longest.Load()
		if int64(d) <= longest || p.longest.CompareAndSwap(longest, int64(d)) {
			return
		}
	}
}

// facts tell the waits for connections from the service of the server.
func (p *pool) facts() []bindings.Fact {
	count := func(name string, n *atomic.Int64) bindings.Fact {
		return bindings.Fact{Name: name, Value: fmt.Sprint(n.Load())}
	}
	return []bindings.Fact{
		{Name: "connections", Value: fmt.Sprint(p.size)},
		count("connections taken from the pool", &p.taken),
		{Name: "pool waits of 1ms and more", Value: fmt.Sprint(p.waits.Load())},
		{Name: "pool wait time", Value: time.Duration(p.waited.Load()).String()},
		{Name: "longest pool wait", Value: time.Duration(p.longest.Load()).String()},
		count("operations that got no connection", &p.failed),
		count("connections opened in the run", &p.opened),
		count("connections closed in the run", &p.lost),
		count("times the pool was emptied", &p.cleared),
		count("getMore round trips", &p.getMores),
	}
}
