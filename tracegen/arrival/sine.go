package arrival

import (
	"math/big"
	"time"

	"pianola/traces"
)

// sineStep is the time in which a sine's rate stands still, in ns.
const sineStep = 10_000_000

// Sine is a rate that swings about its mean, which it begins at, rising. N is
// rounded down to whole operations at every multiple of 10 ms and a straight
// line between: each step of 10 ms has a whole number of operations, evenly
// spread. The sine is computed in integers, so that every machine agrees.
type Sine struct {
	text string
	// mean and swing are operations in 10^9 s, swing <= mean; the period is a
	// number of steps.
	mean, swing, period uint64
	// reach is swing·period/2π in 2^-reachBits·10^-18 operations: half of what the
	// swing adds in the first half of a period.
	reach wide
}

// A period of at most maxSine, a week, leaves reachBits for the fraction.
const (
	maxSine   = 7 * 24 * time.Hour
	reachBits = 17
)

// inverseTau is 2^127/(2π).
var inverseTau = wide{0x145f306dc9c882a5, 0x3f84eafa3ea69bb8}

func newSine(text string, mean, swing, period uint64) *Sine {
	s := &Sine{text: text, mean: mean, swing: swing, period: period}
	n := product(swing, period*sineStep)
	s.reach = wide{n.high<<(reachBits+1) | n.low>>(64-reachBits-1), n.low << (reachBits + 1)}.high128(inverseTau)
	return s
}

// high128 returns floor(a·b/2^128), at most 2 less.
func (a wide) high128(b wide) wide {
	sum := product(a.high, b.high)
	middle := wide{0, product(a.high, b.low).high}.plus(wide{0, product(a.low, b.high).high})
	low := wide{0, product(a.high, b.low).low}.plus(wide{0, product(a.low, b.high).low}).plus(wide{0, product(a.low, b.low).high})
	return sum.plus(middle).plus(wide{0, low.high})
}

// halfPi is π/2·2^126.
var halfPi = wide{0x6487ed5110b4611a, 0x62633145c06e0e68}

// versine returns (1 - cos(2π·step/period))·2^126 for step < period. It is off by
// less than 2^-110, which is far below what N grows by in any step of a swing of
// 10^-5 per second and more: so N never falls.
func (s *Sine) versine(step uint64) wide {
	// Quarters of a turn, mirrored so that the angle is in [0, π/2].
	turn := 4 * step
	quarter := turn / s.period
	rest := turn % s.period
	if quarter%2 == 1 {
		rest = s.period - rest
	}
	v := versineOf(halfPi.scaled(rest, s.period, false))
	if quarter == 1 || quarter == 2 {
		return wide{1 << 63, 0}.minus(v)
	}
	return v
}

// versineOf returns 1 - cos(y) by its Taylor series, for y in [0, π/2]; both in
// units of 2^-126.
func versineOf(y wide) wide {
	square := y.high128(y) // units of 2^-124
	sum := wide{1 << 62, 0}
	for k := uint64(40); k >= 4; k -= 2 {
		term := sum.high128(square) // units of 2^-122
		sum = wide{1 << 62, 0}.minus(term.scaled(16, k*(k-1), false))
	}
	half := sum.high128(square)
	return wide{half.high<<3 | half.low>>61, half.low << 3}
}

// node returns N at a multiple of 10 ms.
func (s *Sine) node(step uint64) uint64 {
	n := product(s.mean, step*sineStep) // 10^-18 operations
	swing := s.reach.high128(s.versine(step % s.period))
	const drop = reachBits - 2 // versines have 126 bits
	swing = wide{swing.high >> drop, swing.high<<(64-drop) | swing.low>>drop}
	return n.plus(swing).over(nsPerSecond * nsPerSecond)
}

const lastStep = MaxDue / sineStep

// Due returns when operation n is due.
func (s *Sine) Due(n uint64) uint64 {
	var due [1]uint64
	s.Fill(due[:], n)
	return due[0]
}

// stepOf returns the step of operation n and N at its begin and its end, given
// that of an operation before.
func (s *Sine) stepOf(step, n uint64) (at, from, to uint64) {
	if next := step + 1; next < lastStep { // it is that of most
		if from, to := s.node(next), s.node(next+1); from <= n && n < to {
			return next, from, to
		}
	}
	step = s.after(step, n)
	return step, s.node(step), s.node(min(step+1, lastStep))
}

// after returns the last step that begins with no more than n operations, given
// one before.
func (s *Sine) after(step, n uint64) uint64 {
	width := uint64(1)
	for step+width < lastStep && s.node(step+width) <= n {
		step += width
		width *= 2
	}
	width = min(width, lastStep-step)
	return step + search(width, func(i uint64) bool { return s.node(step+i+1) > n })
}

// Fill sets due[j] to Due(first+j).
func (s *Sine) Fill(due []uint64, first uint64) {
	step, from, to := uint64(0), uint64(0), uint64(0)
	for j := range due {
		n := first + uint64(j)
		if n >= to {
			step, from, to = s.stepOf(step, n)
		}
		if n >= to {
			due[j] = MaxDue
			continue
		}
		due[j] = step*sineStep + (n-from)*sineStep/(to-from)
	}
}

// Count returns the number of operations that are due before d.
func (s *Sine) Count(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	step := uint64(d) / sineStep
	from, to := s.node(step), s.node(step+1)
	return from + product(to-from, uint64(d)%sineStep).overUp(sineStep)
}

// Mean returns the mean rate up to d.
func (s *Sine) Mean(d time.Duration) traces.Rate {
	step, rest := uint64(d)/sineStep, uint64(d)%sineStep
	from, to := s.node(step), s.node(step+1)
	n := new(big.Int).SetUint64(to - from)
	n.Mul(n, new(big.Int).SetUint64(rest))
	mean := new(big.Rat).SetFrac(n, big.NewInt(sineStep))
	return meanOf(mean.Add(mean, new(big.Rat).SetInt(new(big.Int).SetUint64(from))), d)
}

// Random is false.
func (s *Sine) Random() bool { return false }

// Peak returns the mean and the swing.
func (s *Sine) Peak() traces.Rate { return rateOf(s.mean + s.swing) }

// String returns the profile in the syntax of ParseProfile.
func (s *Sine) String() string { return s.text }
