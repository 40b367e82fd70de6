package replay

import (
	"time"

	"pianola/bindings"
)

// Clock is the clock of a run.
type Clock interface {
	bindings.Clock
	// Stepped reports that time moves only while everything waits, as on a
	// clock of a simulation: nobody may spin until an instant.
	Stepped() bool
}

// realClock counts from its making on the system's monotonic clock. Setting
// the wall clock changes nothing.
type realClock struct {
	start time.Time
	sleeper
}

// NewClock returns a clock that starts now.
func NewClock() Clock {
	c := &realClock{start: time.Now()}
	c.sleeper.init(c)
	return c
}

func (c *realClock) Now() time.Duration { return time.Since(c.start) }
func (c *realClock) Stepped() bool      { return false }

func (c *realClock) SleepUntil(t time.Duration) {
	for now := c.Now(); now < t; now = c.Now() {
		c.sleep(now, t)
	}
}
