package arrival

import (
	"math"
	"math/big"
	"sort"
	"time"

	"pianola/traces"
)

// Profile is a rate that changes by a plan. N(t) is the number of operations
// that are due up to t in the plan, as a real number: the integral of the rate.
// Operation n is due at the greatest whole ns t with N(t) <= n, and
// ceil(N(d)) operations are due before d: for a constant rate that is
// floor(n·10^9/rate).
type Profile interface {
	Schedule
	// Due returns when operation n is due, in ns from the start of the phase, at
	// most MaxDue.
	Due(n uint64) uint64
	// Mean returns the mean rate from the start of the phase to d > 0, rounded to
	// 10^-9 per second.
	Mean(d time.Duration) traces.Rate
	// String returns the text that ParseProfile makes the profile of, in one
	// spelling.
	String() string
}

// A rate is a whole number of operations in 10^9 s, and a number of operations
// one of parts: then parts(t) = 2·rate·t for a constant rate and t in ns.
const partsOfOp = 2 * nsPerSecond * nsPerSecond

// part is a stretch of time in which the rate changes evenly.
type part struct {
	// At start, in ns from the beginning of the profile, before are the parts of
	// operations so far.
	start  uint64
	before wide
	// The rate goes from from to to in length ns.
	length, from, to uint64
}

// parts returns 2·from·t + (to-from)·t²/length, rounded up, for t <= length.
func (p *part) parts(t uint64) wide {
	n := product(2*p.from, t)
	switch {
	case p.to > p.from:
		return n.plus(product(p.to-p.from, t).scaled(t, p.length, true))
	case p.to < p.from:
		return n.minus(product(p.from-p.to, t).scaled(t, p.length, false))
	}
	return n
}

// reach returns the greatest t with parts(t) <= n. If parts(length) <= n too,
// that is length or more.
func (p *part) reach(n wide) uint64 {
	if p.from == p.to {
		return n.over(2 * p.from)
	}
	// The root in floats is near; whole numbers decide.
	slope := float64(float64(p.to)-float64(p.from)) / float64(p.length)
	root := math.Sqrt(max(0, float64(float64(p.from)*float64(p.from))+float64(slope*n.float())))
	at := uint64(0)
	if guess := n.float() / (float64(p.from) + root); guess > 0 { // no 0/0
		at = p.length
		if guess < float64(p.length) {
			at = min(uint64(guess), p.length)
		}
	}
	least, most := uint64(0), uint64(0) // parts(least) <= n, and most is behind the part or parts(most) > n
	for width := uint64(1); ; width *= 8 {
		low, high := at-min(at, width), min(at+width, p.length+1)
		below := low == 0 || !p.parts(low).above(n)
		beyond := high > p.length || p.parts(high).above(n)
		if below && beyond {
			least, most = low, high
			break
		}
	}
	return least + search(most-least-1, func(i uint64) bool { return p.parts(least + i + 1).above(n) })
}

// Parts is a profile of steps, ramps and bursts.
type Parts struct {
	text  string
	parts []part
	// A profile that repeats has a length and the parts of operations in it;
	// otherwise the last part has no end, and length is 0.
	length uint64
	whole  wide
	peak   uint64
}

// newParts strings parts together, of which the length and the rates are set.
// Rates are at most 10^18, and lengths sum up to MaxDue at most.
func newParts(text string, parts []part, repeats bool) *Parts {
	p := &Parts{text: text, parts: parts}
	start, before := uint64(0), wide{}
	for i := range parts {
		parts[i].start, parts[i].before = start, before
		p.peak = max(p.peak, parts[i].from, parts[i].to)
		start += parts[i].length
		before = before.plus(parts[i].parts(parts[i].length))
	}
	if repeats {
		p.length, p.whole = start, before
	}
	return p
}

// Due returns when operation n is due.
func (p *Parts) Due(n uint64) uint64 {
	target, begin := product(n, partsOfOp), wide{}
	if p.length > 0 {
		cycles := target.overWide(p.whole)
		begin = product(cycles, p.length)
		if begin.high > 0 || begin.low > MaxDue {
			return MaxDue
		}
		target = target.minus(p.whole.times(cycles))
	}
	// The last part that begins with no more than the target.
	i := sort.Search(len(p.parts)-1, func(i int) bool { return p.parts[i+1].before.above(target) })
	at := &p.parts[i]
	due := begin.plus(wide{0, at.start}).plus(wide{0, at.reach(target.minus(at.before))})
	if due.high > 0 || due.low > MaxDue {
		return MaxDue
	}
	return due.low
}

// Fill sets due[j] to Due(first+j).
func (p *Parts) Fill(due []uint64, first uint64) {
	for j := range due {
		due[j] = p.Due(first + uint64(j))
	}
}

// upTo returns N(d) in parts of operations, rounded up.
func (p *Parts) upTo(d uint64) wide {
	n := wide{}
	if p.length > 0 {
		n = p.whole.times(d / p.length)
		d %= p.length
	}
	i := sort.Search(len(p.parts)-1, func(i int) bool { return p.parts[i+1].start > d })
	at := &p.parts[i]
	return n.plus(at.before).plus(at.parts(d - at.start))
}

// Count returns the number of operations that are due before d.
func (p *Parts) Count(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return p.upTo(uint64(d)).overUp(partsOfOp)
}

// Mean returns the mean rate up to d.
func (p *Parts) Mean(d time.Duration) traces.Rate {
	n := p.upTo(uint64(d))
	return meanOf(new(big.Rat).SetFrac(n.big(), new(big.Int).SetUint64(partsOfOp)), d)
}

func (a wide) big() *big.Int {
	n := new(big.Int).SetUint64(a.high)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(a.low))
}

// meanOf returns n operations in d as a rate, rounded to 10^-9 per second and at
// least that.
func meanOf(n *big.Rat, d time.Duration) traces.Rate {
	n.Mul(n, new(big.Rat).SetFrac64(nsPerSecond, int64(d)))
	n.SetString(n.FloatString(9)) // which is a number
	if n.Sign() == 0 {
		n.SetFrac64(1, nsPerSecond)
	}
	return traces.Rate{Numerator: n.Num().Uint64(), Denominator: n.Denom().Uint64()}
}

// Random is false.
func (p *Parts) Random() bool { return false }

// Peak returns the highest rate of any part.
func (p *Parts) Peak() traces.Rate { return rateOf(p.peak) }

// rateOf returns a rate of so many operations in 10^9 s, reduced.
func rateOf(n uint64) traces.Rate {
	r := big.NewRat(int64(n), nsPerSecond)
	return traces.Rate{Numerator: r.Num().Uint64(), Denominator: r.Denom().Uint64()}
}

// String returns the profile in the syntax of ParseProfile.
func (p *Parts) String() string { return p.text }
