package thin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Concurrency says when a transaction takes its locks: at each operation, or at
// the commit, which fails on a conflict.
type Concurrency byte

// Isolation says what a transaction sees of others.
type Isolation byte

const (
	Optimistic  Concurrency = 0
	Pessimistic Concurrency = 1

	ReadCommitted  Isolation = 0
	RepeatableRead Isolation = 1
	Serializable   Isolation = 2
)

// ErrTxEnded is the answer of a transaction that has ended, or in which an
// operation was given up.
var ErrTxEnded = errors.New("the transaction has ended")

// Tx is a transaction. It is bound to one connection, and lost with it.
//
// The server carries out an operation under the id of a transaction that has
// ended at once and for good, without a word. So it is the client that guards
// the ids: nothing is sent behind the end, and the end is sent only when every
// operation is answered, since the server may carry them out in any order.
type Tx struct {
	conn *conn
	id   int32

	mu    sync.Mutex
	ended bool
	// unanswered is the operation that was given up, if there is one.
	unanswered *waiter
}

// Begin starts a transaction, which the server rolls back after the timeout
// unless that is 0.
func (c *Client) Begin(ctx context.Context, how Concurrency, level Isolation, timeout time.Duration) (*Tx, error) {
	open := c.any()
	if open == nil {
		return nil, fmt.Errorf("begin a transaction: %w", ErrNoConnection)
	}
	body := appendInt64([]byte{byte(how), byte(level)}, timeout.Milliseconds())
	a, err := open.ask(ctx, opTxStart, AppendNull(body))
	if err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	tx := &Tx{conn: open, id: a.Int32()}
	return tx, a.Decoder.Err()
}

// Get returns the value of a key within the transaction, nil if there is none.
func (tx *Tx) Get(ctx context.Context, c *Cache, key any) (any, error) {
	return c.value(tx.keyed(ctx, c, OpGet, key))
}

// Put stores the value of a key when the transaction is committed.
func (tx *Tx) Put(ctx context.Context, c *Cache, key, value any) error {
	_, err := tx.keyed(ctx, c, OpPut, key, value)
	return err
}

// Remove removes a key when the transaction is committed, and reports whether
// it is there.
func (tx *Tx) Remove(ctx context.Context, c *Cache, key any) (bool, error) {
	a, err := tx.keyed(ctx, c, OpRemove, key)
	if err != nil {
		return false, err
	}
	return a.Bool(), a.Decoder.Err()
}

func (tx *Tx) keyed(ctx context.Context, c *Cache, op Op, values ...any) (*Answer, error) {
	body := appendInt32(append(appendInt32(nil, c.id), keepBinary|inTransaction), tx.id)
	var err error
	for _, v := range values {
		if body, err = AppendValue(body, v); err != nil {
			return nil, err
		}
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.ended || tx.unanswered != nil {
		return nil, c.failed(ErrTxEnded)
	}
	w := newWaiter()
	if _, err := tx.conn.send(&request{op: op, body: body}, w); err != nil {
		return nil, c.failed(err)
	}
	a, err := w.wait(ctx)
	if a == nil {
		// Its place in the connection's table stays, so that its answer is seen.
		tx.unanswered = w
	}
	if err != nil {
		return nil, c.failed(err)
	}
	return a, nil
}

// Commit ends the transaction and makes what it wrote visible. If it fails, the
// transaction has ended all the same and nothing was written, unless the
// connection was lost: then it is not known.
func (tx *Tx) Commit(ctx context.Context) error {
	tx.mu.Lock()
	broken := tx.unanswered != nil
	tx.mu.Unlock()
	if broken {
		return errors.Join(fmt.Errorf("commit: an operation was given up: %w", ErrTxEnded), tx.end(ctx, false))
	}
	return tx.end(ctx, true)
}

// Rollback ends the transaction and leaves no trace of it. Behind Commit it does
// nothing.
func (tx *Tx) Rollback(ctx context.Context) error {
	tx.mu.Lock()
	ended := tx.ended
	tx.mu.Unlock()
	if ended {
		return nil
	}
	return tx.end(ctx, false)
}

func (tx *Tx) end(ctx context.Context, commit bool) error {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.ended {
		return fmt.Errorf("end a transaction: %w", ErrTxEnded)
	}
	tx.ended = true
	body := appendBool(appendInt32(nil, tx.id), commit)
	if tx.unanswered != nil {
		select {
		case <-tx.unanswered.ready:
		case <-ctx.Done():
			go tx.endLater(body)
			return fmt.Errorf("end a transaction: %w", context.Cause(ctx))
		}
	}
	if _, err := tx.conn.ask(ctx, opTxEnd, body); err != nil {
		return fmt.Errorf("end a transaction: %w", err)
	}
	return nil
}

// endLater ends a transaction once its last operation is answered; the loss of
// the connection answers it too.
func (tx *Tx) endLater(body []byte) {
	<-tx.unanswered.ready
	tx.conn.send(&request{op: opTxEnd, body: body}, newWaiter())
}

// TxFailure is why a transaction failed.
type TxFailure int

const (
	// TxOther is what none of the others is.
	TxOther TxFailure = iota
	// TxConflict: another transaction has changed what an optimistic one read.
	TxConflict
	// TxLocked: a lock was not to be had in time; a deadlock looks the same.
	TxLocked
	// TxTimeout: the transaction was rolled back at its timeout.
	TxTimeout
)

// TxFailureOf tells why by the words of the server, which has one status for
// all of it.
func TxFailureOf(err error) TxFailure {
	var s *ServerError
	if !errors.As(err, &s) {
		return TxOther
	}
	switch {
	case strings.Contains(s.Message, "read/write conflict"):
		return TxConflict
	case strings.Contains(s.Message, "Failed to acquire lock within provided timeout"):
		return TxLocked
	case strings.Contains(s.Message, "transaction timed out"):
		return TxTimeout
	}
	return TxOther
}
