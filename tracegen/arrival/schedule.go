package arrival

import (
	"math"
	"math/big"
	"math/bits"
	"time"

	"pianola/tracegen/random"
	"pianola/traces"
)

// Schedule says when the operations of a phase are due, in ticks from the
// phase's start. It has no state: blocks are asked for in any order, and by
// several goroutines at once.
type Schedule interface {
	// Fill sets due[j] to the due time of operation first+j. If the gaps are
	// random the times count from the due time of operation first-1 instead, or
	// from the phase's start for first = 0: the last one is the sum that the next
	// block counts from. Due times never fall, and stop at MaxDue.
	Fill(due []uint64, first uint64)
	// Random reports whether due times are sums of random gaps.
	Random() bool
	// Count returns the number of operations that are due before d, or if the
	// gaps are random a number that is never exceeded.
	Count(d time.Duration) uint64
	// Peak returns the highest rate that the schedule ever has.
	Peak() traces.Rate
}

// Fill sets due[j] to Due(first+j).
func (c Constant) Fill(due []uint64, first uint64) {
	if len(due) == 0 {
		return
	}
	if c.num >= 1<<63 || c.Due(first+uint64(len(due)-1)) == MaxDue {
		for j := range due {
			due[j] = c.Due(first + uint64(j))
		}
		return
	}
	// The fraction of n·part/num grows by part/num, and carries.
	high, low := bits.Mul64(first, c.part)
	_, rest := bits.Div64(high, low, c.num)
	at := c.Due(first)
	if c.part == 0 {
		for j := range due {
			due[j] = at
			at += c.whole
		}
		return
	}
	for j := range due {
		due[j] = at
		left, borrow := bits.Sub64(rest+c.part, c.num, 0)
		rest = left + c.num&-borrow
		at += c.whole + 1 - borrow
	}
}

// Random is false.
func (c Constant) Random() bool { return false }

// Peak returns the rate, reduced no further than it was given.
func (c Constant) Peak() traces.Rate { return c.rate }

// Drawn is a Poisson process with the gaps that a stream of randomness gives.
type Drawn struct {
	*Poisson
	stream random.Stream
}

// Draw returns the schedule whose gap before operation i is what index i of the
// stream gives.
func (p *Poisson) Draw(stream random.Stream) Drawn { return Drawn{p, stream} }

// Fill sets due[j] to the sum of the gaps of operations first to first+j.
func (d Drawn) Fill(due []uint64, first uint64) {
	d.gaps.Fill(due, d.stream, first)
	sum, any := uint64(0), uint64(0)
	for j, gap := range due {
		sum += gap
		any |= sum
		due[j] = sum
	}
	if any > MaxDue {
		stop(due)
	}
}

// stop makes sums of gaps, each of them at most MaxDue, stop there: from the
// first one beyond it on, whether or not they passed 2^64 later.
func stop(due []uint64) {
	j := 0
	for ; j < len(due) && due[j] <= MaxDue; j++ {
	}
	for ; j < len(due); j++ {
		due[j] = MaxDue
	}
}

// Random is true.
func (d Drawn) Random() bool { return true }

// Peak returns the mean rate.
func (d Drawn) Peak() traces.Rate { return d.rate }

// Count returns the mean number of operations before d and 16 standard
// deviations, which are never reached. The variance is the mean.
func (d Drawn) Count(duration time.Duration) uint64 {
	if duration <= 0 {
		return 0
	}
	n := new(big.Int).Mul(big.NewInt(int64(duration)), new(big.Int).SetUint64(d.rate.Numerator))
	per := new(big.Int).Mul(big.NewInt(nsPerSecond), new(big.Int).SetUint64(d.rate.Denominator))
	n.Add(n, per).Sub(n, big.NewInt(1)).Quo(n, per) // rounded up
	if !n.IsUint64() {
		return math.MaxUint64
	}
	mean := n.Uint64()
	root := uint64(1) << ((bits.Len64(mean) + 1) / 2) // at least the square root
	sum, carry := bits.Add64(mean, 16*root, 0)
	return sum | -carry
}
