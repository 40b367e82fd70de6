package random

import (
	"math"
	"testing"

	"pianola/tracegen/chisquare"
)

// TestBelowIsUniform tests small ranges cell by cell and large ones, which a
// biased method would get wrong, in three equal parts.
func TestBelowIsUniform(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 10, 1000, 1 << 16, 3 << 40, 3 << 62, 1<<63 + 3, math.MaxUint64 - 2} {
		src := NewStream(3, "below").At(n)
		cells := min(n, 1000)
		if n > 1000 && n%3 == 0 {
			cells = 3
		}
		counts, uniform := make([]uint64, cells), make([]float64, cells)
		for i := range uniform {
			uniform[i] = 1 / float64(cells)
		}
		for range 200_000 {
			x := src.Below(n)
			if x >= n {
				t.Fatalf("Below(%d) = %d", n, x)
			}
			counts[min(uint64(float64(x)/float64(n)*float64(cells)), cells-1)]++
		}
		if stat, df, p := chisquare.Fit(counts, uniform); p < chisquare.MinP {
			t.Errorf("Below(%d): chi-square %.1f on %d, p = %.3g", n, stat, df, p)
		}
	}
}

// TestBelowRejects takes a range of 3/4 of all words: a quarter of the words is
// surplus, and what is kept is drawn again, so more words than results are used.
func TestBelowRejects(t *testing.T) {
	const n, results = 3 << 62, 100_000
	src := NewStream(4, "below").At(0)
	words := src
	for range results {
		src.Below(n)
	}
	used := 0
	for words != src && used < 2*results {
		words.Uint64()
		used++
	}
	// Used words per result have the mean 4/3 and the variance 4/9.
	if z := (float64(used) - results*4/3.) / math.Sqrt(results*4/9.); math.Abs(z) > 5 {
		t.Errorf("%d words for %d results, %.1f standard errors off 4/3", used, results, z)
	}
}

func TestBelowZero(t *testing.T) {
	src := NewStream(5).At(0)
	if got := src.Below(0); got != 0 {
		t.Errorf("Below(0) = %d", got)
	}
}

func TestFloat64(t *testing.T) {
	for _, c := range []struct {
		word uint64
		want float64
	}{{0, 0}, {1<<11 - 1, 0}, {1 << 11, 0x1p-53}, {math.MaxUint64, 1 - 0x1p-53}, {1 << 63, 0.5}} {
		src := before(c.word)
		if got := src.Float64(); got != c.want {
			t.Errorf("word %#x gives %v, want %v", c.word, got, c.want)
		}
	}
	src := NewStream(6, "float").At(0)
	counts, uniform := make([]uint64, 1000), make([]float64, 1000)
	for i := range uniform {
		uniform[i] = 1e-3
	}
	for range 1_000_000 {
		counts[int(src.Float64()*1000)]++
	}
	if stat, df, p := chisquare.Fit(counts, uniform); p < chisquare.MinP {
		t.Errorf("chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
}

// before returns the source whose next word is the given one, by undoing the
// mixing.
func before(word uint64) Source {
	unshift := func(x uint64, by uint) uint64 {
		y := x
		for range 64 / by {
			y = x ^ y>>by
		}
		return y
	}
	inverse := func(x uint64) uint64 { // of an odd number, by Newton's iteration
		y := x
		for range 6 {
			y *= 2 - x*y
		}
		return y
	}
	x := unshift(word, 31) * inverse(0x94D049BB133111EB)
	x = unshift(x, 27) * inverse(0xBF58476D1CE4E5B9)
	return Source{unshift(x, 30) - golden}
}

var sink uint64

func BenchmarkAt(b *testing.B) {
	stream := NewStream(1, "benchmark")
	for i := range b.N {
		src := stream.At(uint64(i))
		sink += src.Uint64()
	}
}

func BenchmarkUint64(b *testing.B) {
	src := NewStream(1, "benchmark").At(0)
	for range b.N {
		sink += src.Uint64()
	}
}

func BenchmarkBelow(b *testing.B) {
	src := NewStream(1, "benchmark").At(0)
	for range b.N {
		sink += src.Below(1000)
	}
}
