package measure

import (
	"math"
	"time"
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

// ResponseQuantile returns the q-quantile, 0 < q <= 1, by nearest rank: the
// smallest value that at least q of the offered ops do not exceed.
func (k *Kind) ResponseQuantile(q float64) Quantile {
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
func (h *Histogram) Quantile(q float64) Quantile {
	n := h.Count()
	if n == 0 {
		return Quantile{None: true}
	}
	rank := nearestRank(q, n)
	return Quantile{Value: h.AtRank(rank), Beyond: n - rank}
}

func nearestRank(q float64, n uint64) uint64 {
	// q is a decimal fraction: q·n may come out a hair above the integer it
	// stands for, which would name the next rank.
	rank := uint64(math.Ceil(q*float64(n) - 1e-9*float64(n)*q))
	return min(max(rank, 1), n)
}
