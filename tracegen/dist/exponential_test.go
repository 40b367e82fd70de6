package dist

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
)

var means = []float64{MinMean, 0.3, 1, 3.7, 31.9, 64, 100, 333.25, 1000, 99_999.9, 1e7, 1e15, MaxMean}

// roundedShare is P(from <= k <= to) of the law, from its formula.
func roundedShare(mean float64, from, to uint64) float64 {
	stop := -math.Expm1(-1 / mean)
	if from == 0 {
		p := 1 - mean*stop
		if mean > 1000 { // the same without cancellation
			p = 1/mean/2 - 1/mean/mean/6
		}
		if to == 0 {
			return p
		}
		return p + roundedShare(mean, 1, to)
	}
	// mean·(1-q)²·(q^(from-1) + … + q^(to-1))
	return mean * stop * math.Exp(-float64(from-1)/mean) * -math.Expm1(-float64(to-from+1)/mean)
}

// TestRoundedShare derives the formula again from the definition: k comes where
// floor(x + u) = k, which for a real x has the probability max(0, 1 - |x-k|).
func TestRoundedShare(t *testing.T) {
	for _, mean := range []float64{0.5, 3.7, 100} {
		for _, k := range []uint64{0, 1, 2, 50, 300} {
			const strips = 2000
			var sum float64
			for i := range 2 * strips {
				x := float64(k) - 1 + (float64(i)+0.5)/strips
				if x > 0 {
					sum += math.Exp(-x/mean) / mean * (1 - math.Abs(x-float64(k))) / strips
				}
			}
			if got := roundedShare(mean, k, k); math.Abs(got-sum) > 1e-6 {
				t.Errorf("mean %v: P(%d) = %v, the integral gives %v", mean, k, got, sum)
			}
		}
	}
}

// TestExponentialMeanIsExact computes the mean of the samples from the words
// that lead to each outcome, without draws. The means with buckets too large to
// add up are left to the other tests.
func TestExponentialMeanIsExact(t *testing.T) {
	for _, mean := range means {
		e := mustExponential(t, mean)
		if e.shift > 18 {
			continue
		}
		// Within a bucket offset o is accepted with the ratio exp(-o/mean).
		width := uint64(1) << e.shift
		kept, kept1 := wide(0), wide(0)
		for offset := range width {
			ratio := exp(-float64(e.rate * float64(offset)))
			kept.Add(kept, wide(ratio))
			kept1.Add(kept1, wide(ratio*float64(offset)))
		}
		within := new(big.Float).Quo(kept1, kept)
		kept.Quo(kept, wide(float64(width)))
		masses := e.outcomes.masses()
		outcome := func(i int) *big.Float { return new(big.Float).SetPrec(precision).SetUint64(masses[i]) }
		// M is the mean of what is above 0: all·M = Σ bucket·(value) + beyond·(reach + M).
		all, sum := wide(0), wide(0)
		for i := range uint64(expSlots) {
			mass := outcome(int(i) + 1)
			mass.Mul(mass, kept)
			all.Add(all, mass)
			sum.Add(sum, mass.Mul(mass, new(big.Float).Add(within, wide(float64(1+i*width)))))
		}
		beyond := outcome(expSlots + 1)
		sum.Add(sum, new(big.Float).Mul(beyond, wide(float64(expSlots*width))))
		above := new(big.Float).Quo(sum, all)
		all.Add(all, beyond)
		got := above.Mul(above, all)
		got.Quo(got, all.Add(all, outcome(0)))
		off, _ := new(big.Float).Quo(new(big.Float).Sub(got, wide(mean)), wide(mean)).Float64()
		if math.Abs(off) > 0x1p-46 {
			t.Errorf("mean %v: the samples have the mean %.20v, %.3g off", mean, got, off)
		}
	}
}

// TestExponentialChiSquare tests draws against the formula, in 200 cells of
// nearly equal probability.
func TestExponentialChiSquare(t *testing.T) {
	for _, mean := range means {
		t.Run(fmt.Sprint(mean), func(t *testing.T) {
			e := mustExponential(t, mean)
			cell := func(k uint64) int { return int(200 * -math.Expm1(-float64(k)/mean)) }
			counts, shares := make([]uint64, 201), make([]float64, 201)
			// Ends of the cells by search; the last one is open.
			from := uint64(0)
			for c := cell(0); c <= 200; c++ {
				to := from + uint64(mean*50) + 50
				if c < 200 {
					low, high := from, to // the least k of a higher cell
					for low < high {
						if k := low + (high-low)/2; cell(k) > c {
							high = k
						} else {
							low = k + 1
						}
					}
					if low == from {
						continue
					}
					to = low - 1
				}
				shares[c] = roundedShare(mean, from, to)
				from = to + 1
			}
			src := random.NewStream(1, "exponential").At(math.Float64bits(mean))
			for range 2_000_000 {
				counts[cell(e.Sample(&src))]++
			}
			if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
				t.Errorf("chi-square %.1f on %d, p = %.3g", stat, df, p)
			}
		})
	}
}

// TestExponentialSmallValues tests each of the numbers 0..199 of a mean of 100,
// where buckets hold two.
func TestExponentialSmallValues(t *testing.T) {
	e := mustExponential(t, 100)
	counts, shares := make([]uint64, 200), make([]float64, 200)
	for k := range shares {
		shares[k] = roundedShare(100, uint64(k), uint64(k)) / roundedShare(100, 0, 199)
	}
	src := random.NewStream(2, "exponential").At(0)
	for range 4_000_000 {
		if k := e.Sample(&src); k < 200 {
			counts[k]++
		}
	}
	if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
		t.Errorf("chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
}

// TestExponentialTail draws what lies beyond the buckets often enough to test
// it: the mean of the excess is the mean itself.
func TestExponentialTail(t *testing.T) {
	e := mustExponential(t, 1000)
	reach := uint64(expSlots) << e.shift
	src := random.NewStream(3, "exponential").At(0)
	const draws = 5_000_000
	var n, sum, squares float64
	for range draws {
		if k := e.Sample(&src); k > reach {
			x := float64(k - reach)
			n++
			sum += x
			squares += x * x
		}
	}
	p := math.Exp(-float64(reach) / 1000)
	if z := (n - draws*p) / math.Sqrt(draws*p); math.Abs(z) > 5 {
		t.Errorf("%v of %d beyond %d, %.1f standard errors off", n, draws, reach, z)
	}
	// The excess has the mean 1000.5 and the standard deviation 1000.
	if z := (sum/n - 1000.5) / (1000 / math.Sqrt(n)); math.Abs(z) > 5 {
		t.Errorf("mean excess %v, %.1f standard errors off", sum/n, z)
	}
}

// TestExponentialZeroBeyond doctors the table so that 0, one bucket and what lies
// beyond are drawn equally often: 0 may come first only, not on top of the reach.
func TestExponentialZeroBeyond(t *testing.T) {
	e := mustExponential(t, 1)
	weights := make([]float64, expSlots+2)
	weights[0], weights[1], weights[expSlots+1] = 1, 1, 1
	e.outcomes = newAlias(weights)
	src := random.NewStream(5, "exponential").At(0)
	const draws = 90_000
	var counts [3]uint64 // of 0, 1 and more
	for range draws {
		switch k := e.Sample(&src); {
		case k < 2:
			counts[k]++
		case k%expSlots == 1:
			counts[2]++
		default:
			t.Fatalf("drew %d", k)
		}
	}
	if stat, df, p := chisquare.Fit(counts[:], []float64{1. / 3, 1. / 3, 1. / 3}); p < chisquare.MinP {
		t.Errorf("counts %d: chi-square %.1f on %d, p = %.3g", counts, stat, df, p)
	}
}

func TestNewExponentialRefuses(t *testing.T) {
	for _, mean := range []float64{0, -1, MinMean / 2, MaxMean * 2, math.NaN(), math.Inf(1)} {
		if _, err := NewExponential(mean); err == nil {
			t.Errorf("a mean of %v is taken", mean)
		}
	}
}
