package measure

import (
	"sync/atomic"
	"time"

	"pianola/traces"
)

// offers counts the ops that one goroutine claimed, without a lock.
type offers struct {
	kinds [traces.KindLimit]uint64
	all   uint64
	due   timeline
	each  []uint64 // by interval
	last  time.Duration
	// shown is all as it was a moment ago, for everybody; shownAt was due then.
	shown   atomic.Uint64
	shownAt time.Duration
	_       [64]byte // what follows is another goroutine's
}

// What is shown lags behind by so many ops and so much of the schedule at most.
const (
	shownOps  = 64
	shownTime = time.Millisecond
)

func (o *offers) add(kind traces.Kind, due time.Duration) {
	o.kinds[kind]++
	o.all++
	o.due.add(due)
	i := int(max(due, 0) / intervalLength)
	for len(o.each) <= i {
		o.each = append(o.each, 0)
	}
	o.each[i]++
	o.last = max(o.last, due)
	if o.all%shownOps == 0 || due >= o.shownAt+shownTime {
		o.shown.Store(o.all)
		o.shownAt = due
	}
}

// merge adds the counts of b.
func (o *offers) merge(b *offers) {
	for kind, n := range b.kinds {
		o.kinds[kind] += n
	}
	o.all += b.all
	o.due.merge(&b.due)
	for len(o.each) < len(b.each) {
		o.each = append(o.each, 0)
	}
	for i, n := range b.each {
		o.each[i] += n
	}
	o.last = max(o.last, b.last)
}
