package thin

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxFrame bounds an answer.
	maxFrame = 64 << 20
	// maxPending bounds what waits to be sent, in bytes.
	maxPending = 64 << 20
	// mostKept bounds the memory for requests that is kept for the next.
	mostKept = 4 << 20
	// readBuffer is the bytes that are read at once.
	readBuffer = 64 << 10
	// largeFrame is the bytes of an answer that may take long to hand over: many
	// records.
	largeFrame = 16 << 10
	// maxEarly bounds the results of compute tasks that came before the answer
	// with the task's id.
	maxEarly = 1024
)

// conn is one connection. Requests are appended to pending and written by a
// goroutine that takes all that is there; another one reads the answers.
type conn struct {
	client *Client
	node   *node
	net    net.Conn
	wake   chan struct{}
	closed chan struct{}

	// writing is held while out, which was pending, is written.
	writing sync.Mutex
	out     []byte

	mu       sync.Mutex
	pending  []byte
	inFlight []entry
	free     []uint32
	// corked: the reader is handing over answers that came at once, mostly for
	// some microseconds, and wakes the writer behind the last: what those answers
	// lead to goes out together.
	corked bool
	err    error

	// Of the reader alone.
	answer Answer
	tasks  tasks
}

// entry is a request in flight. Its id on the wire is its place and how often
// that was taken, so that an answer that comes too late meets nobody else.
type entry struct {
	to         Receiver
	deadline   time.Duration
	generation uint32
}

func newConn(client *Client, n *node, nc net.Conn) *conn {
	c := &conn{client: client, node: n, net: nc, wake: make(chan struct{}, 1), closed: make(chan struct{})}
	c.tasks.conn = c
	return c
}

// run serves the connection until it breaks, and returns why.
func (c *conn) run() error {
	go c.write()
	err := c.read()
	c.fail(err)
	return err
}

// Request is one request to the server.
type request struct {
	op       Op
	body     []byte
	deadline time.Duration
}

// ticket names a request in flight.
type ticket struct {
	conn *conn
	id   int64
}

// send queues a request. If the connection is broken it returns why; the
// receiver isn't called then.
func (c *conn) send(r *request, to Receiver) (ticket, error) {
	c.mu.Lock()
	if c.err != nil || len(c.pending) > maxPending {
		err := c.err
		if err == nil {
			err = ErrFull
		}
		c.mu.Unlock()
		return ticket{}, err
	}
	id := c.enter(to, r.deadline)
	b := appendInt32(c.pending, int32(10+len(r.body)))
	b = appendInt64(appendInt16(b, int16(r.op)), id)
	c.pending = append(b, r.body...)
	wake := !c.corked
	c.mu.Unlock()
	c.client.requests.Add(1)
	if wake {
		c.wakeWriter()
	}
	return ticket{c, id}, nil
}

// enter puts a receiver into the table; the lock is held.
func (c *conn) enter(to Receiver, deadline time.Duration) int64 {
	var i uint32
	if n := len(c.free); n > 0 {
		i, c.free = c.free[n-1], c.free[:n-1]
	} else {
		i = uint32(len(c.inFlight))
		c.inFlight = append(c.inFlight, entry{})
	}
	e := &c.inFlight[i]
	e.to, e.deadline = to, deadline
	return int64(e.generation)<<32 | int64(i)
}

// leave takes a receiver out of the table, nil if the id is of nobody.
func (c *conn) leave(id int64) Receiver {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := uint64(id) & 0xffffffff
	if i >= uint64(len(c.inFlight)) {
		return nil
	}
	e := &c.inFlight[i]
	if e.to == nil || int64(e.generation) != id>>32 {
		return nil
	}
	return c.vacate(uint32(i))
}

// vacate frees a place; the lock is held.
func (c *conn) vacate(i uint32) Receiver {
	e := &c.inFlight[i]
	to := e.to
	e.to = nil
	e.generation = (e.generation + 1) & 0x7fffffff
	c.free = append(c.free, i)
	return to
}

// expire gives up what is past its deadline.
func (c *conn) expire(now time.Duration, late []Receiver) []Receiver {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.inFlight {
		if e := &c.inFlight[i]; e.to != nil && e.deadline > 0 && e.deadline <= now {
			late = append(late, c.vacate(uint32(i)))
		}
	}
	return late
}

func (c *conn) wakeWriter() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write sends what is pending until the connection is closed.
func (c *conn) write() {
	for {
		select {
		case <-c.wake:
		case <-c.closed:
			return
		}
		c.writing.Lock()
		c.flush()
		c.writing.Unlock()
	}
}

// flush writes what is pending at once; writing is held.
func (c *conn) flush() {
	c.mu.Lock()
	c.out, c.pending = c.pending, c.out[:0]
	c.mu.Unlock()
	if len(c.out) == 0 {
		return
	}
	c.client.writes.Add(1)
	if _, err := c.net.Write(c.out); err != nil {
		c.fail(fmt.Errorf("%w: %w", ErrLost, err))
	}
	if cap(c.out) > mostKept {
		c.out = nil // a burst is over; its memory is given back
	}
}

// fail closes the connection and answers all that is in flight with err. Only
// the first call does anything.
func (c *conn) fail(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	c.pending = nil
	var lost []Receiver
	for i := range c.inFlight {
		if c.inFlight[i].to != nil {
			lost = append(lost, c.vacate(uint32(i)))
		}
	}
	c.mu.Unlock()
	close(c.closed)
	c.net.Close()
	for _, to := range append(lost, c.tasks.drain()...) {
		to.Receive(&Answer{Err: err})
	}
}

// read hands over answers until the connection breaks.
func (c *conn) read() error {
	buffer := make([]byte, readBuffer)
	begin, end := 0, 0
	for {
		n, err := c.net.Read(buffer[end:])
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("%w: %w", ErrLost, err)
		}
		end += n
		c.cork(true)
		begin, err = c.deliver(buffer, begin, end)
		c.cork(false)
		if err != nil {
			return err
		}
		buffer, begin, end = room(buffer, begin, end)
	}
}

// deliver hands over the whole messages of a buffer and returns where the rest
// begins.
func (c *conn) deliver(buffer []byte, begin, end int) (int, error) {
	for end-begin >= 4 {
		length := int32(binary.LittleEndian.Uint32(buffer[begin:]))
		if length < 10 || length > maxFrame {
			return begin, fmt.Errorf("%w: a message of %d bytes", ErrMalformed, length)
		}
		if end-begin-4 < int(length) {
			break
		}
		begin += 4
		if length > largeFrame {
			// What takes long to hand over holds nobody up.
			c.cork(false)
		}
		if err := c.handle(buffer[begin : begin+int(length) : begin+int(length)]); err != nil {
			return begin, err
		}
		begin += int(length)
	}
	return begin, nil
}

// room moves what is left to the beginning, into a buffer that holds the message
// that has begun.
func room(buffer []byte, begin, end int) ([]byte, int, int) {
	need := readBuffer
	if end-begin >= 4 {
		need = max(need, 4+int(binary.LittleEndian.Uint32(buffer[begin:])))
	}
	switch left := buffer[begin:end]; {
	case need > len(buffer) || need == readBuffer && len(buffer) > readBuffer:
		buffer = make([]byte, need)
		copy(buffer, left)
	case begin > 0:
		copy(buffer, left)
	}
	return buffer, 0, end - begin
}

// cork says that the reader begins or ends to hand over answers. What was sent
// meanwhile it writes itself, which saves waking the writer, unless that is at
// it. It may wait for room in the socket then: the server reads requests also
// while its answers are not read, so there always comes some.
func (c *conn) cork(on bool) {
	c.mu.Lock()
	c.corked = on
	waits := !on && len(c.pending) > 0
	c.mu.Unlock()
	if !waits {
		return
	}
	if !c.writing.TryLock() {
		c.wakeWriter()
		return
	}
	c.flush()
	c.writing.Unlock()
}

// handle takes one message: an answer or a notification.
func (c *conn) handle(frame []byte) error {
	a := &c.answer
	*a = Answer{Decoder: NewDecoder(frame), from: c}
	id, flags := a.Int64(), a.Int16()
	if flags&flagTopology != 0 {
		major := a.Int64()
		c.client.sawTopology(Topology{major, a.Int32()})
	}
	notification := Op(0)
	if flags&flagNotification != 0 {
		notification = Op(a.Int16())
	}
	if flags&flagError != 0 {
		status := a.Int32()
		a.Err = &ServerError{Status: status, Message: string(a.Text())}
	}
	if err := a.Decoder.Err(); err != nil {
		return err
	}
	if flags&flagNotification != 0 {
		if notification == opComputeFinished {
			c.tasks.finished(id, a)
		}
		return nil
	}
	to := c.leave(id)
	if to == nil {
		c.client.late.Add(1)
		return nil
	}
	to.Receive(a)
	return nil
}

// traffic counts what goes over a client's connections.
type traffic struct {
	requests, writes, late, opened, lost atomic.Uint64
}
