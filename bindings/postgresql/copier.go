package postgresql

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pianola/bindings"
)

// copier writes records by COPY. The INSERTs that wait when a COPY ends make the
// next one: there is no timer, and nothing waits for more to come.
type copier struct {
	binding   *binding
	statement string
	life      context.Context
	cancel    context.CancelFunc
	ended     sync.WaitGroup

	mu     sync.Mutex
	filled sync.Cond
	next   batch
	closed bool

	// statements and rows count what was copied, refused the COPYs that wrote
	// nothing, so that their rows were inserted one by one.
	statements, rows, refused atomic.Uint64
}

// batch is the rows of a COPY.
type batch struct {
	data []byte
	rows []row
}

// row is a record in a batch.
type row struct {
	// start is where its bytes begin; they end where the next row's begin.
	start int
	// until is its deadline.
	until time.Duration
	// answer has a free place.
	answer chan<- error
}

// until returns the latest deadline of a row.
func (b *batch) until() (latest time.Duration) {
	for i := range b.rows {
		latest = max(latest, b.rows[i].until)
	}
	return latest
}

// remove takes a row out.
func (b *batch) remove(i int) {
	start, end := b.rows[i].start, len(b.data)
	if i+1 < len(b.rows) {
		end = b.rows[i+1].start
	}
	b.data = slices.Delete(b.data, start, end)
	b.rows = slices.Delete(b.rows, i, i+1)
	for j := i; j < len(b.rows); j++ {
		b.rows[j].start -= end - start
	}
}

const (
	// copyConnections is how many COPYs are under way at most: while the server
	// writes one, the next comes.
	copyConnections = 2
	// copyMax bounds the bytes of a COPY; what is beyond is inserted singly.
	copyMax = 16 << 20
)

// errSingly tells a session that its row was not written, and why is to be found
// out by writing it alone.
var errSingly = errors.New("the COPY of this row and others was refused")

// The head and the end of the binary format of COPY: a signature, no flags and
// no extension (PostgreSQL's manual, COPY, Binary Format).
var (
	copyHead = append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	copyEnd  = []byte{0xff, 0xff}
)

// newCopier connects.
func newCopier(ctx context.Context, b *binding) (*copier, error) {
	c := &copier{binding: b, statement: b.copyStatement()}
	c.life, c.cancel = context.WithCancel(context.Background())
	c.filled.L = &c.mu
	var conns []*pgconn.PgConn
	for range copyConnections {
		conn, err := b.connect(ctx)
		if err != nil {
			for _, open := range conns {
				closeConn(open)
			}
			c.cancel()
			return nil, err
		}
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		c.ended.Go(func() { c.run(conn) })
	}
	return c, nil
}

// close ends what is under way.
func (c *copier) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.filled.Broadcast()
	c.cancel()
	c.ended.Wait()
}

// add puts the record of an INSERT into the next COPY, whose fields are all of
// the table's in their order. It returns false if there is no room. The answer
// comes on a channel with a free place.
func (c *copier) add(op *bindings.Op, until time.Duration, answer chan<- error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &c.next
	if c.closed || len(b.data) >= copyMax {
		return false
	}
	if len(b.data) == 0 {
		b.data = append(b.data, copyHead...)
	}
	b.rows = append(b.rows, row{len(b.data), until, answer})
	b.data = binary.BigEndian.AppendUint16(b.data, uint16(len(op.Write)+1))
	for i := range op.Write {
		b.data = appendColumn(b.data, op.Write[i].Value)
	}
	b.data = appendColumn(b.data, op.Key)
	c.filled.Signal()
	return true
}

// withdraw takes a row that is given up out of the next COPY: what has not been
// sent is not written. One that is under way by then stays in it.
func (c *copier) withdraw(answer chan<- error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.next.rows, func(r row) bool { return r.answer == answer })
	if i >= 0 {
		c.next.remove(i)
	}
}

func appendColumn(b, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
}

// run copies batch after batch on a connection.
func (c *copier) run(conn *pgconn.PgConn) {
	var b batch
	for c.take(&b) {
		err := c.connected(&conn, b.until())
		if err == nil {
			err = c.copy(conn, &b)
		}
		for _, r := range b.rows {
			r.answer <- err
		}
		clear(b.rows)
	}
	closeConn(conn)
}

// take waits for rows and takes them all; false when the copier is closed. The
// memory of those before is used again.
func (c *copier) take(b *batch) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.next.rows) == 0 && !c.closed {
		c.filled.Wait()
	}
	spare := batch{data: b.data[:0], rows: b.rows[:0]}
	*b, c.next = c.next, spare
	return len(b.rows) > 0
}

// connected connects again if the connection broke.
func (c *copier) connected(conn **pgconn.PgConn, until time.Duration) error {
	if !(*conn).IsClosed() {
		return nil
	}
	ctx, cancel := c.within(until)
	defer cancel()
	fresh, err := c.binding.connect(ctx)
	if err != nil {
		return classed(err)
	}
	*conn = fresh
	c.binding.reopened.Add(1)
	return nil
}

func (c *copier) within(until time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.life, until-c.binding.clock.Now())
}

// copy writes the rows, all of them or none.
func (c *copier) copy(conn *pgconn.PgConn, b *batch) error {
	ctx, cancel := c.within(b.until())
	defer cancel()
	b.data = append(b.data, copyEnd...)
	done, err := conn.CopyFrom(ctx, bytes.NewReader(b.data), c.statement)
	var refused *pgconn.PgError
	switch n := done.RowsAffected(); {
	case err == nil && n == int64(len(b.rows)):
		c.statements.Add(1)
		c.rows.Add(uint64(n))
		return nil
	case err == nil:
		return &bindings.Error{Class: bindings.Other, Err: fmt.Errorf("a COPY of %d rows has written %d", len(b.rows), n)}
	case ctx.Err() != nil:
		// The server's word for a COPY that was cancelled says less.
		return classed(fmt.Errorf("%w: %w", ctx.Err(), err))
	case errors.As(err, &refused) && !conn.IsClosed():
		c.refused.Add(1)
		return errSingly
	case class(err) == bindings.Other:
		return &bindings.Error{Class: bindings.Unavailable, Err: err}
	}
	return classed(err)
}

// facts tells what was copied.
func (c *copier) facts() []bindings.Fact {
	return []bindings.Fact{
		{Name: "COPY statements", Value: fmt.Sprint(c.statements.Load())},
		{Name: "rows copied", Value: fmt.Sprint(c.rows.Load())},
		{Name: "COPY statements refused", Value: fmt.Sprint(c.refused.Load())},
	}
}
