package chisquare

import (
	"math"
	"testing"
)

// TestUpperGamma compares with closed forms: Q(1, x) = e^-x, Q(1/2, x) =
// erfc(√x), and Q(n, x) = e^-x·Σ x^k/k! over k < n.
func TestUpperGamma(t *testing.T) {
	check := func(a, x, want float64) {
		t.Helper()
		if got := UpperGamma(a, x); math.Abs(got-want) > 1e-12*want+1e-15 {
			t.Errorf("Q(%v, %v) = %v, want %v", a, x, got, want)
		}
	}
	for _, x := range []float64{0, 1e-9, 0.1, 0.5, 1, 1.5, 2, 5, 10, 49, 50, 51, 60, 100, 300} {
		check(1, x, math.Exp(-x))
		check(0.5, x, math.Erfc(math.Sqrt(x)))
		term, sum := 1.0, 1.0
		for k := 1.0; k < 50; k++ {
			term *= x / k
			sum += term
		}
		check(50, x, math.Exp(-x)*sum)
	}
}

// TestChiSquare recomputes a small table by hand, and a published quantile: a
// statistic of 18.307 on 10 degrees of freedom has p = 0.05.
func TestFit(t *testing.T) {
	stat, df, p := Fit([]uint64{40, 60}, []float64{0.5, 0.5})
	if stat != 4 || df != 1 || math.Abs(p-math.Erfc(math.Sqrt2)) > 1e-12 {
		t.Errorf("40 and 60 of a fair coin: %v on %d, p = %v", stat, df, p)
	}
	if p := tail(18.307, 10); math.Abs(p-0.05) > 1e-5 {
		t.Errorf("p = %v, want 0.05", p)
	}
	// The last three cells expect 5, 3 and 2 draws and are joined.
	stat, df, _ = Fit([]uint64{95, 1, 0, 4}, []float64{0.9, 0.05, 0.03, 0.02})
	if want := 25./90 + 25./10; math.Abs(stat-want) > 1e-12 || df != 1 {
		t.Errorf("merged cells: %v on %d, want %v on 1", stat, df, want)
	}
	if _, _, p := Fit([]uint64{99, 1}, []float64{1, 0}); p != 0 {
		t.Errorf("a draw of probability 0: p = %v", p)
	}
}

func TestTwoSamples(t *testing.T) {
	// The usual 2 × 2 formula: N·(ad - bc)² / (product of the four sums).
	stat, df, _ := TwoSamples([]uint64{30, 70}, []uint64{90, 110})
	if want := 300. * (30*110 - 70*90) * (30*110 - 70*90) / (100. * 200 * 120 * 180); math.Abs(stat-want) > 1e-12 || df != 1 {
		t.Errorf("%v on %d, want %v on 1", stat, df, want)
	}
	if stat, _, p := TwoSamples([]uint64{10, 20, 30}, []uint64{20, 40, 60}); stat > 1e-12 || p < 1-1e-6 {
		t.Errorf("equal shares: %v, p = %v", stat, p)
	}
}
