package dist

import (
	"math"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
)

// TestGrowingSizes checks that the sizes follow one another and that a number
// of ranks gets the least size that holds it, never more than 5/4 of it.
func TestGrowingSizes(t *testing.T) {
	for i, want := range []uint64{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40} {
		if got := sizeAt(uint64(i)); got != want {
			t.Errorf("size %d is %d, want %d", i, got, want)
		}
	}
	check := func(n uint64) {
		t.Helper()
		i := sizeIndex(n)
		if size := sizeAt(i); size < n || i > 0 && sizeAt(i-1) >= n || float64(size) > float64(n)*1.25 {
			t.Fatalf("%d ranks get the size %d", n, size)
		}
	}
	for n := uint64(1); n < 5000; n++ {
		check(n)
	}
	src := random.NewStream(1, "sizes").At(0)
	for range 10_000 {
		check(1 + src.Below(MaxItems>>src.Below(60)))
	}
	check(MaxItems)
	if got := sizeAt(sizeIndex(MaxItems)); got != MaxItems {
		t.Errorf("the greatest size is %d, want 2^62", got)
	}
}

// TestGrowingChiSquare lets the number of ranks grow by one with each draw, and
// tests the ranks against the sum of the laws of all those numbers.
func TestGrowingChiSquare(t *testing.T) {
	const least, most, draws = 50, 3000, 200
	for _, theta := range thetas {
		law, err := NewGrowing(least, most, theta)
		if err != nil {
			t.Fatal(err)
		}
		stream := random.NewStream(1, "growing")
		counts, shares := make([]uint64, bucketOf(most)+1), make([]float64, bucketOf(most)+1)
		for n := uint64(least); n <= most; n++ {
			for i, p := range bucketShares(n, theta) {
				shares[i] += p / (most - least + 1)
			}
			src := stream.At(n)
			for range draws {
				rank := law.Sample(&src, n)
				if rank >= n {
					t.Fatalf("theta %v: rank %d of %d", theta, rank, n)
				}
				counts[bucketOf(rank+1)]++
			}
		}
		if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
			t.Errorf("theta %v: chi-square %.1f on %d, p = %.3g", theta, stat, df, p)
		}
	}
}

// TestGrowingIgnoresItsRange: a sample depends on n alone.
func TestGrowingIgnoresItsRange(t *testing.T) {
	narrow, err := NewGrowing(1000, 1100, 0.99)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := NewGrowing(1, MaxItems, 0.99)
	if err != nil {
		t.Fatal(err)
	}
	stream := random.NewStream(1, "range")
	for n := uint64(1000); n <= 1100; n++ {
		a, b := stream.At(n), stream.At(n)
		if x, y := narrow.Sample(&a, n), wide.Sample(&b, n); x != y || a != b {
			t.Errorf("n %d: ranks %d and %d", n, x, y)
		}
	}
}

func TestNewGrowingRefuses(t *testing.T) {
	for _, c := range []struct {
		least, most uint64
		theta       float64
	}{{0, 10, 1}, {11, 10, 1}, {1, MaxItems + 1, 1}, {1, math.MaxUint64, 1}, {1, 10, 0}, {1, 10, math.NaN()}} {
		if _, err := NewGrowing(c.least, c.most, c.theta); err == nil {
			t.Errorf("NewGrowing(%d, %d, %v) succeeds", c.least, c.most, c.theta)
		}
	}
}
