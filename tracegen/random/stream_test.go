package random

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"pianola/tracegen/chisquare"
)

// TestStreamGolden holds the algorithm of the package comment; the numbers come
// from a second implementation of it, in Python. If one of them has to change,
// so has Version.
func TestStreamGolden(t *testing.T) {
	for _, c := range []struct {
		seed  uint64
		names []string
		index uint64
		draws [3]uint64
	}{
		{1, nil, 0, [3]uint64{0xb3255a98aa11bce7, 0x5e84d944fa50a831, 0xa9547f2d70a6666d}},
		{1, []string{"run", "keys"}, 0, [3]uint64{0x89de6e6a1149a19d, 0xb24c6e2df23a6496, 0x126838effbc0373}},
		{1, []string{"run", "keys"}, 1, [3]uint64{0x55b03df84a5c4906, 0x421d2ae985218b1d, 0xa4bd3018af58e948}},
		{1, []string{"run", "keys"}, 1e10, [3]uint64{0x668547aef89e7a4f, 0x2107ffcf476bd9f8, 0x93e5a25247634a05}},
		{1, []string{"run", "keys"}, math.MaxUint64, [3]uint64{0x22c537df9f3eb940, 0xd8ac087b7e1253d2, 0x29eed5f463de7a36}},
		{1, []string{"load", "keys"}, 0, [3]uint64{0xceac0a4b698cc684, 0x246ea4d2c7613c6e, 0x2681c15f697fed73}},
		{2, []string{"run", "keys"}, 0, [3]uint64{0xb0fa24c6240d6f78, 0x318f4466a441f85b, 0xe5e990ff3d8de5e9}},
		{math.MaxUint64, []string{""}, 0, [3]uint64{0xc09de309717330ac, 0xd4bffe0f32d74344, 0x5bf8d7b25f00c7e3}},
	} {
		src := NewStream(c.seed, c.names...).At(c.index)
		for j, want := range c.draws {
			if got := src.Uint64(); got != want {
				t.Errorf("seed %d, names %q, index %d, draw %d: %#x, want %#x", c.seed, c.names, c.index, j, got, want)
			}
		}
		// The same draws without a source for each.
		stream := NewStream(c.seed, c.names...)
		behind := stream.Behind(c.index, 2)
		if got := [3]uint64{stream.Word(c.index), stream.Second(c.index), behind.Uint64()}; got != c.draws {
			t.Errorf("seed %d, names %q, index %d: words %#x, want %#x", c.seed, c.names, c.index, got, c.draws)
		}
	}
}

// TestSourceIsSplitMix64 compares a source with SplitMix64's published outputs
// for the seed 1234567.
func TestSourceIsSplitMix64(t *testing.T) {
	src := Source{1234567}
	for j, want := range []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
	} {
		if got := src.Uint64(); got != want {
			t.Errorf("output %d: %d, want %d", j, got, want)
		}
	}
}

// family is a set of streams that differ in as little as streams can.
var family = []Stream{
	NewStream(1), NewStream(2), NewStream(1, ""), NewStream(1, "", ""),
	NewStream(1, "a"), NewStream(1, "b"), NewStream(2, "a"),
	NewStream(1, "ab"), NewStream(1, "a", "b"), NewStream(1, "b", "a"),
}

// TestNoSharedDraws draws from several streams at many indexes. A stream or an
// index whose sequence were another's shifted copy would repeat its words; among
// independent words of 64 bits a repetition has the probability 2·10^-7.
func TestNoSharedDraws(t *testing.T) {
	const indexes, draws = 50_000, 5
	seen := make(map[uint64]struct{}, len(family)*indexes*draws)
	for s, stream := range family {
		for i := range uint64(indexes) {
			src := stream.At(i)
			for j := range draws {
				word := src.Uint64()
				if _, repeated := seen[word]; repeated {
					t.Fatalf("stream %d, index %d, draw %d: word %#x came before", s, i, j, word)
				}
				seen[word] = struct{}{}
			}
		}
	}
}

// TestStreamsAreIndependent tests pairs of words, from two streams at indexes
// some way apart or from one stream at neighbouring indexes and draws, for
// uniformity over 16 × 16 cells, once by their high and once by their low bits.
func TestStreamsAreIndependent(t *testing.T) {
	const pairs = 40_000
	uniform := make([]float64, 256)
	for i := range uniform {
		uniform[i] = 1. / 256
	}
	word := func(s Stream, i uint64, draw int) uint64 {
		src := s.At(i)
		for range draw {
			src.Uint64()
		}
		return src.Uint64()
	}
	test := func(name string, a, b func(i uint64) uint64) {
		var high, low [256]uint64
		for i := range uint64(pairs) {
			x, y := a(i), b(i)
			high[x>>60<<4|y>>60]++
			low[x&15<<4|y&15]++
		}
		for _, counts := range [][256]uint64{high, low} {
			if stat, df, p := chisquare.Fit(counts[:], uniform); p < chisquare.MinP {
				t.Errorf("%s: chi-square %.1f on %d, p = %.3g", name, stat, df, p)
			}
		}
	}
	for s := 1; s < len(family); s++ {
		for lag := range uint64(3) {
			test(fmt.Sprintf("streams 0 and %d, lag %d", s, int(lag)-1), func(i uint64) uint64 { return word(family[0], i+lag, 0) },
				func(i uint64) uint64 { return word(family[s], i+1, 0) })
		}
	}
	for lag := range uint64(3) {
		for draw := range 3 {
			if lag == 0 && draw == 0 {
				continue
			}
			test(fmt.Sprintf("indexes %d apart, draws 0 and %d", lag, draw), func(i uint64) uint64 { return word(family[0], i, 0) },
				func(i uint64) uint64 { return word(family[0], i+lag, draw) })
		}
	}
}

// TestAvalanche counts the bits in which neighbouring indexes, and indexes that
// differ in one bit, differ: the counts are binomial, 64 bits of probability 1/2.
func TestAvalanche(t *testing.T) {
	stream := NewStream(7, "avalanche")
	first := func(i uint64) uint64 {
		src := stream.At(i)
		return src.Uint64()
	}
	binomial := make([]float64, 65)
	for k := range binomial {
		n1, _ := math.Lgamma(65)
		n2, _ := math.Lgamma(float64(k) + 1)
		n3, _ := math.Lgamma(65 - float64(k))
		binomial[k] = math.Exp(n1 - n2 - n3 - 64*math.Ln2)
	}
	for name, other := range map[string]func(i uint64) uint64{
		"next":    func(i uint64) uint64 { return i + 1 },
		"low bit": func(i uint64) uint64 { return i ^ 1 },
		"bit 16":  func(i uint64) uint64 { return i ^ 1<<16 },
		"bit 40":  func(i uint64) uint64 { return i ^ 1<<40 },
	} {
		counts := make([]uint64, 65)
		perBit := make([]uint64, 64)
		const indexes = 100_000
		for i := range uint64(indexes) {
			differ := first(2*i) ^ first(other(2*i))
			counts[bits.OnesCount64(differ)]++
			for ; differ != 0; differ &= differ - 1 {
				perBit[bits.TrailingZeros64(differ)]++
			}
		}
		if stat, df, p := chisquare.Fit(counts, binomial); p < chisquare.MinP {
			t.Errorf("%s: bits that differ: chi-square %.1f on %d, p = %.3g", name, stat, df, p)
		}
		for bit, n := range perBit {
			if z := (float64(n) - indexes/2) / math.Sqrt(indexes/4.); math.Abs(z) > 5 {
				t.Errorf("%s: bit %d differs in %d of %d, %.1f standard errors off", name, bit, n, indexes, z)
			}
		}
	}
}

func TestSourceAllocatesNothing(t *testing.T) {
	stream := NewStream(1, "allocations")
	var index, sum uint64
	if n := testing.AllocsPerRun(1000, func() {
		src := stream.At(index)
		sum += src.Uint64() + src.Below(1000) + uint64(src.Float64()*10)
		index++
	}); n != 0 {
		t.Errorf("%v allocations per run", n)
	}
}
