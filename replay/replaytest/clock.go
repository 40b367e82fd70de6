// Package replaytest has what tests of runs need: a stepped clock, and a
// binding that notes what it is asked.
package replaytest

import "time"

// Clock is a stepped clock for use inside a bubble of testing/synctest, where
// time moves only while every goroutine waits.
type Clock struct{ start time.Time }

// NewClock returns a clock that starts now, in the bubble's time.
func NewClock() *Clock { return &Clock{time.Now()} }

// Now returns the time since the clock's start.
func (c *Clock) Now() time.Duration { return time.Since(c.start) }

// SleepUntil returns when Now is t.
func (c *Clock) SleepUntil(t time.Duration) { time.Sleep(t - c.Now()) }

// Stepped reports true: nobody may spin on this clock.
func (c *Clock) Stepped() bool { return true }
