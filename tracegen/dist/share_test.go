package dist

import (
	"math"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
)

// TestZetaSum compares the sums with those of all terms, and beyond that with
// YCSB's literal.
func TestZetaSum(t *testing.T) {
	for _, theta := range []float64{0.01, 0.5, 0.99, 1, 1.2, 2} {
		sum, k := 0.0, 0
		for _, n := range []int{1, 2, 63, 64, 65, 66, 100, 1000, 100_000, 1_000_000} {
			for ; k < n; k++ {
				sum += math.Pow(float64(k+1), -theta)
			}
			if got := zetaSum(float64(n), theta); math.Abs(got/sum-1) > 1e-11 {
				t.Errorf("theta %v: the sum to %d is %v, want %v", theta, n, got, sum)
			}
		}
	}
	if got := zetaSum(1e10, YCSBTheta); math.Abs(got/ycsbZeta-1) > 1e-11 {
		t.Errorf("the sum to 10^10 is %v, want %v", got, ycsbZeta)
	}
}

// TestShares adds up the shares of ranks, and compares some with their formula.
func TestShares(t *testing.T) {
	for name, law := range map[string]interface {
		Share(rank uint64) float64
		From(rank uint64) float64
	}{
		"zipf 0.99": mustZipf(t, 1000, 0.99), "zipf 1": mustZipf(t, 1e10, 1), "zipf 2": mustZipf(t, 1e6, 2), "ycsb": NewYCSBZipf(),
	} {
		sum := 0.0
		for rank := range uint64(1000) {
			if off := law.From(rank) - (1 - sum); math.Abs(off) > 1e-10 {
				t.Fatalf("%s: the share from rank %d on is %v off", name, rank, off)
			}
			sum += law.Share(rank)
		}
	}
	if off := mustZipf(t, 1000, 0.99).From(1000); off > 1e-10 {
		t.Errorf("the share behind the last rank is %v", off)
	}
	g := ycsbGray()
	for _, rank := range []uint64{0, 1, 2, 3, 10, 1000, 1 << 20} {
		want := g.below(float64(rank+1)) - g.below(float64(rank))
		if got := NewYCSBZipf().Share(rank); math.Abs(got-want) > 1e-14 {
			t.Errorf("rank %d has the share %v, want %v", rank, got, want)
		}
	}
}

// TestGrayLaw compares draws over a few ranks and over many with the formula.
func TestGrayLaw(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 4, 63, 64, 65, 100, 1000, 1_000_000} {
		law, err := NewGray(n)
		if err != nil {
			t.Fatal(err)
		}
		g := newGray(float64(n), zeta(int(n), YCSBTheta), YCSBTheta)
		counts, shares := make([]uint64, min(n, 5000)), make([]float64, min(n, 5000))
		for rank := range shares {
			below := g.below(float64(rank + 1))
			if rank+1 == len(shares) {
				below = 1
			}
			shares[rank] = below
			if rank > 0 {
				shares[rank] -= g.below(float64(rank))
			}
		}
		out := make([]uint64, 1_000_000)
		law.Fill(out, random.NewStream(1, "gray"), 0)
		for _, rank := range out {
			if rank >= n {
				t.Fatalf("rank %d of %d", rank, n)
			}
			counts[min(rank, uint64(len(counts))-1)]++
		}
		if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
			t.Errorf("%d ranks: chi-square %.1f on %d, p = %.3g", n, stat, df, p)
		}
	}
	for _, n := range []uint64{0, 1<<32 + 1} {
		if _, err := NewGray(n); err == nil {
			t.Errorf("%d ranks are taken", n)
		}
	}
	if _, err := NewGray(1 << 32); err != nil {
		t.Error(err)
	}
}
