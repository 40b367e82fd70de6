package traces

import (
	"math/bits"
	"slices"
)

// steady is a phase whose op n is due at floor(n·10^9·den / (num·tick)) ticks,
// for the rate num/den: blocks of it store no gaps.
type steady struct{ num, den uint64 }

// newSteady returns the due times of the phase's stated rate, or false if it
// has none or too fine a one.
func newSteady(h *Header, phase int) (steady, bool) {
	const nsPerSecond = 1_000_000_000
	p := &h.Phases[phase]
	if !p.Paced || p.Rate.Numerator == 0 {
		return steady{}, false
	}
	high, den := bits.Mul64(p.Rate.Denominator, nsPerSecond)
	high2, num := bits.Mul64(p.Rate.Numerator, uint64(h.Tick))
	return steady{num, den}, high|high2 == 0
}

// at returns when op n of the phase is due, in ticks; false beyond 2^64.
func (s steady) at(n uint64) (uint64, bool) {
	high, low := bits.Mul64(n, s.den)
	if high >= s.num {
		return 0, false
	}
	q, _ := bits.Div64(high, low, s.num)
	return q, true
}

// start returns the due time of op n and the remainder of its division.
func (s steady) start(n uint64) (due, rest uint64, ok bool) {
	high, low := bits.Mul64(n, s.den)
	if high >= s.num {
		return 0, 0, false
	}
	due, rest = bits.Div64(high, low, s.num)
	return due, rest, true
}

// fill sets due to the due times of the ops from first on; false if one is
// beyond 2^64.
func (s steady) fill(due []uint64, first uint64) bool {
	at, rest, ok := s.start(first)
	if _, last := s.at(first + uint64(len(due))); !ok || !last {
		return false
	}
	whole, part := s.den/s.num, s.den%s.num
	if part == 0 {
		for i := range due {
			due[i] = at
			at += whole
		}
		return true
	}
	for i := range due {
		due[i] = at
		at += whole
		// rest + part may pass 2^64; what is compared and taken does not.
		if rest >= s.num-part {
			at++
			rest -= s.num - part
		} else {
			rest += part
		}
	}
	return true
}

// is reports whether due are the due times of the ops from first on.
func (s steady) is(due []uint64, first uint64) bool {
	// Random gaps are told by the last.
	if n := uint64(len(due)); n > 0 {
		if last, ok := s.at(first + n - 1); !ok || due[n-1] != last {
			return false
		}
	}
	if s.den%s.num == 0 && len(due) > 0 {
		return s.isEven(due, first)
	}
	var part [256]uint64
	for len(due) > 0 {
		n := min(len(due), len(part))
		if !s.fill(part[:n], first) || !slices.Equal(part[:n], due[:n]) {
			return false
		}
		due, first = due[n:], first+uint64(n)
	}
	return true
}

// isEven is is for a rate that gives every op the same whole number of ticks.
func (s steady) isEven(due []uint64, first uint64) bool {
	at, ok := s.at(first)
	if _, last := s.at(first + uint64(len(due))); !ok || !last {
		return false
	}
	whole, other := s.den/s.num, uint64(0)
	for _, tick := range due {
		other |= tick ^ at
		at += whole
	}
	return other == 0
}
