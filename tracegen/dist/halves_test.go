package dist

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
)

// halvesDraws is the number of draws of the tests below: enough to see that a
// sampler accepts everything, which shifts a share by a few thousandths.
const halvesDraws = 4_000_000

// half says where a value lies: 0 in a bucket of its own, 1 in the lower and 2
// in the upper half of a bucket.
func half(v uint64) int {
	first, shift := bucketRange(bucketOf(v))
	switch {
	case shift == 0:
		return 0
	case v-first < 1<<shift/2:
		return 1
	}
	return 2
}

// testHalves draws from a law and compares the shares of single values and of
// the two halves of all buckets with those of its mass function.
func testHalves(t *testing.T, name string, p *powerLaw, mass func(from, to uint64) float64) {
	t.Helper()
	shares := make([]float64, 3)
	for bucket := range bucketOf(p.limit-1) + 1 {
		first, shift := bucketRange(bucket)
		last := min(first+1<<shift, p.limit) - 1
		if shift == 0 {
			shares[0] += mass(first, first)
			continue
		}
		middle := first + 1<<shift/2
		shares[1] += mass(first, min(middle-1, last))
		if middle <= last {
			shares[2] += mass(middle, last)
		}
	}
	counts := make([]uint64, 3)
	src := random.NewStream(1, "halves", name).At(0)
	for range halvesDraws {
		counts[half(p.sample(&src))]++
	}
	if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
		t.Errorf("%s: counts %d, shares %.6f: chi-square %.1f on %d, p = %.3g", name, counts, shares, stat, df, p)
	}
}

func TestHalvesOfBuckets(t *testing.T) {
	for _, n := range []uint64{1_000_000, MaxItems} {
		for _, theta := range []float64{0.5, 0.99, 1} { // above 1 there is little in buckets
			total := zipfMass(1, n, theta)
			testHalves(t, fmt.Sprintf("zipf %d %v", n, theta), mustZipf(t, n, theta).values, func(from, to uint64) float64 {
				if to == 0 {
					return 0
				}
				return zipfMass(from, to, theta) / total
			})
		}
	}
	testHalves(t, "ycsb", NewYCSBZipf().ranks, func(from, to uint64) float64 {
		d, _ := new(big.Float).Sub(wideBelow(float64(to+1)), wideBelow(float64(from))).Float64()
		return d
	})
}

func TestHalvesOfExponential(t *testing.T) {
	for _, mean := range []float64{64, 1000, 1e7, 1e15} {
		e := mustExponential(t, mean)
		lower, upper := uint64(0), uint64(0)
		src := random.NewStream(2, "halves").At(math.Float64bits(mean))
		for range halvesDraws {
			switch k := e.Sample(&src); {
			case k == 0:
			case (k-1)>>(e.shift-1)&1 == 0:
				lower++
			default:
				upper++
			}
		}
		// The upper half is the lower one times q^(half a bucket).
		q := math.Exp(-math.Ldexp(1, int(e.shift)-1) / mean)
		if stat, df, p := chisquare.Fit([]uint64{lower, upper}, []float64{1 / (1 + q), q / (1 + q)}); p < chisquare.MinP {
			t.Errorf("mean %v: halves %d and %d: chi-square %.1f on %d, p = %.3g", mean, lower, upper, stat, df, p)
		}
	}
}
