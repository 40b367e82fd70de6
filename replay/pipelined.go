package replay

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"pianola/bindings"
)

// pipelined runs phases on a binding that takes ops without waiting for their
// answers. One lane waits for due times and issues every op; where nothing has
// to be waited for, all do.
type pipelined struct {
	slots []*slot
	lanes []*lane
	// phase is that of the ops in flight; there are none between phases. free are
	// the free slots of its lanes.
	phase *phaseRun
	free  atomic.Pointer[[]*freeSlots]
}

// Done takes the answer of an op, from any goroutine.
func (e *pipelined) Done(op *bindings.Op, err error) {
	s := e.slots[op.Slot]
	s.recorded = !e.phase.answered(s, err)
	s.lane.free.put(s)
}

// run issues the ops of a phase and waits for their answers. It returns the
// number of ops that were not answered in time.
func (e *pipelined) run(p *phaseRun) (hung int) {
	e.phase = p
	lanes := e.divide(p)
	var free []*freeSlots
	for _, l := range lanes {
		free = append(free, l.free)
	}
	e.free.Store(&free)
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		p.watch(ended, func(time.Duration) { e.record() })
		close(watched)
	}()
	each(lanes, func(l *lane) {
		l.timer = time.NewTimer(time.Hour)
		if p.free() {
			l.dispatchFreely(p)
		} else {
			l.dispatch(p)
		}
	})
	if p.stop.Load() {
		p.settle()
	}
	for _, l := range lanes {
		hung += l.drain(p)
		l.timer.Stop()
	}
	close(ended)
	<-watched
	return hung
}

func (e *pipelined) record() {
	if free := e.free.Load(); free != nil {
		for _, f := range *free {
			f.record()
		}
	}
}

// divide shares the slots out among the lanes that run the phase, and returns
// those: the first one alone if ops wait for their due time or for each other.
func (e *pipelined) divide(p *phaseRun) []*lane {
	if !p.free() || p.check != nil || p.deletes || len(e.lanes) == 1 {
		e.lanes[0].begin(e.slots, p.recorder)
		return e.lanes[:1]
	}
	for i, l := range e.lanes {
		// Neighbours share cache lines.
		share := e.slots[i*len(e.slots)/len(e.lanes) : (i+1)*len(e.slots)/len(e.lanes)]
		l.begin(share, p.recorder)
	}
	return e.lanes
}

// each calls f for every lane, at the same time, and returns when all are done.
func each(lanes []*lane, f func(l *lane)) {
	var others sync.WaitGroup
	for _, l := range lanes[1:] {
		others.Go(func() { f(l) })
	}
	f(lanes[0])
	others.Wait()
}

func (e *pipelined) close() error {
	var errs []error
	for _, l := range e.lanes {
		errs = append(errs, l.pipeline.Close())
	}
	return errors.Join(errs...)
}
