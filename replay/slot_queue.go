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
}

func newSlotQueue(slots []*slot) *slotQueue {
	q := &slotQueue{ring: make([]*slot, len(slots)), wake: make(chan struct{}, 1)}
	for _, s := range slots {
		q.put(s)
	}
	return q
}

func (q *slotQueue) put(s *slot) {
	q.mu.Lock()
	q.ring[(q.head+q.n)%len(q.ring)] = s
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
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		q.waiting = true
		return nil
	}
	s := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return s
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
