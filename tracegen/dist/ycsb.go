package dist

import (
	"errors"

	"pianola/tracegen/random"
	"pianola/traces/payload"
)

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

// Fold maps ranks to key numbers as YCSB's ScrambledZipfianGenerator does: the
// FNV hash of the rank modulo the size of the key range. Several ranks fall on
// one number.
type Fold struct{ modulus uint64 }

// NewFold returns the map to the numbers below modulus >= 1. YCSB's CoreWorkload
// takes insertcount + 2·operationcount·insertproportion + 1 as the modulus, one
// more than there are records even where nothing is inserted, and draws again
// where the record doesn't exist.
func NewFold(modulus uint64) (Fold, error) {
	if modulus == 0 {
		return Fold{}, errors.New("make a fold of ranks: modulus 0")
	}
	return Fold{modulus}, nil
}

// Key returns the key number of a rank, counted from the first of the range.
func (f Fold) Key(rank uint64) uint64 { return payload.HashNumber(rank) % f.modulus }
