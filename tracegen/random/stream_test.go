package random

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"pianola/tracegen/random/randomtest"
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
		{1, nil, 0, [3]uint64{0xe2b371125e375bf1, 0xd9fdf0ce5526c05a, 0x8c07637dd486a641}},
		{1, []string{"run", "keys"}, 0, [3]uint64{0x7a27b660b788ce56, 0xd767c1ea3d880cd3, 0x6ca041e62073fe37}},
		{1, []string{"run", "keys"}, 1, [3]uint64{0x56c103ec455910a3, 0x1bd94726cfdc63c9, 0x697cf022e76a05cd}},
		{1, []string{"run", "keys"}, 1e10, [3]uint64{0x79d1fcdbbc9caa9a, 0x1bc467803378e1, 0xb5972027b2cbfafc}},
		{1, []string{"run", "keys"}, math.MaxUint64, [3]uint64{0xccbb90715de619dc, 0x46f1034de01bbe5, 0x4e290b1684eea445}},
		{1, []string{"load", "keys"}, 0, [3]uint64{0x5e5911465f676f84, 0x538e75a204de6988, 0x187a8bee353a6307}},
		{2, []string{"run", "keys"}, 0, [3]uint64{0x591f74e956bf8a68, 0x224e3f508c774c0f, 0xfb85f7f9ac7c91d8}},
		{math.MaxUint64, []string{""}, 0, [3]uint64{0xa1022b85a141a082, 0x1f06bb25496eb545, 0xba0da67af56001b4}},
	} {
		src := NewStream(c.seed, c.names...).At(c.index)
		for j, want := range c.draws {
			if got := src.Uint64(); got != want {
				t.Errorf("seed %d, names %q, index %d, draw %d: %#x, want %#x", c.seed, c.names, c.index, j, got, want)
			}
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
			if stat, df, p := randomtest.ChiSquare(counts[:], uniform); p < randomtest.MinP {
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
		"next":     func(i uint64) uint64 { return i + 1 },
		"low bit":  func(i uint64) uint64 { return i ^ 1 },
		"bit 16":   func(i uint64) uint64 { return i ^ 1<<16 },
		"high bit": func(i uint64) uint64 { return i ^ 1<<63 },
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
		if stat, df, p := randomtest.ChiSquare(counts, binomial); p < randomtest.MinP {
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
