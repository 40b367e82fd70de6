package replay

import (
	"time"

	"pianola/replay/measure"
)

// watchInterval is how often the watch looks at the slots. Fates are stamped
// with the deadline itself, however late the watch comes.
const watchInterval = 50 * time.Millisecond

// watch counts ops as censored whose deadline has passed, until ended is
// closed. more is what else the executor has to do now and then.
func (p *phaseRun) watch(ended <-chan struct{}, more func(now time.Duration)) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-p.interrupt.Done():
			p.halt()
			<-ended
			return
		case <-tick.C:
		}
		now := p.now()
		p.expireBefore(p.slots, now, now)
		more(now)
		if !p.paced && p.allExpired() && now > saturatingAdd(p.lastDeadline(), p.grace) {
			p.stuck.Store(true)
			p.halt()
		}
		if err := p.recorder.CloseIntervals(now); err != nil {
			panic("replay: internal error: " + err.Error()) // it decodes what it encoded
		}
	}
}

// expireBefore counts the ops in flight in slots whose deadline is not after
// limit.
func (p *phaseRun) expireBefore(slots []*slot, limit, at time.Duration) {
	for _, s := range slots {
		s.expire(limit, func(s *slot) { p.expire(s, at) })
	}
}

// allExpired reports whether every slot is held by an op that the client has
// not given up: without due times nothing would ever be offered again.
func (p *phaseRun) allExpired() bool {
	for _, s := range p.slots {
		if stateOf(s.state.Load()) != expired {
			return false
		}
	}
	return true
}

// halt stops the claiming of ops.
func (p *phaseRun) halt() {
	if !p.stop.Swap(true) {
		p.stoppedAt = p.now()
		close(p.stops)
		p.spend()
	}
}

// stoppedBefore reports whether a stop came before the given instant.
func (p *phaseRun) stoppedBefore(due time.Duration) bool {
	if !p.stop.Load() {
		return false
	}
	<-p.stops
	return due > p.stoppedAt
}

// settle counts the ops that were due before a stop and were not sent. It is
// called by the goroutine that claims, after the last claim.
func (p *phaseRun) settle() {
	<-p.stops
	if p.order != nil {
		// Answers still let ops in: until none is left in either line.
		for !p.order.idle() {
			if c := (claimed{}); p.order.take(&c) || p.order.takeParked(&c) {
				p.giveUp(&c, measure.Unsent, max(p.stoppedAt, c.due))
			}
		}
	}
	for p.paced && p.peek() && p.pending.due <= p.stoppedAt {
		c := p.pending
		p.giveUp(&c, measure.Unsent, p.stoppedAt)
	}
}

// lastDeadline returns the latest deadline of the ops in flight, or a later one.
func (p *phaseRun) lastDeadline() (last time.Duration) {
	for _, s := range p.slots {
		last = max(last, deadlineOf(s.state.Load()))
	}
	return last
}

// drainLimit returns until when the answers of ops in flight are waited for.
func (p *phaseRun) drainLimit() time.Duration {
	if p.stop.Load() {
		return p.now() + p.grace
	}
	return saturatingAdd(p.lastDeadline(), p.grace)
}
