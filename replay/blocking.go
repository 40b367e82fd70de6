package replay

import (
	"errors"
	"sync"
	"time"
)

// blocking runs phases on a binding whose sessions run one op at a time. Each
// slot has a session and a goroutine. The one that has the lead claims the next
// op, waits until it is due, passes the lead on and runs the op.
type blocking struct {
	slots []*slot
	lead  *lead
	// main stands for the runner's own goroutine where it needs the lead.
	main *slot
	// hung are slots whose session has not returned; they run no more phases.
	hung map[*slot]bool
}

func newBlocking(slots []*slot) *blocking {
	e := &blocking{slots: slots, main: &slot{turn: make(chan struct{}, 1)}, hung: map[*slot]bool{}}
	for _, s := range slots {
		s.turn = make(chan struct{}, 1)
	}
	return e
}

// run issues the ops of a phase and waits for their answers. It returns the
// number of ops that were not answered in time.
func (e *blocking) run(p *phaseRun) (hung int) {
	// Slots are in line from the start, in their order: none has been used.
	e.lead = &lead{waiting: append([]*slot(nil), e.slots...)}
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		p.watch(ended, func(now time.Duration) { e.giveUp(p, now) })
		close(watched)
	}()
	exits := make(chan *slot, len(e.slots))
	for _, s := range e.slots {
		go e.work(p, s, exits)
	}
	e.lead.pass()
	back := e.collect(p, exits)
	if p.stop.Load() {
		e.lead.acquire(e.main)
		p.settle()
		e.lead.pass()
	}
	if len(back) < len(e.slots) {
		p.expireBefore(e.slots, 1<<62, p.now())
		// A slot that is idle has its answer: the fate is being recorded.
		for _, s := range e.slots {
			for !back[s] && stateOf(s.state.Load()) == idle {
				back[<-exits] = true
			}
		}
	}
	if hung = len(e.slots) - len(back); hung > 0 {
		for _, s := range e.slots {
			if !back[s] {
				e.hung[s] = true
			}
		}
	}
	close(ended)
	<-watched
	return hung
}

// work is what the goroutine of a slot does until the phase has no more ops. It
// stands in line for the lead already.
func (e *blocking) work(p *phaseRun, s *slot, exits chan<- *slot) {
	for <-s.turn; ; e.lead.acquire(s) {
		ok := e.next(p, s)
		e.lead.pass()
		if !ok {
			exits <- s
			return
		}
		s.sample.Start = p.now() // to pass the lead on may have taken a while
		s.begin()
		if p.answered(s, s.session.Do(p.calls, &s.op)) {
			p.recorder.Record(s.stripe, &s.sample)
		}
	}
}

// next claims ops until one can be sent, and waits until it is due. The caller
// has the lead.
func (e *blocking) next(p *phaseRun, s *slot) bool {
	for c := p.claim(); c != nil; c = p.claim() {
		if limit := p.patience(c); p.paced && max(s.freeAt, c.keyFree) >= limit {
			p.noSlot(c, limit)
			continue
		}
		if p.launch(s, c, 0) {
			s.announce() // before another finds the trace at its end, and waits for this op
			return true
		}
	}
	return false
}

// giveUp counts the ops whose patience ends while every slot is busy.
func (e *blocking) giveUp(p *phaseRun, now time.Duration) {
	if !p.paced || !e.lead.try() {
		return
	}
	defer e.lead.pass()
	for _, s := range e.slots {
		if stateOf(s.state.Load()) == idle {
			return // it is on its way to the lead
		}
	}
	for !p.stop.Load() {
		c, ok := p.first()
		if !ok {
			return
		}
		limit := p.patience(&c)
		if limit > now {
			return
		}
		if c.offered {
			p.order.take(&c)
		}
		p.noSlot(&c, limit)
	}
}

// collect waits for the goroutines of all slots, while ops are in flight that
// may be answered in time.
func (e *blocking) collect(p *phaseRun, exits <-chan *slot) map[*slot]bool {
	back := map[*slot]bool{}
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	stops := p.stops
	limit := time.Duration(1 << 62)
	for len(back) < len(e.slots) {
		select {
		case s := <-exits:
			back[s] = true
			continue
		case <-stops:
			stops, limit = nil, p.drainLimit()
		case <-tick.C:
		}
		if stops != nil && p.exhausted.Load() {
			limit = p.drainLimit()
		}
		if p.now() > limit {
			break
		}
	}
	return back
}

// record has nothing to do: whoever ran an op has counted it.
func (e *blocking) record() {}

// close closes the sessions, those of hung slots aside: their calls never
// returned.
func (e *blocking) close() error {
	var mu sync.Mutex
	var errs []error
	var all sync.WaitGroup
	for _, s := range e.slots {
		if e.hung[s] {
			continue
		}
		all.Go(func() {
			if err := s.session.Close(); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
