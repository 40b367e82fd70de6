package traces

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCodesComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 100, 5000} {
		for widest := range 65 {
			codes := make([]uint64, n)
			for i := range codes {
				codes[i] = r.Uint64() >> (64 - r.IntN(widest+1)) // of 0 to widest bits
			}
			if n > 2 {
				codes[n-1] = ^uint64(0) >> (64 - widest)
			}
			var c codeColumn
			c.encode(codes)
			if err := c.check(n, invKeys); err != nil {
				t.Fatalf("%d codes of %d bits: %v", n, widest, err)
			}
			// What stands behind a column must not matter.
			c.open = append(slices.Clip(slices.Clone(c.open)), 0xff, 0xff, 0xff)[:len(c.open)]
			got := make([]uint64, n)
			if c.decode(got); !slices.Equal(got, codes) {
				t.Fatalf("%d codes of %d bits: %x became %x", n, widest, codes, got)
			}
		}
	}
}

func TestTokensAreFourToAnOctave(t *testing.T) {
	var c codeColumn
	last := byte(0)
	for v := uint64(1); v <= 1<<20; v++ {
		c.encode([]uint64{v})
		token := c.tokens[0]
		if token < last || token > last+1 {
			t.Fatalf("%d has token %d behind %d", v, token, last)
		}
		if token > last && v > 8 && v&(v-1) == 0 && token != byte(4*(bits.Len64(v)-3)+4) {
			t.Fatalf("%d has token %d", v, token)
		}
		last = token
	}
	if c.encode([]uint64{^uint64(0)}); c.tokens[0] != tokenMax {
		t.Errorf("the greatest token is %d, not %d", c.tokens[0], tokenMax)
	}
}

func TestUvarintsAreThoseOfTheStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		v := r.Uint64() % spreadLimit >> r.IntN(28)
		word, n := spread(v)
		got := binary.LittleEndian.AppendUint64(nil, word)[:n]
		if want := binary.AppendUvarint(nil, v); !slices.Equal(got, want) {
			t.Fatalf("%d: % x, want % x", v, got, want)
		}
	}
}

func TestSteadyPhasesAreDueByTheirRate(t *testing.T) {
	for _, rate := range []Rate{{1000, 1}, {3, 1}, {1, 3}, {999_999_937, 1}, {7, 1000}, {1_000_000_000, 7}} {
		h := testHeader()
		h.Phases[1].Rate = rate
		s, ok := newSteady(h, 1)
		if !ok {
			t.Fatalf("%v: not steady", rate)
		}
		for _, first := range []uint64{0, 1, 65_536, 1 << 30} {
			due := make([]uint64, 1000)
			if rate.Denominator > 1 && rate.Numerator > 1 && first > 1<<20 {
				continue // beyond 2^64
			}
			if !s.fill(due, first) || !s.is(due, first) {
				t.Fatalf("%v from %d on: not filled", rate, first)
			}
			for i, got := range due {
				high, low := bits.Mul64(first+uint64(i), 1e9*rate.Denominator)
				want, _ := bits.Div64(high, low, rate.Numerator)
				if got != want {
					t.Fatalf("%v: op %d is due %d, want %d", rate, first+uint64(i), got, want)
				}
			}
			for _, late := range []int{0, 500, 999} {
				due[late]++
				if s.is(due, first) {
					t.Errorf("%v: late op %d is taken for one in time", rate, late)
				}
				due[late]--
			}
		}
	}
}
