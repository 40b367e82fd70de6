package replay

import (
	"sync"
	"sync/atomic"
	"time"
)

// slotQueue holds the free slots, longest free first. Anyone may put, one
// goroutine takes.
type slotQueue struct {
	mu      sync.Mutex
	ring    []*slot
	head, n int
	waiting bool
	wake    chan struct{}
	// filled is the instant at which a slot became free while none was, the last
	// time.
	filled time.Duration

	// taken are slots that left the ring, all free for longer than those in it,
	// from next on. They are the taker's: the lock is taken once for many. drained
	// says that none of them is left.
	taken   []*slot
	next    int
	drained atomic.Bool
}

const takenMax = 64

func newSlotQueue(slots []*slot) *slotQueue {
	q := &slotQueue{ring: make([]*slot, len(slots)), wake: make(chan struct{}, 1), taken: make([]*slot, 0, takenMax)}
	q.drained.Store(true)
	for _, s := range slots {
		q.put(s)
	}
	return q
}

// put gives a slot back; s.freeAt says since when it is free.
func (q *slotQueue) put(s *slot) {
	q.mu.Lock()
	at := q.head + q.n
	if at >= len(q.ring) {
		at -= len(q.ring)
	}
	q.ring[at] = s
	if q.n++; q.n == 1 && q.drained.Load() {
		q.filled = s.freeAt
	}
	wake := q.waiting
	q.waiting = false
	q.mu.Unlock()
	if wake {
		q.wake <- struct{}{}
	}
}

// take returns the slot that is free longest, or nil; then the next put sends
// on q.wake, unless take or giveUp is called before.
func (q *slotQueue) take() *slot {
	if q.next == len(q.taken) && !q.refill() {
		return nil
	}
	s := q.taken[q.next]
	if q.next++; q.next == len(q.taken) {
		q.drained.Store(true)
	}
	return s
}

// refill takes slots out of the ring. If there is none the next put sends on
// q.wake.
//
// Who takes late also gets back late what it was late to use. That is no fault of
// the slots, of which others were free: a slot counts as free since none was, if
// that was earlier than its own time.
func (q *slotQueue) refill() bool {
	q.taken, q.next = q.taken[:0], 0
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		q.waiting = true
		return false
	}
	q.drained.Store(false)
	for q.n > 0 && len(q.taken) < takenMax {
		s := q.ring[q.head]
		s.freeAt = min(s.freeAt, q.filled)
		q.taken = append(q.taken, s)
		if q.head++; q.head == len(q.ring) {
			q.head = 0
		}
		q.n--
	}
	return true
}

// takeNow is take for somebody who will not wait.
func (q *slotQueue) takeNow() *slot {
	s := q.take()
	if s == nil {
		q.giveUp()
	}
	return s
}

// giveUp ends the wait that a take began.
func (q *slotQueue) giveUp() {
	q.mu.Lock()
	waiting := q.waiting
	q.waiting = false
	q.mu.Unlock()
	if !waiting {
		<-q.wake // a put was under way
	}
}
