// Package writer makes the writes of a store that takes one at a time wait
// where the wait can be seen.
package writer

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pianola/bindings"
)

// Turn is the right to write, which one operation has at a time.
type Turn struct {
	clock bindings.Clock
	mu    sync.Mutex
	// waited is the time in ns, and waits the number of the operations that
	// found another at it.
	waited, waits atomic.Int64
}

// NewTurn returns a turn that nobody has.
func NewTurn(clock bindings.Clock) *Turn { return &Turn{clock: clock} }

// Take waits for the turn.
func (t *Turn) Take() {
	if t.mu.TryLock() {
		return
	}
	from := t.clock.Now()
	t.mu.Lock()
	t.waited.Add(int64(t.clock.Now() - from))
	t.waits.Add(1)
}

// Give gives the turn to the next.
func (t *Turn) Give() { t.mu.Unlock() }

// Facts tells how long writes have waited for each other.
func (t *Turn) Facts() []bindings.Fact {
	return []bindings.Fact{
		{Name: "waits for the writer", Value: fmt.Sprint(t.waits.Load())},
		{Name: "time waited for the writer", Value: time.Duration(t.waited.Load()).String()},
	}
}
