package dist

import (
	"fmt"

	"pianola/tracegen/random"
)

const (
	// MaxItems bounds the number of items of a law.
	MaxItems = 1 << 62
	// MaxTheta bounds the exponent of the zipfian laws.
	MaxTheta = 2
)

// Zipf is the exact zipfian law over the ranks 0..n-1: the probability of rank
// k is proportional to (k+1)^-theta. It takes the time of about 32·log2(n)
// powers to make, and 64 KiB of memory at most.
type Zipf struct {
	values *powerLaw // of 1 + rank
	n      uint64
	theta  float64
	sum    float64 // of (k+1)^-theta over the ranks
}

// NewZipf returns the law over n ranks, 1 <= n <= MaxItems, with the exponent
// 0 < theta <= MaxTheta.
func NewZipf(n uint64, theta float64) (*Zipf, error) {
	if n < 1 || n > MaxItems {
		return nil, fmt.Errorf("make a zipfian law: %d items, want 1 to 2^62", n)
	}
	if !(theta > 0 && theta <= MaxTheta) {
		return nil, fmt.Errorf("make a zipfian law: exponent %v, want more than 0 and at most %d", theta, MaxTheta)
	}
	weight := func(v uint64) float64 {
		if v == 0 {
			return 0
		}
		return pow(float64(v), -theta)
	}
	// (first+offset)^-theta / first^-theta. Buckets with offsets begin at 64 or
	// later and are at most 1/32 of their first integer wide.
	ratio := func(first, offset uint64) float64 {
		return exp(float64(-theta * log1p(float64(offset)/float64(first))))
	}
	return &Zipf{newPowerLaw(n+1, theta, weight, ratio), n, theta, zetaSum(float64(n), theta)}, nil
}

// N returns the number of ranks.
func (z *Zipf) N() uint64 { return z.n }

// Sample draws a rank below N().
func (z *Zipf) Sample(src *random.Source) uint64 { return z.values.sample(src) - 1 }

// Fill sets out[j] to the sample of index first+j of the stream.
func (z *Zipf) Fill(out []uint64, stream random.Stream, first uint64) {
	z.values.fill(out, stream, first, 1)
}

// SampleBelow draws a rank below n from the exact zipfian law over n ranks, by
// drawing until a rank is below n >= 1. SampleBelow(src, 0) is 0.
//
// The mean number of draws is H(N)/H(n) with H(n) = Σ k^-theta over 1..n. It is
// at most N/n, whatever theta is, and near 1 for theta >= 0.99 and n >= 10^6
// while n >= N/2. Where n may be much smaller than N use Growing.
func (z *Zipf) SampleBelow(src *random.Source, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	for {
		if rank := z.Sample(src); rank < n {
			return rank
		}
	}
}
