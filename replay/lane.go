package replay

import (
	"time"

	"pianola/bindings"
	"pianola/replay/measure"
)

// lane is a goroutine that issues ops through a pipeline, and its share of the
// slots.
type lane struct {
	number   int
	pipeline bindings.Pipeline
	// flusher is the pipeline if it keeps what it has to send, else nil; kept
	// counts the ops it was given since it was flushed.
	flusher bindings.Flusher
	kept    int
	slots   []*slot
	free    *freeSlots
	// held is a slot that was taken and not used.
	held  *slot
	burst []*slot
	timer *time.Timer
	// reached is the instant at which the lane came to its next op, -1 before the
	// first: without due times no op was ready before.
	reached time.Duration
}

const (
	// keptMax bounds the ops that a pipeline keeps: the first waits while the
	// others are built.
	keptMax = 32
	// burstMax bounds the ops that are built together, for the same reason. A
	// clock reading is a barrier for the processor: without one between them,
	// the building of several ops overlaps.
	burstMax = 32
)

func newLane(number int, pipeline bindings.Pipeline) *lane {
	l := &lane{number: number, pipeline: pipeline, burst: make([]*slot, 0, burstMax)}
	l.flusher, _ = pipeline.(bindings.Flusher)
	return l
}

// begin prepares the lane for a phase in which it has the given slots.
func (l *lane) begin(slots []*slot, recorder *measure.Recorder) {
	l.slots, l.free, l.held, l.reached = slots, newFreeSlots(slots, recorder, l.number), nil, -1
	for _, s := range slots {
		s.lane = l
	}
}

// flush has the pipeline send what it keeps. It is called before every wait.
func (l *lane) flush() {
	if l.kept > 0 {
		l.kept = 0
		l.flusher.Flush()
	}
}

// issue sends the op of s.
func (l *lane) issue(s *slot) {
	s.begin()
	l.reached = s.sample.Start
	l.pipeline.Issue(&s.op)
	if l.flusher == nil {
		return
	}
	if l.kept++; l.kept == keptMax {
		l.flush()
	}
}

// dispatch issues the ops of a phase one by one, each when it is due. Those that
// are late already go in bursts.
func (l *lane) dispatch(p *phaseRun) {
	for {
		if p.order == nil && l.issueBurst(p, l.reached) {
			continue
		}
		c := p.claim()
		if c == nil || !l.dispatchOne(p, c) {
			break
		}
	}
	l.flush()
	l.putHeld()
}

// dispatchOne issues c, gives it up, or leaves it for later. It returns false
// after a stop.
func (l *lane) dispatchOne(p *phaseRun, c *claimed) bool {
	limit := p.patience(c)
	if l.held == nil {
		l.held = l.take(p, limit, p.stops)
	}
	s := l.held
	if p.paced && (s == nil || max(s.freeAt, c.keyFree) >= limit) && !p.stop.Load() {
		p.noSlot(c, limit)
		return true
	}
	if s == nil {
		p.putBack(c)
		return false
	}
	if l.kept > 0 && p.paced && p.now() < c.due {
		l.flush()
	}
	if p.launch(s, c, l.reached) {
		l.held = nil
		l.issue(s)
		if p.order != nil {
			l.flush() // others may wait for the answer
		}
	}
	return true
}

// dispatchFreely issues ops of a phase in which nothing waits for due times or
// for other ops, beside other lanes.
func (l *lane) dispatchFreely(p *phaseRun) {
	for !p.stop.Load() {
		if l.held == nil {
			l.held = l.take(p, 1<<62, p.spent)
		}
		if l.held == nil || !l.issueBurst(p, 0) {
			break
		}
	}
	p.spend() // others may wait for slots that don't come back
	l.flush()
	l.putHeld()
}

// issueBurst issues ops that are due until the given instant, as many as have
// slots and are at hand: to wait for the trace is only for the first. It returns
// false if there was none. A burst that has begun is issued whole.
func (l *lane) issueBurst(p *phaseRun, due time.Duration) bool {
	l.collect(p, due)
	for _, s := range l.burst {
		p.build(s)
	}
	for _, s := range l.burst {
		if !p.paced {
			s.readyFrom(l.reached)
		}
		p.recorder.Offer(l.number, s.trace.Kind, s.sample.Due)
		p.admit(s)
		s.sample.Start = p.now()
		if p.paced {
			p.countLate(s.sample.Ready, s.sample.Start)
		}
		l.issue(s)
	}
	return len(l.burst) > 0
}

// collect claims the ops of a burst, which goes out late: of half of the slots at
// most, since those that it takes don't count as free meanwhile.
func (l *lane) collect(p *phaseRun, due time.Duration) {
	l.burst = l.burst[:0]
	if !p.claims.TryLock() {
		l.flush() // who claims may be waiting for the trace
		p.claims.Lock()
	}
	defer p.claims.Unlock()
	if l.kept > 0 && !p.cursor.atHand() {
		l.flush()
	}
	most := min(burstMax, max(len(l.slots)/2, 1))
	for len(l.burst) < most && (len(l.burst) == 0 || p.cursor.atHand()) && !p.stop.Load() && p.peek() && p.pending.due <= due {
		if l.held == nil {
			l.held = l.free.takeNow()
		}
		s := l.held
		if s == nil || p.paced && s.freeAt >= p.patience(&p.pending) {
			return
		}
		l.held = nil
		s.assign(&p.pending)
		p.consume()
		l.burst = append(l.burst, s)
	}
}

// putHeld gives back the slot that was taken and not used.
func (l *lane) putHeld() {
	if l.held != nil {
		l.free.put(l.held)
		l.held = nil
	}
}

// take returns the slot that is free longest. If there is none until limit or
// until stops is closed it returns nil.
func (l *lane) take(p *phaseRun, limit time.Duration, stops <-chan struct{}) *slot {
	for {
		if s := l.free.take(); s != nil {
			return s
		}
		left := limit - p.now()
		if left <= 0 {
			l.free.giveUp()
			return nil
		}
		l.flush()
		l.timer.Reset(left)
		select {
		case <-l.free.wake:
		case <-l.timer.C:
			l.free.giveUp()
		case <-stops:
			l.free.giveUp()
			return l.free.takeNow()
		}
	}
}

// drain waits until nothing is in flight, or until the limit; then it counts
// what is left.
func (l *lane) drain(p *phaseRun) (hung int) {
	limit := p.drainLimit()
	back := 0
	stops := p.stops
	for back < len(l.slots) {
		if s := l.take(p, limit, stops); s != nil {
			back++
			continue
		}
		if p.stop.Load() && stops != nil {
			// The interrupt came while draining: the grace counts from here.
			stops, limit = nil, min(limit, p.drainLimit())
			continue
		}
		break
	}
	if back < len(l.slots) {
		p.expireBefore(l.slots, 1<<62, p.now())
		// A slot that is idle has its answer: the fate is being recorded.
		for l.idle() > back {
			if l.free.takeNow() != nil {
				back++
			} else {
				time.Sleep(10 * time.Microsecond)
			}
		}
	}
	return len(l.slots) - back
}

// idle returns the number of slots without an op in flight.
func (l *lane) idle() (n int) {
	for _, s := range l.slots {
		if stateOf(s.state.Load()) == idle {
			n++
		}
	}
	return n
}
