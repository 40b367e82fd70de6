package cluster

import (
	"context"
	"sync"
	"sync/atomic"

	"pianola/bindings/hbase/rpc"
	"pianola/bindings/hbase/wire"
)

// Server is a region server and the connections to it.
type Server struct {
	Address string

	settings *rpc.Settings
	lanes    []lane
}

// lane is one of the connections, which is made again when it broke.
type lane struct {
	conn atomic.Pointer[rpc.Conn]
	// attempts counts those to connect that have ended.
	attempts atomic.Uint64

	mu     sync.Mutex
	err    error // of the last attempt
	closed bool
}

func newServer(address string, settings *rpc.Settings, connections int) *Server {
	return &Server{Address: address, settings: settings, lanes: make([]lane, max(connections, 1))}
}

// Conn returns the connection that a slot uses, or nil if there is none.
func (s *Server) Conn(slot int) *rpc.Conn { return s.lanes[slot%len(s.lanes)].conn.Load() }

// Connect returns the connection that a slot uses; if it broke or there is none
// it is made. Those who come while one is being made share its fate.
func (s *Server) Connect(ctx context.Context, slot int) (*rpc.Conn, error) {
	l := &s.lanes[slot%len(s.lanes)]
	before := l.attempts.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	conn := l.conn.Load()
	switch {
	case l.closed:
		return nil, errClosed
	case conn != nil && conn.Err() == nil:
		return conn, nil
	case l.attempts.Load() != before && l.err != nil:
		return nil, l.err
	}
	fresh, err := s.settings.Dial(ctx, s.Address, wire.ClientService)
	l.err = err
	l.attempts.Add(1)
	if err != nil {
		return nil, err
	}
	l.conn.Store(fresh)
	if conn != nil {
		conn.Close()
	}
	return fresh, nil
}

// connectAll makes every connection.
func (s *Server) connectAll(ctx context.Context) error {
	for i := range s.lanes {
		if _, err := s.Connect(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) close() {
	for i := range s.lanes {
		l := &s.lanes[i]
		l.mu.Lock()
		l.closed = true
		l.mu.Unlock()
		if conn := l.conn.Load(); conn != nil {
			conn.Close()
		}
	}
}
