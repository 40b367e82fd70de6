package replay

import (
	"time"

	"pianola/replay/measure"
	"pianola/traces"
)

// claimed is an op that was taken from the trace.
type claimed struct {
	op traces.Op
	// due in the phase; 0 if it is unpaced.
	due time.Duration
	// version of the values it writes.
	version uint64
	// unwritten: no insert of the trace wrote the key before this op.
	unwritten bool
	// offered ops have been counted as such: they were due and had to wait for
	// their keys, until keyFree.
	offered bool
	keyFree time.Duration
	// entered says that the op has its key.
	entered bool
}

// claim finds the next op to launch: one whose key has become free, or else the
// next one of the trace. It returns nil when there is none, or at a stop. What it
// returns is good until the next call.
func (p *phaseRun) claim() *claimed {
	for !p.stop.Load() {
		if p.order != nil && p.order.take(&p.released) {
			return &p.released
		}
		if p.order != nil && p.order.parked.Load() >= parkedMax {
			p.awaitRelease()
			p.held = p.now()
			continue
		}
		if p.peek() {
			if p.pending.due < p.held {
				p.pending.keyFree = p.held
			}
			return &p.pending
		}
		if p.order == nil || p.order.idle() {
			p.exhausted.Store(true)
			return nil
		}
		p.awaitRelease()
	}
	return nil
}

// first returns the op that claim would find without waiting, and leaves it.
func (p *phaseRun) first() (claimed, bool) {
	if p.order != nil {
		if c, ok := p.order.first(); ok {
			return c, true
		}
	}
	if p.peek() {
		return p.pending, true
	}
	if p.order == nil || p.order.idle() {
		p.exhausted.Store(true)
	}
	return claimed{}, false
}

// awaitRelease waits until an op has got its key, or until a stop.
func (p *phaseRun) awaitRelease() {
	if p.order.released.Load() > 0 {
		return
	}
	select {
	case <-p.order.wake:
	case <-p.stops:
	}
}

// peek makes the next op of the trace the pending one.
func (p *phaseRun) peek() bool {
	if p.isPending {
		return true
	}
	c := &p.pending
	*c = claimed{}
	if !p.cursor.next(p.index, &c.op) {
		return false
	}
	if p.paced {
		c.due = p.scale.due(c.op.Due)
	}
	if !p.load {
		c.version = p.versionBase + p.phaseOp
	}
	c.unwritten = c.op.Key >= p.cursor.nextInsert
	p.isPending = true
	return true
}

// consume takes the pending op for good. Inserts begin with it, in the order of
// the trace.
func (p *phaseRun) consume() {
	p.isPending = false
	p.phaseOp++
	if p.pending.op.Kind == traces.Insert {
		p.inserts.begin(p.pending.op.Key)
	}
}

// offer takes the pending op, which is c, and counts it as offered.
func (p *phaseRun) offer(c *claimed, due time.Duration) {
	p.consume()
	c.offered = true
	p.recorder.Offer(0, c.op.Kind, due)
}

// putBack gives an op back that a stop came before: it is still to be settled.
func (p *phaseRun) putBack(c *claimed) {
	<-p.stops
	if c.offered {
		p.giveUp(c, measure.Unsent, max(p.stoppedAt, c.due))
	}
}

// overtake tells the ops in flight on the key of a DELETE that their record may
// go before they are answered. Ops are launched one at a time and, on one key,
// in the order of the trace: all of them are earlier.
func (p *phaseRun) overtake(by *slot) {
	for i, key := range p.launchedKeys {
		if key == by.trace.Key && i != by.number {
			p.slots[i].overtaken.Store(true)
		}
	}
}
