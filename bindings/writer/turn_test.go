package writer

import (
	"sync"
	"testing"
	"time"
)

// handClock is set by hand, under the turn.
type handClock struct {
	mu  sync.Mutex
	now time.Duration
	// asked is sent to at each look.
	asked chan struct{}
}

func (c *handClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked != nil {
		c.asked <- struct{}{}
	}
	return c.now
}

func (c *handClock) SleepUntil(time.Duration) {}

func TestWaitsAreCounted(t *testing.T) {
	clock := &handClock{asked: make(chan struct{}, 2)}
	turn := NewTurn(clock)
	turn.Take()
	if got := turn.Facts(); got[0].Value != "0" || got[1].Value != "0s" {
		t.Errorf("a turn that was free: %v", got)
	}
	var other sync.WaitGroup
	other.Go(func() {
		turn.Take()
		turn.Give()
	})
	<-clock.asked
	clock.mu.Lock()
	clock.now = time.Second
	clock.mu.Unlock()
	turn.Give()
	other.Wait()
	if got := turn.Facts(); got[0].Value != "1" || got[1].Value != "1s" {
		t.Errorf("one has waited for a second: %v", got)
	}
}

func TestOneAtATime(t *testing.T) {
	turn := NewTurn(&handClock{})
	n := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				turn.Take()
				n++
				turn.Give()
			}
		})
	}
	all.Wait()
	if n != 8000 {
		t.Errorf("8000 turns have counted to %d", n)
	}
}
