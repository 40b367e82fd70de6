package measure

import (
	"math/bits"
	"time"
)

// Q names a quantile by its share of the ops in parts per billion, so that
// ranks are exact: 990_000_000 is p99.
type Q uint64

const (
	P50   Q = 500_000_000
	P90   Q = 900_000_000
	P95   Q = 950_000_000
	P99   Q = 990_000_000
	P999  Q = 999_000_000
	P9999 Q = 999_900_000
	Max   Q = 1_000_000_000
)

// Quantile is a quantile of the response time over all ops offered: completed
// ones rank by response; failed, censored, dropped and unsent ones rank, in
// that order, above every one of them.
type Quantile struct {
	// Value is the response time, or the greatest response time of a completed
	// op if the quantile falls above them all.
	Value time.Duration
	// Above names what the quantile falls on: failed, censored, dropped or
	// unsent; empty if it falls on a completed op.
	Above string
	// Beyond is the number of ops that rank higher.
	Beyond uint64
	// None says that no op was offered.
	None bool
}

// ResponseQuantile returns the q-quantile by nearest rank: the smallest value
// that at least the share q of the offered ops does not exceed.
func (k *Kind) ResponseQuantile(q Q) Quantile {
	c := &k.Counts
	if c.Offered == 0 {
		return Quantile{None: true}
	}
	rank := nearestRank(q, c.Offered)
	out := Quantile{Value: k.Response.Max(), Beyond: c.Offered - rank}
	if rank <= c.Completed {
		out.Value = k.Response.AtRank(rank)
		return out
	}
	rank -= c.Completed
	for _, group := range []struct {
		name string
		ops  uint64
	}{{"failed", c.Failed}, {"censored", c.Censored}, {"dropped", c.Dropped}, {"unsent", c.Unsent}} {
		if rank <= group.ops {
			out.Above = group.name
			return out
		}
		rank -= group.ops
	}
	// Counts that do not add up: say so rather than name a number.
	out.Above = "unaccounted"
	return out
}

// Quantile returns the q-quantile of what h counted, by nearest rank.
func (h *Histogram) Quantile(q Q) Quantile {
	n := h.Count()
	if n == 0 {
		return Quantile{None: true}
	}
	rank := nearestRank(q, n)
	return Quantile{Value: h.AtRank(rank), Beyond: n - rank}
}

// nearestRank returns ceil(q·n), at least 1 and at most n.
func nearestRank(q Q, n uint64) uint64 {
	hi, lo := bits.Mul64(uint64(min(q, Max)), n)
	rank, rest := bits.Div64(hi, lo, uint64(Max))
	if rest > 0 {
		rank++
	}
	return min(max(rank, 1), n)
}
