package replay

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pianola/replay/measure"
)

// freeSlots are the slots of a lane that have no op in flight, longest free first.
// Anyone may put, one goroutine takes.
//
// To put takes no lock, which would cost an answer more than all else: slots that
// come back are chained, each to the one before, and the taker takes the whole
// chain (Treiber: Systems Programming: Coping with Parallelism, 1986; a chain that
// is taken whole stays one whatever comes between). The fates of their ops are recorded when they
// are taken, many at a time, or by the watch if that is sooner.
type freeSlots struct {
	// back is the slot that came back last, nil if there is none, or awaited.
	back atomic.Pointer[slot]
	wake chan struct{}
	// chain is held by who takes slots out of the chain or goes along it.
	chain    sync.Mutex
	recorder *measure.Recorder
	stripe   int

	// own are slots that left the chain, from next on, up to twice all. They are
	// the taker's. drained says that none of them is left.
	own     []*slot
	next    int
	drained atomic.Bool
	// filled is the instant at which a slot became free while none was, the last
	// time.
	filled time.Duration
}

// awaited stands in for an empty chain while the taker waits for a slot.
var awaited = new(slot)

func newFreeSlots(slots []*slot, recorder *measure.Recorder, stripe int) *freeSlots {
	f := &freeSlots{wake: make(chan struct{}, 1), own: make([]*slot, 0, 2*len(slots)), recorder: recorder, stripe: stripe}
	f.drained.Store(true)
	for _, s := range slots {
		s.stripe, s.recorded = stripe, true
		f.put(s)
	}
	return f
}

// put gives a slot back; s.freeAt says since when it is free. That it is alone may
// have changed when the chain was filled and taken in between, within some ns: a
// wait of that length counts as lag then, or the other way round.
func (f *freeSlots) put(s *slot) {
	for {
		before := f.back.Load()
		if before == nil || before == awaited {
			s.before, s.alone = nil, f.drained.Load()
		} else {
			s.before, s.alone = before, false
		}
		if f.back.CompareAndSwap(before, s) {
			if before == awaited {
				f.wake <- struct{}{}
			}
			return
		}
	}
}

// take returns the slot that is free longest, or nil if none is; then the next put
// sends on f.wake, unless giveUp is called before.
func (f *freeSlots) take() *slot {
	for f.gather(); f.next == len(f.own); f.gather() {
		if f.back.CompareAndSwap(nil, awaited) || f.back.Load() == awaited {
			return nil
		}
	}
	s := f.own[f.next]
	if f.next++; f.next == len(f.own) {
		f.drained.Store(true)
	}
	return s
}

// gather takes the slots out of the chain.
//
// A slot counts as free since none was, if that is earlier than its own time: who
// is late to take also gets back late what it was late to use, which is no fault
// of the slots, of which others were free.
func (f *freeSlots) gather() {
	if last := f.back.Load(); last == nil || last == awaited {
		return
	}
	if f.next == len(f.own) {
		f.drained.Store(false) // before the chain is empty
	}
	if f.next >= cap(f.own)/2 {
		f.own, f.next = f.own[:copy(f.own, f.own[f.next:])], 0
	}
	left := len(f.own)
	f.chain.Lock()
	last := f.back.Swap(nil)
	f.recordFrom(last)
	for s := last; s != nil; s = s.before {
		f.own = append(f.own, s)
	}
	f.chain.Unlock()
	came := f.own[left:]
	slices.Reverse(came)
	if came[0].alone {
		f.filled = came[0].freeAt
	}
	for _, s := range came {
		s.freeAt = min(s.freeAt, f.filled)
	}
}

// record records what became of the ops of slots in the chain. Anyone may call it.
func (f *freeSlots) record() {
	f.chain.Lock()
	defer f.chain.Unlock()
	if last := f.back.Load(); last != awaited {
		f.recordFrom(last)
	}
}

// recordFrom records as far as that was not done. The chain is held.
func (f *freeSlots) recordFrom(last *slot) {
	if last == nil || last.recorded && last.before == nil {
		return
	}
	stripe := f.recorder.Hold(f.stripe)
	for s := last; s != nil; s = s.before {
		if !s.recorded {
			stripe.Record(&s.sample)
			s.recorded = true
		}
	}
	stripe.Release()
}

// takeNow is take for somebody who will not wait.
func (f *freeSlots) takeNow() *slot {
	s := f.take()
	if s == nil {
		f.giveUp()
	}
	return s
}

// giveUp ends the wait that a take began.
func (f *freeSlots) giveUp() {
	if !f.back.CompareAndSwap(awaited, nil) {
		<-f.wake // a put was under way
	}
}
