package arrival

import (
	"math/bits"
)

// wide is an integer of 128 bits without sign.
type wide struct{ high, low uint64 }

func product(a, b uint64) wide {
	high, low := bits.Mul64(a, b)
	return wide{high, low}
}

func (a wide) plus(b wide) wide {
	low, carry := bits.Add64(a.low, b.low, 0)
	return wide{a.high + b.high + carry, low}
}

func (a wide) minus(b wide) wide {
	low, borrow := bits.Sub64(a.low, b.low, 0)
	return wide{a.high - b.high - borrow, low}
}

func (a wide) above(b wide) bool {
	return a.high > b.high || a.high == b.high && a.low > b.low
}

// times returns a·n, which must fit.
func (a wide) times(n uint64) wide {
	p := product(a.low, n)
	p.high += a.high * n
	return p
}

// over returns floor(a/n), or the greatest uint64 if that is less.
func (a wide) over(n uint64) uint64 {
	if a.high >= n {
		return 1<<64 - 1
	}
	q, _ := bits.Div64(a.high, a.low, n)
	return q
}

// overUp is over, rounded up.
func (a wide) overUp(n uint64) uint64 {
	if a.high >= n {
		return 1<<64 - 1
	}
	q, rest := bits.Div64(a.high, a.low, n)
	if rest > 0 && q < 1<<64-1 {
		q++
	}
	return q
}

func (a wide) float() float64 {
	return float64(float64(a.high)*(1<<64)) + float64(a.low)
}

// overWide returns floor(a/b), or the greatest uint64 if that is less. The
// quotient of the leading 64 bits of b is at most 1 off; see Warren, Hacker's
// Delight, 2nd edition, §9-5.
func (a wide) overWide(b wide) uint64 {
	if b.high == 0 {
		return a.over(b.low)
	}
	shift := uint(bits.LeadingZeros64(b.high))
	lead := b.high<<shift | b.low>>1>>(63-shift)
	q, _ := bits.Div64(a.high>>1, a.high<<63|a.low>>1, lead)
	q >>= 63 - shift
	if q > 0 {
		q--
	}
	if rest := a.minus(b.times(q)); !b.above(rest) {
		q++
	}
	return q
}

// scaled returns a·n/d, rounded up or down. The quotient must fit.
func (a wide) scaled(n, d uint64, up bool) wide {
	// The product has three words.
	high, middle := bits.Mul64(a.high, n)
	carry, low := bits.Mul64(a.low, n)
	middle, over := bits.Add64(middle, carry, 0)
	high += over
	quotient := wide{}
	quotient.high, middle = bits.Div64(high, middle, d)
	quotient.low, low = bits.Div64(middle, low, d)
	if up && low > 0 {
		quotient = quotient.plus(wide{0, 1})
	}
	return quotient
}
