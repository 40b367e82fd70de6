package dist

import (
	"math"
	"math/big"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
)

// wideBelow is P(rank < k) of YCSB's formula for 10^10 + 1 items, in 160 bits
// from the doubles that YCSB computes with.
func wideBelow(k float64) *big.Float {
	second := new(big.Float).Quo(wide(1+math.Pow(0.5, YCSBTheta)), wide(ycsbZeta))
	switch k {
	case 0:
		return wide(0)
	case 1:
		return new(big.Float).Quo(wide(1), wide(ycsbZeta))
	}
	exponent := new(big.Float).Mul(wide(ycsbExponent()), wideLog(new(big.Float).Quo(wide(k), wide(YCSBItems))))
	third := new(big.Float).Sub(wideExp(exponent), wide(1))
	third.Add(wide(1), third.Quo(third, wide(ycsbEta)))
	if third.Cmp(second) < 0 {
		return second
	}
	return third
}

// ycsbBucketShares returns the probabilities of the buckets of ranks.
func ycsbBucketShares() []float64 {
	shares := make([]float64, bucketOf(YCSBItems-1)+1)
	below := wideBelow(0)
	for bucket := range shares {
		first, shift := bucketRange(uint64(bucket))
		next := wideBelow(min(float64(first+1<<shift), YCSBItems))
		shares[bucket], _ = new(big.Float).Sub(next, below).Float64()
		below = next
	}
	return shares
}

// TestYCSBBoundary looks at the u where the formula's second line ends. The
// third line begins there at 2, but for the rounding of eta in the 17th digit;
// a gap of a whole rank, as YCSB's `latest` has, would show here.
func TestYCSBBoundary(t *testing.T) {
	g := ycsbGray()
	second := (1 + math.Pow(0.5, g.theta)) / g.zetan
	begin := g.items * math.Pow(g.eta*second-g.eta+1, g.alpha)
	if math.Abs(begin-2) > 1e-9 {
		t.Errorf("the third line begins at rank %v, want 2", begin)
	}
	third, _ := wideBelow(3).Float64()
	below2, _ := wideBelow(2).Float64()
	if math.Abs(ycsbFormula.below(2)-second) > 1e-15 || math.Abs(below2-second) > 1e-15 {
		t.Errorf("U(2) = %v, the second line ends at %v", ycsbFormula.below(2), second)
	}
	shares := ycsbBucketShares()
	for rank, want := range []float64{1 / g.zetan, below2 - 1/g.zetan, third - below2} {
		if math.Abs(shares[rank]-want) > 1e-15 {
			t.Errorf("P(%d) = %v, want %v", rank, shares[rank], want)
		}
	}
	// The law is not the exact one: rank 2 comes 1.20 times as often.
	exact := zipfMass(3, 3, YCSBTheta) / ycsbZeta
	if r := shares[2] / exact; math.Abs(r-1.203) > 0.001 {
		t.Errorf("rank 2 comes %v times as often as in an exact law", r)
	}
}

// TestYCSBSharesAreExact compares the probabilities that the tables give with
// the closed ones, without draws: single ranks as they are, buckets after adding
// up what is accepted of each, by rank up to 4096 and by 256 strips beyond.
func TestYCSBSharesAreExact(t *testing.T) {
	law := NewYCSBZipf().ranks
	masses := law.buckets.masses()
	want := ycsbBucketShares()
	got := make([]float64, len(want))
	var total float64
	for bucket := range got {
		first, shift := bucketRange(uint64(bucket))
		got[bucket] = math.Ldexp(float64(masses[bucket]), -63) * accepted(law, first, uint64(1)<<shift)
		total += got[bucket]
	}
	var off float64
	for bucket := range got {
		off += math.Abs(got[bucket]/total - want[bucket])
	}
	// 2^-44 is the bound of the sampler; the strips add an error of their own.
	if off > 1e-12 {
		t.Errorf("probabilities are %.3g off in sum", off)
	}
}

// accepted is the mean ratio over a bucket, with 0 from the limit on.
func accepted(law *powerLaw, first, size uint64) float64 {
	end := min(size, law.limit-first)
	if size > 4096 {
		return integratedRatio(first, float64(end)) / float64(size)
	}
	sum := 1.0
	for offset := uint64(1); offset < end; offset++ {
		sum += law.ratio(first, offset)
	}
	return sum / float64(size)
}

// integratedRatio is the sum of the ratios of the offsets below end, taken as
// the integral from -1/2 to end-1/2 by Simpson's rule. Sum and integral differ
// by a second derivative, which for large buckets is nothing.
func integratedRatio(first uint64, end float64) float64 {
	a := ycsbExponent()
	ratio := func(offset float64) float64 {
		v := float64(first) + offset
		return math.Pow(v, a) * math.Expm1(a*math.Log1p(1/v)) / powerStep(first, a)
	}
	const strips = 256
	h := end / strips
	sum := ratio(-0.5) + ratio(end-0.5)
	for i := 1; i < strips; i++ {
		sum += ratio(float64(i)*h-0.5) * float64(2+2*(i%2))
	}
	return sum * h / 3
}

// TestYCSBChiSquare tests draws against the closed law, over the first 64 ranks
// one by one and 32 buckets to the octave behind them.
func TestYCSBChiSquare(t *testing.T) {
	law := NewYCSBZipf()
	src := random.NewStream(1, "ycsb").At(0)
	counts := make([]uint64, bucketOf(YCSBItems-1)+1)
	for range 4_000_000 {
		rank := law.Sample(&src)
		if rank >= YCSBItems {
			t.Fatalf("rank %d", rank)
		}
		counts[bucketOf(rank)]++
	}
	stat, df, p := chisquare.Fit(counts, ycsbBucketShares())
	if p < chisquare.MinP {
		t.Errorf("chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
	// The test can tell the formula's law from an exact one.
	if _, _, p := chisquare.Fit(counts, append(bucketShares(YCSBItems, YCSBTheta)[1:], 0)); p > 0 {
		t.Errorf("the draws pass for an exact zipfian law: p = %.3g", p)
	}
}

// TestYCSBAgainstFormula compares draws of the sampler with draws of the
// formula.
func TestYCSBAgainstFormula(t *testing.T) {
	law, g := NewYCSBZipf(), ycsbGray()
	stream := random.NewStream(2, "ycsb")
	a, b := stream.At(0), stream.At(1)
	ours, theirs := make([]uint64, 96), make([]uint64, 96)
	cell := func(rank uint64) int { // ranks below 64, then octaves
		if rank < 64 {
			return int(rank)
		}
		return 64 + int(math.Log2(float64(rank))) - 6
	}
	for range 2_000_000 {
		ours[cell(law.Sample(&a))]++
		theirs[cell(g.rank(b.Float64()))]++
	}
	used := cell(YCSBItems-1) + 1
	if stat, df, p := chisquare.TwoSamples(ours[:used], theirs[:used]); p < chisquare.MinP {
		t.Errorf("chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
}
