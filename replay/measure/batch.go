package measure

import (
	"math"
	"math/bits"

	"pianola/traces"
)

// batchMax is how many ops are counted together: what an op is counted in is
// seven histograms, and together they take half of the time.
const batchMax = 32

// batch holds the times in ns of ops of one kind that were completed in the newest
// interval and are not counted yet.
type batch struct {
	n                            int
	response, service, wait, lag [batchMax]int64
}

func (b *batch) add(s *Sample) {
	i := b.n & (batchMax - 1)
	b.response[i], b.service[i] = int64(s.Decided-s.Due), int64(s.Decided-s.Start)
	b.wait[i], b.lag[i] = int64(s.Ready-s.Due), int64(s.Start-s.Ready)
	b.n++
}

// countBatches counts all that is in batches. The lock is held.
func (p *Stripe) countBatches() {
	for kind, k := range p.kinds {
		if k != nil && k.batch.n > 0 {
			p.countBatch(traces.Kind(kind))
		}
	}
}

// countBatch counts what is in the batch of a kind.
func (p *Stripe) countBatch(kind traces.Kind) {
	k, interval := p.kinds[kind], p.open.newest.kind(kind)
	b, n := &k.batch, k.batch.n
	k.counts.Completed += uint64(n)
	interval.counts.Completed += uint64(n)
	recordAll(b.response[:n], &k.response, &interval.response)
	recordAll(b.wait[:n], &k.wait, &interval.wait)
	recordAll(b.lag[:n], &k.lag, &interval.lag)
	recordAll(b.service[:n], &k.service, nil)
	b.n = 0
}

// recordAll records durations in ns in h and, if it is not nil, in coarse.
func recordAll(values []int64, h, coarse *Histogram) {
	least, greatest, high, low := int64(math.MaxInt64), int64(0), uint64(0), uint64(0)
	for _, v := range values {
		v = max(v, 0)
		least, greatest = min(least, v), max(greatest, v)
		var carry uint64
		low, carry = bits.Add64(low, uint64(v), 0)
		high += carry
	}
	h.recorded(values, least, greatest, high, low)
	if coarse != nil {
		coarse.recorded(values, least, greatest, high, low)
	}
}
