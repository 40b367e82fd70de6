package cassandra

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gocql/gocql"
)

// streams counts the requests for operations that are in the driver: sent and
// not answered. One that was given up counts until its answer comes or its
// connection is closed, as it keeps its place on the connection so long.
type streams struct {
	nodes *nodes
	// limit is how many requests are let in for each node that is up. It is
	// below what the driver has room for.
	limit int64

	// open counts all, hosts those of each node by its id.
	open  atomic.Int64
	hosts sync.Map
	// ours counts requests that were sent for operations, own those that the
	// driver sent by itself, abandoned those whose connection was closed.
	ours, own, abandoned atomic.Uint64
}

var _ gocql.StreamObserver = (*streams)(nil)

// full reports whether no more requests are to be sent.
func (s *streams) full() bool {
	return s.open.Load() >= s.limit*max(1, s.nodes.number.Load())
}

// of returns the counter of a node.
func (s *streams) of(host *gocql.HostInfo) *atomic.Int64 {
	id := host.HostID()
	if n, ok := s.hosts.Load(id); ok {
		return n.(*atomic.Int64)
	}
	n, _ := s.hosts.LoadOrStore(id, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// forget drops what a node was asked: its connections are closed, and the
// driver doesn't tell that of each request.
func (s *streams) forget(host *gocql.HostInfo) {
	n := s.of(host).Swap(0)
	s.open.Add(-n)
}

// StreamContext is asked before each request is sent. The few of the driver's
// own are counted, but take no part in the limit.
func (s *streams) StreamContext(ctx context.Context) gocql.StreamObserverContext {
	if _, ok := ctx.(*operation); ok {
		return (*stream)(s)
	}
	s.own.Add(1)
	return nil
}

// stream observes a request for an operation.
type stream streams

func (s *stream) StreamStarted(o gocql.ObservedStream) {
	s.ours.Add(1)
	(*streams)(s).of(o.Host).Add(1)
	s.open.Add(1)
}

func (s *stream) StreamAbandoned(o gocql.ObservedStream) {
	s.abandoned.Add(1)
	(*streams)(s).ended(o.Host)
}

func (s *stream) StreamFinished(o gocql.ObservedStream) { (*streams)(s).ended(o.Host) }

// ended takes a request off, unless its node was forgotten meanwhile.
func (s *streams) ended(host *gocql.HostInfo) {
	n := s.of(host)
	for {
		before := n.Load()
		if before <= 0 {
			return
		}
		if n.CompareAndSwap(before, before-1) {
			s.open.Add(-1)
			return
		}
	}
}
