package replay

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"pianola/bindings"
	"pianola/replay/measure"
	"pianola/traces"
)

// phaseRun is one phase while it runs. Instants count from the phase's start.
type phaseRun struct {
	// interrupt is done when the run is to end; calls is handed to sessions and
	// is done once their ops have been given up.
	interrupt, calls context.Context
	clock            Clock
	// start of the phase on clock.
	start time.Duration
	index int
	// paced says that due times are kept to.
	paced    bool
	scale    scale
	cursor   *cursor
	recorder *measure.Recorder
	inserts  *insertLog
	builder  *builder
	log      *opLog
	pacer    *pacer
	slots    []*slot
	deadline time.Duration
	grace    time.Duration
	overload Overload
	// versionBase is the version of what the phase's first op would write, or
	// 0 in a load, whose values all have version 0.
	versionBase uint64
	load        bool

	// stop ends the claiming of ops: an interrupt, or a phase that is stuck.
	stop      atomic.Bool
	stops     chan struct{}
	stoppedAt time.Duration // set before stops is closed
	stuck     atomic.Bool
	aborted   atomic.Bool
	abortedOp uint64 // set before aborted

	// What follows belongs to the goroutine that claims ops.
	phaseOp uint64 // index in the phase of the next op
	// pending is an op that was claimed and found no slot before a stop.
	pending   traces.Op
	isPending bool
	// reached is the instant at which a pipelined dispatcher came to the next
	// op: without due times no op was ready before.
	reached time.Duration

	// lastDeadline is the latest deadline of an op that was sent.
	lastDeadline atomic.Int64
	exhausted    atomic.Bool
}

// now returns the instant in the phase.
func (p *phaseRun) now() time.Duration { return p.clock.Now() - p.start }

// claim takes the next op of the trace. due is its due time, if it has one.
func (p *phaseRun) claim() (due time.Duration, ok bool) {
	if p.stop.Load() {
		return 0, false
	}
	if !p.isPending {
		if !p.cursor.next(p.index, &p.pending) {
			p.exhausted.Store(true)
			return 0, false
		}
		p.isPending = true
	}
	if p.paced {
		due = p.scale.due(p.pending.Due)
	}
	return due, true
}

// launch prepares the pending op in s, waits until it is due and marks it as
// in flight. It returns false if the run was stopped before: s stays free.
func (p *phaseRun) launch(s *slot, due time.Duration) bool {
	s.trace = p.pending
	s.due, s.ready = due, max(due, s.freeAt)
	if !p.paced {
		s.ready = max(s.freeAt, p.reached)
		s.due = s.ready
	}
	version := uint64(0)
	if !p.load {
		version = p.versionBase + p.phaseOp
	}
	p.builder.build(s, version)
	if p.paced {
		if p.pacer.wait(p.start+due)-p.start < due {
			return false
		}
	}
	p.isPending = false
	p.phaseOp++
	p.recorder.Offer(s.trace.Kind, s.due)
	s.unwritten = s.trace.Key >= p.cursor.nextInsert
	s.raced = p.inserts.open(s.trace.Key)
	if s.trace.Kind == traces.Insert {
		p.inserts.begin(s.trace.Key)
	}
	deadline := saturatingAdd(s.due, p.deadline)
	s.op.Deadline = saturatingAdd(p.start, deadline)
	p.lastDeadline.Store(int64(max(deadline, time.Duration(p.lastDeadline.Load()))))
	return true
}

func saturatingAdd(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// sent stamps the start and puts the op in flight.
func (p *phaseRun) sent(s *slot) {
	s.start = p.now()
	s.begin(saturatingAdd(s.due, p.deadline))
}

// patience returns until when an op waits for a slot.
func (p *phaseRun) patience(due time.Duration) time.Duration {
	switch {
	case !p.paced:
		return 1 << 62 // without due times only the watch ends the wait
	case p.overload == QueueOverload:
		return saturatingAdd(due, p.deadline)
	}
	return due + 1 // a slot that is free at the due time itself is in time
}

// noSlot gives the pending op up, as the overload policy says: no slot was free
// before limit.
func (p *phaseRun) noSlot(due, limit time.Duration) {
	if p.overload == QueueOverload {
		p.giveUp(measure.Unsent, due, limit)
		return
	}
	op := p.pending.Index
	p.giveUp(measure.Dropped, due, due)
	if p.overload == AbortOverload {
		p.abortedOp = op
		p.aborted.Store(true)
		p.halt()
	}
}

// giveUp counts the pending op as one that was never sent.
func (p *phaseRun) giveUp(outcome measure.Outcome, due, decided time.Duration) {
	op := &p.pending
	p.isPending = false
	p.phaseOp++
	p.recorder.Offer(op.Kind, due)
	if op.Kind == traces.Insert {
		p.inserts.begin(op.Key)
		p.inserts.end(op.Key, false)
	}
	p.decide(0, &measure.Sample{Index: op.Index, Kind: op.Kind, Outcome: outcome, Due: due, Decided: decided}, op)
}

// answered counts the answer of the op in s and frees s.
func (p *phaseRun) answered(s *slot, err error) {
	end := p.now()
	if s.end() {
		p.count(s, err, end)
	}
	s.freeAt = end
}

// count decides the fate of an op that was in flight.
func (p *phaseRun) count(s *slot, err error, end time.Duration) {
	op := &s.trace
	sample := measure.Sample{Index: op.Index, Kind: op.Kind, Due: s.due, Ready: s.ready, Start: s.start, Decided: end}
	if limit := time.Duration(s.deadline.Load()); end >= limit {
		sample.Outcome, sample.Decided = measure.Censored, limit
	} else if err != nil {
		sample.Outcome, sample.Class = p.outcome(s, err)
		if sample.Outcome == measure.Failed {
			p.recorder.Message(op.Kind, sample.Class, err)
		}
	}
	if op.Kind == traces.Insert {
		p.inserts.end(op.Key, sample.Outcome == measure.Completed)
	}
	p.decide(s.number, &sample, op)
}

// outcome tells misses from failures.
func (p *phaseRun) outcome(s *slot, err error) (measure.Outcome, bindings.Class) {
	class := bindings.ClassOf(err)
	if class != bindings.NotFound || s.trace.Kind == traces.Insert {
		return measure.Failed, class
	}
	switch {
	case s.unwritten:
		return measure.Expected, class
	case p.inserts.orphan(s.trace.Key):
		return measure.Orphaned, class
	case s.raced:
		return measure.Raced, class
	}
	return measure.Failed, class
}

// expire counts an op that is still in flight at its deadline, or at the end
// of the run if that comes first.
func (p *phaseRun) expire(s *slot, at time.Duration) {
	op := &s.trace
	sample := measure.Sample{
		Index: op.Index, Kind: op.Kind, Outcome: measure.Censored, Due: s.due, Ready: s.ready, Start: s.start,
		Decided: min(time.Duration(s.deadline.Load()), at),
	}
	if op.Kind == traces.Insert {
		p.inserts.end(op.Key, false)
	}
	p.decide(s.number, &sample, op)
}

func (p *phaseRun) decide(stripe int, sample *measure.Sample, op *traces.Op) {
	p.recorder.Record(stripe, sample)
	if p.log != nil {
		p.log.write(sample, op.Phase)
	}
}

// watchInterval is how often the watch looks at the slots. Fates are stamped
// with the deadline itself, however late the watch comes.
const watchInterval = 50 * time.Millisecond

// watch counts ops as censored whose deadline has passed, until ended is
// closed. giveUp, if it is not nil, does so with ops that found no slot.
func (p *phaseRun) watch(ended <-chan struct{}, giveUp func(now time.Duration)) {
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
		p.expireBefore(now, now)
		if giveUp != nil {
			giveUp(now)
		}
		if !p.paced && p.allExpired() && now > saturatingAdd(time.Duration(p.lastDeadline.Load()), p.grace) {
			p.stuck.Store(true)
			p.halt()
		}
		if err := p.recorder.CloseIntervals(now); err != nil {
			panic("replay: internal error: " + err.Error()) // it decodes what it encoded
		}
	}
}

// expireBefore counts the ops in flight whose deadline is not after limit.
func (p *phaseRun) expireBefore(limit, at time.Duration) {
	for _, s := range p.slots {
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
	}
}

// settle counts the ops that were due before a stop and found no slot as
// unsent. It is called by the goroutine that claims, after the last claim.
func (p *phaseRun) settle() {
	<-p.stops
	if !p.paced {
		return
	}
	at := p.stoppedAt
	for {
		if !p.isPending && !p.cursor.next(p.index, &p.pending) {
			return
		}
		p.isPending = true
		due := p.scale.due(p.pending.Due)
		if due > at {
			return
		}
		p.giveUp(measure.Unsent, due, at)
	}
}

// drainLimit returns until when the answers of ops in flight are waited for.
func (p *phaseRun) drainLimit() time.Duration {
	if p.stop.Load() {
		return p.now() + p.grace
	}
	return saturatingAdd(time.Duration(p.lastDeadline.Load()), p.grace)
}
