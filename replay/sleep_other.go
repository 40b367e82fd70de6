//go:build !linux

package replay

import "time"

// sleepMethod names how this platform sleeps.
const sleepMethod = "timer"

// sleeper sleeps by the runtime's timers.
type sleeper struct{}

func (sleeper) init(*realClock) {}

// sleep sleeps until about t; it may wake late.
func (sleeper) sleep(now, t time.Duration) { time.Sleep(t - now) }
