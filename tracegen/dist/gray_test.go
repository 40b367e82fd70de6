package dist

import (
	"math"
	"testing"

	"pianola/tracegen/chisquare"
)

// gray is the formula of YCSB 0.17.0's ZipfianGenerator, as a reference: Gray
// et al., "Quickly Generating Billion-Record Synthetic Databases", 1994. It
// uses package math and so may differ between architectures in its last digits.
type gray struct{ items, zetan, eta, alpha, theta float64 }

func newGray(items, zetan, theta float64) gray {
	zeta2 := 1 + math.Pow(0.5, theta)
	return gray{
		items: items, zetan: zetan, theta: theta, alpha: 1 / (1 - theta),
		eta: (1 - math.Pow(2/items, 1-theta)) / (1 - zeta2/zetan),
	}
}

// zeta is the sum of k^-theta over 1..n.
func zeta(n int, theta float64) float64 {
	var sum float64
	for k := 1; k <= n; k++ {
		sum += 1 / math.Pow(float64(k), theta)
	}
	return sum
}

// rank returns the rank of a uniform u in [0, 1).
func (g gray) rank(u float64) uint64 {
	uz := u * g.zetan
	switch {
	case uz < 1:
		return 0
	case uz < 1+math.Pow(0.5, g.theta):
		return 1
	}
	return uint64(g.items * math.Pow(g.eta*u-g.eta+1, g.alpha))
}

// below returns the probability of a rank below k.
func (g gray) below(k float64) float64 {
	second := (1 + math.Pow(0.5, g.theta)) / g.zetan
	third := 1 - (1-math.Pow(k/g.items, 1/g.alpha))/g.eta
	switch {
	case k <= 0:
		return 0
	case k >= g.items:
		return 1
	case k <= 1:
		return 1 / g.zetan
	}
	return max(second, third)
}

// ycsbGray is the formula as ScrambledZipfianGenerator uses it.
func ycsbGray() gray { return newGray(YCSBItems, ycsbZeta, YCSBTheta) }

// TestGrayGolden holds the reference against ranks and constants measured from
// YCSB 0.17.0.
func TestGrayGolden(t *testing.T) {
	us := []float64{0, .05, .1, .2, .25, .3, .4, .5, .6, .7, .8, .9, .99, .999999}
	ranks := map[int][]uint64{
		100:     {0, 0, 0, 1, 1, 2, 3, 6, 11, 19, 34, 58, 94, 99},
		1000:    {0, 0, 0, 2, 3, 4, 10, 22, 47, 103, 221, 471, 927, 999},
		10000:   {0, 0, 1, 3, 5, 9, 26, 74, 201, 542, 1447, 3821, 9086, 9999},
		100000:  {0, 0, 1, 5, 10, 20, 72, 251, 856, 2875, 9518, 31066, 89021, 99998},
		1000000: {0, 0, 2, 9, 20, 44, 197, 860, 3676, 15380, 63060, 253526, 872507, 999986},
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
	for _, row := range golden(t, "zipf_constants.tsv") {
		n := int(row[0])
		g := newGray(row[0], zeta(n, YCSBTheta), YCSBTheta)
		if !near(g.zetan, row[1]) || !near(g.eta, row[2]) || g.alpha != row[3] || !near(zeta(2, YCSBTheta), row[4]) {
			t.Errorf("%d items: zeta %v, eta %v, alpha %v, zeta(2) %v, want %v", n, g.zetan, g.eta, g.alpha, zeta(2, YCSBTheta), row[1:])
		}
		for i, u := range us {
			if got := g.rank(u); got != ranks[n][i] {
				t.Errorf("%d items: u %v gives rank %d, want %d", n, u, got, ranks[n][i])
			}
		}
	}
	g := ycsbGray()
	if !near(g.eta, ycsbEta) {
		t.Errorf("eta %v, want %v", g.eta, ycsbEta)
	}
	for i, u := range []float64{.01, .05, .1, .2, .3, .4, .5, .7, .9} {
		want := []uint64{0, 1, 6, 83, 1038, 12175, 134552, 13910962, 1170869537}[i]
		if got := g.rank(u); got != want {
			t.Errorf("u %v gives rank %d, want %d", u, got, want)
		}
	}
}

// TestGrayBelow checks the closed probabilities against the formula itself: the
// u at which the rank reaches k, found by halving, is the probability of a rank
// below k.
func TestGrayBelow(t *testing.T) {
	for _, g := range []gray{ycsbGray(), newGray(999, zeta(999, YCSBTheta), YCSBTheta), newGray(100, zeta(100, YCSBTheta), YCSBTheta)} {
		for k := uint64(1); float64(k) < g.items; k += 1 + k/2 {
			low, high := 0.0, 1.0
			for range 60 {
				if middle := (low + high) / 2; g.rank(middle) < k {
					low = middle
				} else {
					high = middle
				}
			}
			if got := g.below(float64(k)); math.Abs(got-low) > 1e-13 {
				t.Errorf("%v items: P(rank < %d) = %v, the formula gives %v", g.items, k, got, low)
			}
		}
	}
}

// TestGrayAgainstScanLengths compares the closed probabilities with the lengths
// that YCSB drew for scans with scanlengthdistribution=zipfian.
func TestGrayAgainstScanLengths(t *testing.T) {
	g := newGray(100, zeta(100, YCSBTheta), YCSBTheta)
	counts, shares := make([]uint64, 100), make([]float64, 100)
	for _, row := range golden(t, "scanlength_zipfian_100.tsv") {
		k := row[0] - 1
		counts[int(k)] = uint64(row[1])
		shares[int(k)] = g.below(k+1) - g.below(k)
	}
	if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
		t.Errorf("chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
}
