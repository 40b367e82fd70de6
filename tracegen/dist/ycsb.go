package dist

import "pianola/tracegen/random"

// Constants of YCSB 0.17.0's ScrambledZipfianGenerator.
const (
	// YCSBItems is the number of ranks that its zipfian law is always over.
	YCSBItems = 1e10 + 1
	// YCSBTheta is the exponent it is always meant to have.
	YCSBTheta = 0.99

	// ycsbZeta is the sum of k^-0.99 over 1..10^10, which YCSB holds as a
	// literal; ycsbEta is what its formula makes of it.
	ycsbZeta = 26.46902820178302
	ycsbEta  = 0.21220003380967406
)

// YCSBZipf is the law of the ranks that YCSB's `zipfian` draws before it hashes
// them to key numbers. YCSB draws a uniform u in [0, 1) and returns
//
//	rank 0                              if u·zeta < 1,
//	rank 1                              if u·zeta < 1 + 0.5^theta, else
//	floor(N · (eta·u - eta + 1)^alpha)  with alpha = 1/(1-theta),
//
// an approximation by Gray et al. ("Quickly Generating Billion-Record Synthetic
// Databases", 1994) of a zipfian law: it gives rank 2, for instance, 1.20 times
// as often as that. This type draws from the distribution of the formula,
// without the formula. Its third line gives a rank below k for
//
//	u < U(k) = 1 - (1 - (k/N)^(1-theta))/eta,
//
// and so the probability of a rank there is U(k+1) - U(k), proportional to
// (k+1)^(1-theta) - k^(1-theta). That is convex and falls no faster than the
// power -theta does.
type YCSBZipf struct{ ranks *powerLaw }

// NewYCSBZipf returns the law.
func NewYCSBZipf() *YCSBZipf { return &YCSBZipf{ycsbFormula.law(YCSBItems)} }

// Sample draws a rank below YCSBItems.
func (z *YCSBZipf) Sample(src *random.Source) uint64 { return z.ranks.sample(src) }

// Fill sets out[j] to the sample of index first+j of the stream.
func (z *YCSBZipf) Fill(out []uint64, stream random.Stream, first uint64) {
	z.ranks.fill(out, stream, first, 0)
}
