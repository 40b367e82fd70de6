package replay

import (
	"sync"
)

// slotQueue holds the free slots, longest free first. Anyone may put, one
// goroutine takes.
type slotQueue struct {
	mu      sync.Mutex
	ring    []*slot
	head, n int
	waiting bool
	wake    chan struct{}

	// taken are slots that left the ring, all free for longer than those in it,
	// from next on. They are the taker's: the lock is taken once for many.
	taken []*slot
	next  int
}

const takenMax = 64

func newSlotQueue(slots []*slot) *slotQueue {
	q := &slotQueue{ring: make([]*slot, len(slots)), wake: make(chan struct{}, 1), taken: make([]*slot, 0, takenMax)}
	for _, s := range slots {
		q.put(s)
	}
	return q
}

func (q *slotQueue) put(s *slot) {
	q.mu.Lock()
	at := q.head + q.n
	if at >= len(q.ring) {
		at -= len(q.ring)
	}
	q.ring[at] = s
	q.n++
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
	q.next++
	return s
}

// refill takes slots out of the ring. If there is none the next put sends on
// q.wake.
func (q *slotQueue) refill() bool {
	q.taken, q.next = q.taken[:0], 0
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		q.waiting = true
		return false
	}
	for q.n > 0 && len(q.taken) < takenMax {
		q.taken = append(q.taken, q.ring[q.head])
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
