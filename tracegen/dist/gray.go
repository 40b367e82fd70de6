package dist

import (
	"fmt"

	"pianola/tracegen/random"
)

// Gray is the law of the ranks 0..n-1 that YCSB's ZipfianGenerator draws with
// the exponent 0.99, for scan lengths for instance: the distribution of its
// formula, which YCSBZipf describes, over any number of ranks.
type Gray struct{ ranks *powerLaw }

// NewGray returns the law over 1 <= n <= 2^32 ranks.
func NewGray(n uint64) (*Gray, error) {
	if n < 1 || n > 1<<32 {
		return nil, fmt.Errorf("make a law by YCSB's zipfian formula: %d items, want 1 to 2^32", n)
	}
	items, zeta := float64(n), zetaSum(float64(n), YCSBTheta)
	f := grayFormula{items: items, zeta: zeta}
	if n > 2 {
		f.eta = -expm1(float64(ycsbExponent()*log(2/items))) / (1 - zetaSum(2, YCSBTheta)/zeta)
	}
	return &Gray{f.law(n)}, nil
}

// Sample draws a rank below n.
func (g *Gray) Sample(src *random.Source) uint64 { return g.ranks.sample(src) }

// Fill sets out[j] to the sample of index first+j of the stream.
func (g *Gray) Fill(out []uint64, stream random.Stream, first uint64) {
	g.ranks.fill(out, stream, first, 0)
}

// grayFormula is the formula that YCSBZipf describes, with its constants. Its
// exponent is YCSBTheta.
type grayFormula struct{ items, zeta, eta float64 }

var ycsbFormula = grayFormula{YCSBItems, ycsbZeta, ycsbEta}

// ycsbExponent is 1 - theta as YCSB's doubles have it: theta is rounded first.
func ycsbExponent() float64 {
	theta := float64(YCSBTheta)
	return 1 - theta
}

// below returns the probability of a rank below k <= items.
//
// The first two lines of the formula end at a u that is U(2) but for the
// rounding of eta. If it is less, the third line gives rank 1 for the u between
// them; if it is more, it loses the beginning of rank 2.
func (f *grayFormula) below(k uint64) float64 {
	x := float64(k)
	switch {
	case k == 0:
		return 0
	case x == f.items:
		return 1
	case k == 1:
		return 1 / f.zeta
	}
	third := 1 + expm1(float64(ycsbExponent()*log(x/f.items)))/f.eta
	if k == 2 {
		return max((1+pow(2, -YCSBTheta))/f.zeta, third)
	}
	return third
}

// law returns a sampler of the n ranks, n = items.
func (f *grayFormula) law(n uint64) *powerLaw {
	a := ycsbExponent()
	// ((k+1)^a - k^a) / (eta · N^a)
	scale := float64(f.eta * pow(f.items, a))
	weight := func(rank uint64) float64 {
		switch {
		case rank >= n:
			return 0
		case rank <= 2:
			return f.below(rank+1) - f.below(rank)
		}
		return powerStep(rank, a) / scale
	}
	ratio := func(first, offset uint64) float64 {
		return powerStep(first+offset, a) / powerStep(first, a)
	}
	return newPowerLaw(n, 1-a, weight, ratio)
}

// powerStep returns (k+1)^a - k^a for k >= 3, without cancellation.
func powerStep(k uint64, a float64) float64 {
	x := float64(k)
	return float64(pow(x, a) * expm1(float64(a*log1p(1/x))))
}
