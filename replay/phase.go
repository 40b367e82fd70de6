package replay

import (
	"context"
	"math"
	"sync"
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
	// check is nil if what is read isn't checked.
	check    *checker
	checked  checkTally
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
	// resume: the insert of a record that is there is no failure; present
	// counts them.
	resume  bool
	present atomic.Uint64

	// stop ends the claiming of ops: an interrupt, or a phase that is stuck.
	stop      atomic.Bool
	stops     chan struct{}
	stoppedAt time.Duration // set before stops is closed
	// spent is closed at a stop and when a lane found no more ops, by ending.
	spent     chan struct{}
	ending    sync.Once
	stuck     atomic.Bool
	aborted   atomic.Bool
	abortedOp uint64 // set before aborted

	// order is nil if ops on one key may overtake each other.
	order *keyOrder

	// deletes is false if the phase is known to have no DELETEs.
	deletes bool

	// What follows belongs to the goroutine that claims ops; claims is for those
	// that are one of several.
	claims  sync.Mutex
	phaseOp uint64 // index in the phase of the next op of the trace
	// pending is the next op of the trace, taken and not yet launched, if
	// isPending; released is the one that got its key last.
	pending, released claimed
	isPending         bool
	// late is the time in which an op could have been sent and was not, up to
	// lateUntil.
	late, lateUntil time.Duration
	// held is the instant until which so many ops waited for their keys that
	// none was taken.
	held time.Duration

	// launchedKeys holds the key of the last op of each slot.
	launchedKeys []uint64

	exhausted atomic.Bool
}

// now returns the instant in the phase.
func (p *phaseRun) now() time.Duration { return p.clock.Now() - p.start }

// free reports whether no op waits for a due time or for another op.
func (p *phaseRun) free() bool { return !p.paced && p.order == nil }

// spend tells the lanes that no more ops are to be issued.
func (p *phaseRun) spend() { p.ending.Do(func() { close(p.spent) }) }

// lateMin is the lag from which on it counts as time that the generator took
// from the schedule: more than any scheduler's slice.
const lateMin = 10 * time.Millisecond

// build makes the bytes of the op in s.
func (p *phaseRun) build(s *slot) {
	p.builder.build(s)
	if s.reading != nil {
		s.reading.begin()
		s.op.Rows = s.reading
	}
}

// launch prepares c in s, waits until it is due and gets it its key; s.sample.Start is
// the instant at which that was so. It returns false if the op is not to be sent
// now: another op goes first, or the run ends. The slot stays free then. Without
// due times the op was ready no earlier than at the instant reached.
func (p *phaseRun) launch(s *slot, c *claimed, reached time.Duration) bool {
	s.assign(c)
	if !p.paced {
		s.readyFrom(reached)
	}
	p.build(s)
	waited := false
	if !c.offered {
		if p.paced {
			now := p.pacer.wait(saturatingAdd(p.start, c.due)) - p.start
			if now < c.due || p.stoppedBefore(c.due) {
				return false // a stop, or an op whose key is free: that one is due already
			}
			p.countLate(s.sample.Ready, now)
			s.sample.Start, waited = now, true
		}
		p.offer(c, s.sample.Due)
		if p.order != nil && !p.order.enter(c) {
			return false
		}
		c.entered = true
	}
	p.admit(s)
	if !waited {
		s.sample.Start = p.now()
	}
	return true
}

// admit notes what is known of other ops as the one in s starts.
func (p *phaseRun) admit(s *slot) {
	op := &s.trace
	if p.check != nil && op.Kind == traces.Insert {
		p.check.sample.key(op.Key, true) // a SCAN may see it before its answer is here
	}
	s.raced = p.inserts.open(op.Key)
	if p.deletes {
		p.noteDelete(s)
	}
	s.deadline = saturatingAdd(s.sample.Due, p.deadline)
	s.op.Deadline = saturatingAdd(p.start, s.deadline)
}

// noteDelete keeps the key of the op in s, and if that is a DELETE tells the ops
// in flight on its key.
func (p *phaseRun) noteDelete(s *slot) {
	p.launchedKeys[s.number] = s.trace.Key
	if s.overtaken.Load() {
		s.overtaken.Store(false)
	}
	if s.trace.Kind == traces.Delete {
		p.overtake(s)
	}
}

// countLate adds up the time in which an op that could have been sent was not.
// It overlaps for several ops, and counts once. A generator that stood still
// may be late with no more than a few ops: the slots of the others were freed
// by late ones, so that their delay is wait.
func (p *phaseRun) countLate(ready, now time.Duration) {
	if now-ready > lateMin {
		p.late += now - max(ready, p.lateUntil)
		p.lateUntil = now
	}
}

func saturatingAdd(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// patience returns until when c waits for a slot.
func (p *phaseRun) patience(c *claimed) time.Duration {
	switch {
	case !p.paced:
		return 1 << 62 // without due times only the watch ends the wait
	case p.overload == QueueOverload:
		return saturatingAdd(c.due, p.deadline)
	}
	return max(c.due, c.keyFree) + 1 // a slot that is free at the instant itself is in time
}

// noSlot gives c up, as the overload policy says: no slot was free before limit.
func (p *phaseRun) noSlot(c *claimed, limit time.Duration) {
	if p.overload == QueueOverload {
		p.giveUp(c, measure.Unsent, limit)
		return
	}
	p.giveUp(c, measure.Dropped, limit-1)
	if p.overload == AbortOverload {
		p.abortedOp = c.op.Index
		p.aborted.Store(true)
		p.halt()
	}
}

// giveUp counts c as an op that was never sent.
func (p *phaseRun) giveUp(c *claimed, outcome measure.Outcome, decided time.Duration) {
	if !c.offered {
		p.offer(c, c.due)
	}
	if c.op.Kind == traces.Insert {
		p.inserts.end(c.op.Key, false)
	}
	sample := &measure.Sample{Index: c.op.Index, Kind: c.op.Kind, Outcome: outcome, Due: c.due, KeyFree: c.keyFree, Decided: decided}
	p.recorder.Record(0, sample)
	p.decided(sample, &c.op, c.entered, max(decided, c.keyFree))
}

// answered decides the fate of the op in s and frees s. It reports false if the op
// has been counted: it was past its deadline.
func (p *phaseRun) answered(s *slot, err error) bool {
	end := p.now()
	s.freeAt = end
	if !s.end() {
		return false
	}
	p.judge(s, err, end)
	return true
}

// judge decides the fate of an op that was in flight, which is still to be
// recorded.
func (p *phaseRun) judge(s *slot, err error, end time.Duration) {
	op, sample := &s.trace, &s.sample
	sample.Decided = end
	if op.Kind == traces.ReadModifyWrite && s.op.ReadEnded > 0 {
		sample.ReadEnded = s.op.ReadEnded - p.start
	}
	if end >= s.deadline {
		sample.Outcome, sample.Decided = measure.Censored, s.deadline
	} else if p.resume && err != nil && op.Kind == traces.Insert && bindings.ClassOf(err) == bindings.Duplicate {
		p.present.Add(1)
	} else if err != nil {
		sample.Outcome, sample.Class = p.outcome(s, err)
		if sample.Outcome == measure.Failed {
			p.recorder.Message(op.Kind, sample.Class, err)
		}
	}
	if op.Kind == traces.Insert {
		p.inserts.end(op.Key, sample.Outcome == measure.Completed)
	}
	if p.check != nil {
		if op.Kind.Reads() && sample.Outcome == measure.Completed {
			s.reading.finish()
			p.checked.add(s.reading)
		}
		p.check.wrote(op, s.version, sample.Outcome)
	}
	p.decided(sample, op, true, end)
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
	case s.raced || s.overtaken.Load():
		return measure.Raced, class
	}
	return measure.Failed, class
}

// expire counts an op that is still in flight at its deadline, or at the end
// of the run if that comes first.
func (p *phaseRun) expire(s *slot, at time.Duration) {
	op := &s.trace
	sample := s.sample
	sample.Outcome, sample.Decided = measure.Censored, min(s.deadline, at)
	if p.check != nil {
		p.check.wrote(op, s.version, measure.Censored)
	}
	if op.Kind == traces.Insert {
		p.inserts.end(op.Key, false)
	}
	p.recorder.Record(s.stripe, &sample)
	p.decided(&sample, op, true, at)
}

// decided logs a fate. An op that has its key gives it back, at freed.
func (p *phaseRun) decided(sample *measure.Sample, op *traces.Op, hasKey bool, freed time.Duration) {
	if p.log != nil {
		p.log.write(sample, op.Phase)
	}
	if p.order != nil && hasKey {
		p.order.leave(op, freed)
	}
}
