package replay

import (
	"time"

	"pianola/bindings"
)

// pipelined runs phases on a binding that takes ops without waiting for their
// answers: one thread waits for due times and issues every op.
type pipelined struct {
	slots    []*slot
	free     *slotQueue
	pipeline bindings.Pipeline
	// flusher is the pipeline if it keeps what it has to send, else nil; kept
	// counts the ops it was given since it was flushed.
	flusher bindings.Flusher
	kept    int
	// phase is that of the ops in flight; there are none between phases.
	phase *phaseRun
}

// Done takes the answer of an op, from any goroutine.
func (e *pipelined) Done(op *bindings.Op, err error) {
	s := e.slots[op.Slot]
	e.phase.answered(s, err)
	e.free.put(s)
}

// run issues the ops of a phase and waits for their answers. It returns the
// number of ops that were not answered in time.
func (e *pipelined) run(p *phaseRun) (hung int) {
	e.phase = p
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		p.watch(ended, nil)
		close(watched)
	}()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	e.dispatch(p, timer)
	if p.stop.Load() {
		p.settle()
	}
	hung = e.drain(p, timer)
	close(ended)
	<-watched
	return hung
}

// keptMax bounds the ops that a pipeline keeps: the first waits while the
// others are built.
const keptMax = 32

// flush has the pipeline send what it keeps. It is called before every wait.
func (e *pipelined) flush() {
	if e.kept > 0 {
		e.kept = 0
		e.flusher.Flush()
	}
}

// issue sends an op. Under --order key others may wait for its answer.
func (e *pipelined) issue(p *phaseRun, s *slot) {
	e.pipeline.Issue(&s.op)
	if e.flusher == nil {
		return
	}
	if e.kept++; e.kept == keptMax || p.order != nil {
		e.flush()
	}
}

func (e *pipelined) dispatch(p *phaseRun, timer *time.Timer) {
	var s *slot
	if e.flusher != nil {
		p.cursor.waits = e.flush
		defer e.flush()
	}
	for c := p.claim(); c != nil; c = p.claim() {
		limit := p.patience(c)
		if s == nil {
			s = e.take(p, limit, timer, p.stops)
		}
		if p.paced && (s == nil || max(s.freeAt, c.keyFree) >= limit) && !p.stop.Load() {
			p.noSlot(c, limit)
			continue
		}
		if s == nil {
			p.putBack(c) // stopped
			break
		}
		if e.kept > 0 && p.paced && p.now() < c.due {
			e.flush()
		}
		if p.launch(s, c) {
			s.begin()
			p.reached = s.start
			e.issue(p, s)
			s = nil
		}
	}
	if s != nil {
		e.free.put(s)
	}
}

// take returns the slot that is free longest. If there is none until limit or
// until stops is closed it returns nil.
func (e *pipelined) take(p *phaseRun, limit time.Duration, timer *time.Timer, stops <-chan struct{}) *slot {
	for {
		if s := e.free.take(); s != nil {
			return s
		}
		left := limit - p.now()
		if left <= 0 {
			e.free.giveUp()
			return nil
		}
		e.flush()
		timer.Reset(left)
		select {
		case <-e.free.wake:
		case <-timer.C:
			e.free.giveUp()
		case <-stops:
			e.free.giveUp()
			return e.free.takeNow()
		}
	}
}

// drain waits until nothing is in flight, or until the limit; then it counts
// what is left.
func (e *pipelined) drain(p *phaseRun, timer *time.Timer) (hung int) {
	limit := p.drainLimit()
	var back []*slot
	stops := p.stops
	for len(back) < len(e.slots) {
		s := e.take(p, limit, timer, stops)
		if s != nil {
			back = append(back, s)
			continue
		}
		if p.stop.Load() && stops != nil {
			// The interrupt came while draining: the grace counts from here.
			stops, limit = nil, min(limit, p.drainLimit())
			continue
		}
		break
	}
	if len(back) < len(e.slots) {
		p.expireBefore(1<<62, p.now())
		// A slot that is idle has its answer: the fate is being recorded.
		for e.idle() > len(back) {
			if s := e.free.takeNow(); s != nil {
				back = append(back, s)
			} else {
				time.Sleep(10 * time.Microsecond)
			}
		}
	}
	hung = len(e.slots) - len(back)
	for _, s := range back {
		e.free.put(s)
	}
	return hung
}

// idle returns the number of slots without an op in flight.
func (e *pipelined) idle() (n int) {
	for _, s := range e.slots {
		if stateOf(s.state.Load()) == idle {
			n++
		}
	}
	return n
}

func (e *pipelined) close() error { return e.pipeline.Close() }
