package dist

import (
	"math"
	"testing"

	"pianola/tracegen/random"
)

// masses adds up, for each outcome, the words that lead to it, in units of
// 2^-63 of all words: the sums are exact.
func (t *alias) masses() []uint64 {
	m := make([]uint64, len(t.slots))
	capacity := uint64(aliasTotal) >> t.log
	for own, s := range t.slots {
		mine := s.threshold >> (t.log + 1)
		m[own] += mine
		m[s.other] += capacity - mine
	}
	return m
}

// TestAliasMasses checks that every outcome has exactly its integer weight, and
// that those are the weights asked for.
func TestAliasMasses(t *testing.T) {
	src := random.NewStream(1, "alias").At(0)
	for n := 1; n < 300; n = n*5/4 + 1 {
		w := make([]float64, n)
		var sum float64
		for i := range w {
			w[i] = math.Ldexp(src.Float64(), -int(src.Below(40)))
			if src.Below(4) == 0 {
				w[i] = 0
			}
			sum += w[i]
		}
		w[n/2] += 1
		sum += 1
		table := newAlias(w)
		masses := table.masses()
		want := integerWeights(w, len(table.slots))
		var total uint64
		for i, m := range masses {
			total += m
			if m != want[i] {
				t.Errorf("%d weights: outcome %d has %d words, want %d", n, i, m, want[i])
			}
			if i >= n && m != 0 || i < n && w[i] == 0 && m != 0 {
				t.Errorf("%d weights: outcome %d has %d words but no weight", n, i, m)
			}
			if i < n {
				p, share := math.Ldexp(float64(m), -63), w[i]/sum
				if math.Abs(p-share) > 0x1p-46*share+0x1p-62+float64(n)*0x1p-63 {
					t.Errorf("%d weights: outcome %d has the probability %v, want %v", n, i, p, share)
				}
			}
		}
		if total != aliasTotal {
			t.Errorf("%d weights: the words add up to %d, want 2^63", n, total)
		}
	}
}

// TestAliasPick looks at the words on both sides of each slot's threshold.
func TestAliasPick(t *testing.T) {
	table := newAlias([]float64{5, 0, 1, 1, 2, 3, 0.25})
	for own, s := range table.slots {
		at := uint64(own)<<(64-table.log) + s.threshold>>table.log
		first, last := uint64(own)<<(64-table.log), uint64(own+1)<<(64-table.log)-1
		for _, word := range []uint64{first, last, at - 1, at} {
			if word < first || word > last {
				continue
			}
			want := s.other
			if word < at {
				want = uint64(own)
			}
			if got := table.pick(word); got != want {
				t.Errorf("word %#x in slot %d gives %d, want %d", word, own, got, want)
			}
		}
	}
}
