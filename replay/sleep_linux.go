package replay

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleepMethod names how this platform sleeps.
const sleepMethod = "clock_nanosleep"

// timerSlack is by how much the kernel may put a wake-up off, 1 ns being the
// least. The default of 50 µs would be added to every one.
const timerSlack = 1

// sleeper sleeps by clock_nanosleep to absolute instants: Go's own timers wake
// through the network poller, which rounds to milliseconds.
type sleeper struct {
	// offset is CLOCK_MONOTONIC at the clock's 0, in ns.
	offset int64
}

func (s *sleeper) init(c *realClock) {
	var ts unix.Timespec
	before := c.Now()
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("replay: internal error: clock_gettime: " + err.Error()) // never fails for this clock
	}
	s.offset = ts.Nano() - int64(before)
}

// sleep sleeps until about t; it may wake early.
func (s *sleeper) sleep(_, t time.Duration) {
	// The slack belongs to the thread, and a goroutine may be on another one
	// at each call.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, timerSlack, 0, 0, 0)
	ts := unix.NsecToTimespec(s.offset + int64(t))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil)
}
