package replay

import (
	"sync"
)

// lead is passed among the goroutines of a blocking binding: the one that has
// it claims ops and waits for due times. It goes to the one whose slot is free
// longest.
type lead struct {
	mu      sync.Mutex
	free    bool
	waiting []*slot
	head    int
}

// acquire returns when the goroutine of s has the lead.
func (l *lead) acquire(s *slot) {
	l.mu.Lock()
	if l.free {
		l.free = false
		l.mu.Unlock()
		return
	}
	l.waiting = append(l.waiting, s)
	l.mu.Unlock()
	<-s.turn
}

// try takes the lead if nobody has it and nobody waits for it: every slot is
// busy then.
func (l *lead) try() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := l.free
	l.free = false
	return free
}

// pass gives the lead away.
func (l *lead) pass() {
	l.mu.Lock()
	if l.head == len(l.waiting) {
		l.free = true
		l.mu.Unlock()
		return
	}
	s := l.waiting[l.head]
	l.waiting[l.head] = nil
	l.head++
	if l.head == len(l.waiting) {
		l.waiting, l.head = l.waiting[:0], 0
	} else if l.head > 4096 {
		l.waiting = append(l.waiting[:0], l.waiting[l.head:]...)
		l.head = 0
	}
	l.mu.Unlock()
	s.turn <- struct{}{}
}
