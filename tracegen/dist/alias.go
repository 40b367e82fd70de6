package dist

import (
	"math/bits"

	"pianola/tracegen/random"
)

// alias draws outcomes 0..n-1 with given weights in constant time, by Walker's
// alias method on integers.
type alias struct {
	slots []aliasSlot
	// log is the base-2 logarithm of the number of slots.
	log uint
}

// aliasSlot holds at most two outcomes: the slot's own, which has the slot's
// index, and another.
type aliasSlot struct {
	// threshold is the share of the slot's own outcome in units of 2^-64.
	threshold uint64
	other     uint64
}

// aliasTotal is the sum of the integer weights of an alias table: outcome i
// comes for 2·w[i] of the 2^64 words.
const aliasTotal = 1 << 63

// newAlias makes the table for weights w >= 0, at least one of them > 0.
// Outcomes of weight 0 never come.
func newAlias(w []float64) alias {
	log := uint(max(1, bits.Len(uint(len(w)-1))))
	t := alias{slots: make([]aliasSlot, 1<<log), log: log}
	t.fill(integerWeights(w, len(t.slots)))
	return t
}

// integerWeights scales w to n integers that sum to aliasTotal. Each is within
// 2^-52 of its share in relative and 1 in absolute error, but the greatest,
// which also takes what is left over.
func integerWeights(w []float64, n int) []uint64 {
	var sum float64
	for _, x := range w {
		sum += x
	}
	scaled := make([]uint64, n)
	left := uint64(aliasTotal)
	greatest := 0
	for i, x := range w {
		scaled[i] = uint64(float64(x / sum * aliasTotal))
		left -= scaled[i]
		if scaled[i] > scaled[greatest] {
			greatest = i
		}
	}
	scaled[greatest] += left // left may be negative, modulo 2^64
	return scaled
}

// fill builds the slots as Vose does: each slot that its own outcome does not
// fill is filled up from an outcome that has more than a slot. It uses up w.
func (t *alias) fill(w []uint64) {
	capacity := uint64(aliasTotal) >> t.log
	var small, large []int
	for i, x := range w {
		t.slots[i].other = uint64(i)
		if x < capacity {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.slots[s] = aliasSlot{threshold: w[s] << (t.log + 1), other: uint64(l)}
		if w[l] -= capacity - w[s]; w[l] < capacity {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
}

// pick returns the outcome of a uniform word: its high bits choose the slot,
// the others are compared with the threshold. The choice is made without a
// branch, which could not be predicted.
func (t *alias) pick(word uint64) uint64 {
	own := word >> ((64 - t.log) & 63)
	s := &t.slots[own]
	_, below := bits.Sub64(word<<(t.log&63), s.threshold, 0)
	return s.other ^ (own^s.other)&-below
}

// pickAll sets out[j] to the outcome of the first draw of index first+j of the
// stream.
func (t *alias) pickAll(out []uint64, stream random.Stream, first uint64) {
	stream.Words(out, first)
	slots, log := t.slots, t.log&63
	for j, word := range out {
		own := word >> ((64 - log) & 63)
		s := &slots[own]
		_, below := bits.Sub64(word<<log, s.threshold, 0)
		out[j] = s.other ^ (own^s.other)&-below
	}
}
