package dist

import (
	"math"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
)

// zipfMass is the sum of k^-theta over from..to: term by term at first, by the
// Euler-Maclaurin formula from 1000 on.
func zipfMass(from, to uint64, theta float64) float64 {
	var sum float64
	for ; from <= to && from < 1000; from++ {
		sum += math.Pow(float64(from), -theta)
	}
	if from > to {
		return sum
	}
	a, b := float64(from), float64(to)
	f := func(x float64) float64 { return math.Pow(x, -theta) }
	integral := math.Log(b / a)
	if theta != 1 {
		integral = f(a) * a * math.Expm1((1-theta)*math.Log(b/a)) / (1 - theta)
	}
	return sum + integral + (f(a)+f(b))/2 + theta*(f(a)/a-f(b)/b)/12 -
		theta*(theta+1)*(theta+2)*(f(a)/a/a/a-f(b)/b/b/b)/720
}

func TestZipfMass(t *testing.T) {
	for _, theta := range []float64{0.5, 0.99, 1, 2} {
		var want float64
		for k := 2500; k >= 1; k-- {
			want += math.Pow(float64(k), -theta)
		}
		if got := zipfMass(1, 2500, theta); math.Abs(got-want) > 1e-12*want {
			t.Errorf("sum for theta %v: %v, want %v", theta, got, want)
		}
	}
}

// bucketShares returns the probabilities of the buckets of 1 + rank under the
// zipfian law over n ranks.
func bucketShares(n uint64, theta float64) []float64 {
	shares := make([]float64, bucketOf(n)+1)
	total := zipfMass(1, n, theta)
	for bucket := 1; bucket < len(shares); bucket++ {
		first, shift := bucketRange(uint64(bucket))
		shares[bucket] = zipfMass(first, min(first+1<<shift-1, n), theta) / total
	}
	return shares
}

var thetas = []float64{0.5, 0.99, 1, 1.5, 2}

// TestZipfSharesAreExact adds up the probabilities that tables and ratios give
// each rank, and compares them with the law. No draws are made. The stated
// bound is 2^-44 = 5.7e-14.
func TestZipfSharesAreExact(t *testing.T) {
	for _, n := range []uint64{1, 2, 10, 63, 64, 65, 100, 1000, 100_000} {
		for _, theta := range append(thetas, 1e-3, 0.3) {
			shares := mustZipf(t, n, theta).values.shares()
			var total, off float64
			for k := n; k >= 1; k-- {
				total += math.Pow(float64(k), -theta)
			}
			for k := n; k >= 1; k-- {
				off += math.Abs(shares[k] - math.Pow(float64(k), -theta)/total)
			}
			if off > 0x1p-44 || shares[0] != 0 {
				t.Errorf("n %d, theta %v: probabilities are %.3g off in sum, value 0 has %v", n, theta, off, shares[0])
			}
		}
	}
}

// TestZipfBucketWeights does the same for the weights of the buckets of laws
// that are too large to add up by rank: weights against powers by package math.
func TestZipfBucketWeights(t *testing.T) {
	for _, n := range []uint64{1e8, 1e10 + 1, MaxItems} {
		for _, theta := range thetas {
			masses := mustZipf(t, n, theta).values.buckets.masses()
			envelope := make([]float64, bucketOf(n)+1)
			var total, off float64
			for bucket := len(envelope) - 1; bucket > 0; bucket-- {
				first, shift := bucketRange(uint64(bucket))
				envelope[bucket] = math.Ldexp(math.Pow(float64(first), -theta), int(shift))
				total += envelope[bucket]
			}
			for bucket := range envelope {
				off += math.Abs(math.Ldexp(float64(masses[bucket]), -63) - envelope[bucket]/total)
			}
			if off > 0x1p-44 {
				t.Errorf("n %d, theta %v: weights are %.3g off in sum", n, theta, off)
			}
		}
	}
}

// TestZipfChiSquare tests draws against the law's own formula, over the first
// 63 ranks one by one and 32 buckets to the octave behind them.
func TestZipfChiSquare(t *testing.T) {
	for _, n := range []uint64{10, 1000, 1_000_000, 100_000_000, 1 << 40, MaxItems} {
		for _, theta := range thetas {
			law := mustZipf(t, n, theta)
			src := random.NewStream(n, "zipf").At(math.Float64bits(theta))
			counts := make([]uint64, bucketOf(n)+1)
			for range 1_000_000 {
				rank := law.Sample(&src)
				if rank >= n {
					t.Fatalf("n %d, theta %v: rank %d", n, theta, rank)
				}
				counts[bucketOf(rank+1)]++
			}
			if stat, df, p := chisquare.Fit(counts, bucketShares(n, theta)); p < chisquare.MinP {
				t.Errorf("n %d, theta %v: chi-square %.1f on %d, p = %.3g", n, theta, stat, df, p)
			}
		}
	}
}

// TestZipfChiSquareByRank tests every rank of a law whose buckets hold up to 32.
func TestZipfChiSquareByRank(t *testing.T) {
	const n = 2000
	for _, theta := range thetas {
		law := mustZipf(t, n, theta)
		src := random.NewStream(2, "zipf").At(math.Float64bits(theta))
		counts, shares := make([]uint64, n), make([]float64, n)
		for k := range shares {
			shares[k] = math.Pow(float64(k+1), -theta) / zipfMass(1, n, theta)
		}
		for range 2_000_000 {
			counts[law.Sample(&src)]++
		}
		if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
			t.Errorf("theta %v: chi-square %.1f on %d, p = %.3g", theta, stat, df, p)
		}
	}
}

func TestSampleBelow(t *testing.T) {
	const most, n = 5000, 700
	for _, theta := range thetas {
		law := mustZipf(t, most, theta)
		src := random.NewStream(4, "below").At(0)
		counts := make([]uint64, bucketOf(n)+1)
		for range 300_000 {
			rank := law.SampleBelow(&src, n)
			if rank >= n {
				t.Fatalf("theta %v: rank %d of %d", theta, rank, n)
			}
			counts[bucketOf(rank+1)]++
		}
		if stat, df, p := chisquare.Fit(counts, bucketShares(n, theta)); p < chisquare.MinP {
			t.Errorf("theta %v: chi-square %.1f on %d, p = %.3g", theta, stat, df, p)
		}
		if law.SampleBelow(&src, 0) != 0 || law.SampleBelow(&src, 1) != 0 {
			t.Errorf("theta %v: there is a rank below 0 or another than 0 below 1", theta)
		}
	}
}

func TestNewZipfRefuses(t *testing.T) {
	for _, c := range []struct {
		n     uint64
		theta float64
	}{
		{0, 1}, {MaxItems + 1, 1}, {math.MaxUint64, 1}, {10, 0}, {10, -1}, {10, 2.0000001},
		{10, math.NaN()}, {10, math.Inf(1)},
	} {
		if _, err := NewZipf(c.n, c.theta); err == nil {
			t.Errorf("NewZipf(%d, %v) succeeds", c.n, c.theta)
		}
	}
	if law := mustZipf(t, 7, math.SmallestNonzeroFloat64); law.N() != 7 {
		t.Errorf("N() = %d", law.N())
	}
}
