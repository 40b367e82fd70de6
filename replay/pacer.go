package replay

import (
	"slices"
	"sync/atomic"
	"time"

	"pianola/replay/measure"
)

// pacer waits for due times: it sleeps until a margin before them and spins
// the rest, if the spin's share of a core is within the budget. It is used by
// one goroutine at a time.
type pacer struct {
	clock  Clock
	margin time.Duration
	stop   *atomic.Bool
	// order ends a wait early when an op may go that had to wait for its key.
	order  *keyOrder
	gaps   *measure.Histogram
	gapSum time.Duration
	spun   time.Duration
}

const (
	// A sleep is cut in parts of this length, so that a stop is seen.
	sleepMax = 20 * time.Millisecond
	// While ops wait for their keys the parts are as short as a sleep can be.
	sleepParked = 50 * time.Microsecond
	// Bounds of the margin. Below, a single late wake-up is seen; above, the
	// spin costs more than it gains.
	marginMin = 20 * time.Microsecond
	marginMax = 500 * time.Microsecond
	// Wake-ups measured to find the margin: enough for a p99.
	calibrationSleeps = 100
	calibrationSleep  = 100 * time.Microsecond
	// Two clock readings further apart than this are a gap: somebody else had
	// the core.
	gapMin = 5 * time.Microsecond
)

// calibrate measures how late sleeps end and returns the margin: the p99 of the
// lateness, within its bounds. A stepped clock is never late.
func calibrate(clock Clock) time.Duration {
	if clock.Stepped() {
		return 0
	}
	late := make([]time.Duration, calibrationSleeps)
	for i := range late {
		t := clock.Now() + calibrationSleep
		clock.SleepUntil(t)
		late[i] = clock.Now() - t
	}
	slices.Sort(late)
	return min(max(late[len(late)*99/100], marginMin), marginMax)
}

// spinBudget returns the share of a core that the spin may take: a database
// that works on the same few cores needs them more.
func spinBudget(sharesCPUs bool, cpus int) float64 {
	if sharesCPUs && cpus <= 2 {
		return 0.25
	}
	return 1
}

// withinBudget returns margin, or 0 if spinning for it at the given rate of ops
// per second takes more of a core than budget.
func withinBudget(margin time.Duration, rate, budget float64) time.Duration {
	if min(1, rate*margin.Seconds()) > budget {
		return 0
	}
	return margin
}

// wait returns the first reading of the clock that is due or later, or an
// earlier one once stop is set or an op may go that waited for its key.
func (p *pacer) wait(due time.Duration) time.Duration {
	now := p.clock.Now()
	for due-now > p.margin {
		part := time.Duration(sleepMax)
		if p.order != nil && p.order.parked.Load() > 0 {
			part = sleepParked
		}
		if p.stop.Load() || p.order != nil && p.order.released.Load() > 0 {
			return now
		}
		p.clock.SleepUntil(min(due-p.margin, now+part))
		now = p.clock.Now()
	}
	if now >= due {
		return now
	}
	begin := now
	for now < due {
		before := now
		now = p.clock.Now()
		if gap := now - before; gap > gapMin {
			p.gaps.Record(gap)
			p.gapSum += gap
		}
	}
	p.spun += now - begin
	return now
}
