package random

import (
	"math/bits"

	"pianola/traces/payload"
)

// Source is a sequence of draws. It is a small value: a copy continues on its
// own from where it was made. A Source must not be used by several goroutines
// at once.
type Source struct{ state uint64 }

// Uint64 draws a uniform 64-bit word.
func (s *Source) Uint64() uint64 {
	s.state += golden
	return payload.Mix(s.state)
}

// Below draws a uniform number in [0, n), without bias. Below(0) is 0.
//
// The method is Lemire's: the high word of a product with n, drawn again where
// the low word shows that the number would come up too often ("Fast Random
// Integer Generation in an Interval", 2019).
func (s *Source) Below(n uint64) uint64 {
	high, low := bits.Mul64(s.Uint64(), n)
	if low < n {
		return s.redraw(high, low, n)
	}
	return high
}

// redraw finishes Below where low < n: only then may the word be one of the
// 2^64 mod n surplus ones.
func (s *Source) redraw(high, low, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	for surplus := -n % n; low < surplus; {
		high, low = bits.Mul64(s.Uint64(), n)
	}
	return high
}

// Float64 draws a uniform multiple of 2^-53 in [0, 1).
func (s *Source) Float64() float64 {
	return float64(s.Uint64()>>11) * 0x1p-53
}
