package dist

import (
	"math"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
)

// TestScrambleIsBijection maps every number of many ranges: none comes twice,
// and each is found back.
func TestScrambleIsBijection(t *testing.T) {
	sizes := []uint64{1000, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 65537, 99991, 1_000_000}
	for n := uint64(1); n <= 300; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		s := mustScramble(t, n, n)
		seen := make([]bool, n)
		for x := range n {
			y := s.Map(x)
			if y >= n || seen[y] {
				t.Fatalf("n %d: %d goes to %d, which is out of range or taken", n, x, y)
			}
			seen[y] = true
			if back := s.Inverse(y); back != x {
				t.Fatalf("n %d: %d goes to %d, which goes back to %d", n, x, y, back)
			}
		}
	}
}

// TestScrambleOfLargeRanges tries both ends and random numbers.
func TestScrambleOfLargeRanges(t *testing.T) {
	src := random.NewStream(1, "large").At(0)
	for _, n := range []uint64{1e9 + 7, 1e10 + 1, 1<<40 + 1, 1 << 61, MaxItems - 1, MaxItems} {
		s := mustScramble(t, n, 1)
		for i := range uint64(20_000) {
			x := [...]uint64{i, n - 1 - i, src.Below(n)}[i%3]
			if y := s.Map(x); y >= n || s.Inverse(y) != x {
				t.Fatalf("n %d: %d goes to %d, which goes back to %d", n, x, y, s.Inverse(y))
			}
		}
	}
}

// TestScrambleSpreads tests where blocks of neighbours go: their images, and the
// distances between the images of neighbours, are uniform over the range, as are
// pairs of neighbouring images over 16 × 16 cells.
func TestScrambleSpreads(t *testing.T) {
	uniform := func(n int) []float64 {
		p := make([]float64, n)
		for i := range p {
			p[i] = 1 / float64(n)
		}
		return p
	}
	for _, n := range []uint64{100_003, 1_000_000, 1 << 20, 1e9 + 7, 1e12, MaxItems} {
		for _, stride := range []uint64{1, 2, 3, 1 << (uint(math.Log2(float64(n))) / 2)} {
			const tries = 20_000
			if stride*tries > n {
				continue // a permutation of most of the range is more even than draws are
			}
			images, steps, pairs := make([]uint64, 256), make([]uint64, 256), make([]uint64, 256)
			s := mustScramble(t, n, 9)
			cell := func(y, cells uint64) uint64 { return min(uint64(float64(y)/float64(n)*float64(cells)), cells-1) }
			last := s.Map(0)
			for x := stride; x < stride*tries; x += stride {
				y := s.Map(x)
				images[cell(y, 256)]++
				steps[cell((y+n-last)%n, 256)]++
				if x/stride%2 == 1 {
					pairs[cell(last, 16)<<4|cell(y, 16)]++
				}
				last = y
			}
			for name, counts := range map[string][]uint64{"images": images, "steps": steps, "pairs": pairs} {
				if stat, df, p := chisquare.Fit(counts, uniform(256)); p < chisquare.MinP {
					t.Errorf("n %d, stride %d, %s: chi-square %.1f on %d, p = %.3g", n, stride, name, stat, df, p)
				}
			}
		}
	}
}

// TestScramblesDiffer: over many streams, each number goes everywhere equally
// often.
func TestScramblesDiffer(t *testing.T) {
	const n, streams = 20, 40_000
	uniform := make([]float64, n)
	for i := range uniform {
		uniform[i] = 1. / n
	}
	var counts [n][]uint64
	for x := range counts {
		counts[x] = make([]uint64, n)
	}
	for seed := range uint64(streams) {
		s := mustScramble(t, n, seed)
		for x := range uint64(n) {
			counts[x][s.Map(x)]++
		}
	}
	for x := range counts {
		if stat, df, p := chisquare.Fit(counts[x], uniform); p < chisquare.MinP {
			t.Errorf("images of %d: chi-square %.1f on %d, p = %.3g", x, stat, df, p)
		}
	}
}

func TestMapAllIsMap(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 4, 5, 1000, 1 << 20, 1<<33 + 1, MaxItems} {
		s := mustScramble(t, n, 5)
		src := random.NewStream(1, "numbers").At(n)
		numbers, images := make([]uint64, 2000), make([]uint64, 2000)
		for j := range numbers {
			numbers[j] = src.Below(n)
		}
		numbers[0], numbers[1] = 0, n-1
		s.MapAll(images, numbers)
		for j, x := range numbers {
			if want := s.Map(x); images[j] != want {
				t.Fatalf("of %d: %d becomes %d, want %d", n, x, images[j], want)
			}
		}
	}
}
