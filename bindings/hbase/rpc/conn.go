// Package rpc holds connections to the servers of HBase, and the calls under way
// on them.
//
// Any number of calls share a connection, and are answered in any order. The
// goroutine that makes a call writes its frame, with those of others that came
// meanwhile, or holds it until it has made others; if the socket takes no more, the rest is left to a goroutine of the
// connection, so that nobody waits for a server that does not read. Answers are
// handed over on the goroutine that reads them. A server does not answer a call
// that waited beyond its deadline, so calls are given up here.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"pianola/bindings"
	"pianola/bindings/hbase/wire"
)

// Call is one call. It may be made again when it is answered.
type Call struct {
	Request wire.Request
	// Deadline is when it is given up, an instant of the connection's clock.
	Deadline time.Duration
	Handler  Handler
}

// Handler takes the answer of a call: a response, whose bytes are valid during
// the call only, or an error. A call that was sent is answered once. It is called
// from any goroutine; one that waits delays the answers of others.
type Handler interface {
	Answered(call *Call, r *wire.Response, err error)
}

// Traffic counts what connections have done.
type Traffic struct {
	// Opened counts connections, Calls frames, Writes system calls that wrote
	// them, Held those of which a part was left to the connection.
	Opened, Calls, Writes, Held atomic.Uint64
	// GivenUp counts calls that were not answered in time, Late answers to them.
	GivenUp, Late atomic.Uint64
}

// Conn is a connection for one service of a server.
type Conn struct {
	address string
	clock   bindings.Clock
	traffic *Traffic
	socket  net.Conn
	raw     syscall.RawConn
	// The methods tryWrite and tryRead, bound once.
	attemptWrite, attemptRead func(fd uintptr) bool
	// goOn wakes the writer; closed is closed with the connection.
	goOn   chan struct{}
	closed chan struct{}
	ended  sync.WaitGroup

	mu      sync.Mutex
	err     error // why it is closed
	pending calls
	out     []byte // frames to be written
	spare   []byte // memory for the next out
	// busy: somebody writes, and takes along what is in out.
	busy bool

	// What follows belongs to whoever set busy.
	writing  []byte
	wrote    int
	writeErr error

	// And this to the goroutine that reads.
	reading []byte
	got     int
	readErr error
}

// maxQueued bounds the bytes that wait for a server that does not read.
const maxQueued = 64 << 20

// ErrNotRead is the error of a call that was not sent: too much waits to be
// read by the server.
var ErrNotRead error = &bindings.Error{Class: bindings.Overloaded, Err: fmt.Errorf("not sent: the server leaves %d MiB unread", maxQueued>>20)}

// ErrTimeout is the error of a call that was not answered in time.
var ErrTimeout error = &bindings.Error{Class: bindings.Timeout, Err: errors.New("given up at its deadline")}

// BrokenError is the error of a call whose connection is closed.
type BrokenError struct {
	Address string
	Cause   error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("connection to %s: %v", e.Address, e.Cause)
}
func (e *BrokenError) Unwrap() error { return e.Cause }

// Settings say how to connect.
type Settings struct {
	User    string
	Clock   bindings.Clock
	Traffic *Traffic
	// Timeout bounds connecting.
	Timeout time.Duration
}

// Dial connects to a service of a server, "host:port".
func (s *Settings) Dial(ctx context.Context, address, service string) (*Conn, error) {
	dialer := net.Dialer{Timeout: s.Timeout}
	socket, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, &BrokenError{address, err}
	}
	c := &Conn{
		address: address, clock: s.Clock, traffic: s.Traffic, socket: socket,
		goOn: make(chan struct{}, 1), closed: make(chan struct{}), out: wire.Hello(s.User, service),
	}
	c.attemptWrite, c.attemptRead = c.tryWrite, c.tryRead
	if c.raw, err = socket.(*net.TCPConn).SyscallConn(); err != nil {
		socket.Close()
		return nil, &BrokenError{address, err}
	}
	s.Traffic.Opened.Add(1)
	// The hello goes out with the first call; the server says nothing to it.
	c.ended.Go(c.read)
	c.ended.Go(c.write)
	c.ended.Go(c.giveUp)
	return c, nil
}

// Close ends the connection; calls under way are answered with an error. It
// must not be called by a Handler.
func (c *Conn) Close() {
	c.fail(net.ErrClosed)
	c.ended.Wait()
}

// Err returns why the connection is closed, or nil.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// fail closes the connection and answers the calls under way.
func (c *Conn) fail(cause error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = &BrokenError{c.address, cause}
	orphans := c.pending.takeAll()
	c.out = nil
	close(c.closed)
	c.mu.Unlock()
	c.socket.Close()
	for _, call := range orphans {
		call.Handler.Answered(call, nil, c.err)
	}
}

// Send makes a call. With an error it was not sent, and is not answered.
func (c *Conn) Send(call *Call) error {
	if err := c.enter(call); err != nil {
		return err
	}
	c.flush()
	return nil
}

// Hold makes a call like Send, but its frame waits for the next Flush or Send.
func (c *Conn) Hold(call *Call) error {
	if err := c.enter(call); err != nil {
		return err
	}
	c.mu.Unlock()
	return nil
}

// Flush writes the frames that wait.
func (c *Conn) Flush() {
	c.mu.Lock()
	c.flush()
}

// enter adds a call to those under way and its frame to what is to be written.
// It locks, but for an error.
func (c *Conn) enter(call *Call) error {
	left := call.Deadline - c.clock.Now()
	if left <= 0 {
		c.traffic.GivenUp.Add(1)
		return ErrTimeout
	}
	timeout := uint32(min((left+time.Millisecond-1)/time.Millisecond, math.MaxInt32))
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	if len(c.out) > maxQueued {
		c.mu.Unlock()
		return ErrNotRead
	}
	c.out = wire.AppendCall(c.out, c.pending.add(call), timeout, call.Request)
	c.traffic.Calls.Add(1)
	return nil
}

// flush writes what is to be written, unless somebody does, and unlocks.
func (c *Conn) flush() {
	if c.busy || c.err != nil {
		c.mu.Unlock()
		return
	}
	c.busy = true
	for c.takeOut() {
		if !c.writeNow() {
			c.traffic.Held.Add(1)
			c.goOn <- struct{}{} // busy stays set; there is one at a time
			return
		}
	}
}

// patience is how often calls are looked at whose deadline may have passed.
const patience = 10 * time.Millisecond

// giveUp answers calls at their deadline.
func (c *Conn) giveUp() {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	var late []*Call
	for {
		select {
		case <-tick.C:
		case <-c.closed:
			return
		}
		now := c.clock.Now()
		c.mu.Lock()
		late = c.pending.takeLate(late[:0], now)
		c.mu.Unlock()
		for i, call := range late {
			c.traffic.GivenUp.Add(1)
			call.Handler.Answered(call, nil, ErrTimeout)
			late[i] = nil
		}
	}
}

// Cancel answers a call that is under way with an error, unless it is answered
// already.
func (c *Conn) Cancel(call *Call, err error) {
	c.mu.Lock()
	found := c.pending.remove(call)
	c.mu.Unlock()
	if found {
		call.Handler.Answered(call, nil, err)
	}
}
