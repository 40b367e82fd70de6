package dist

import (
	"fmt"
	"math"

	"pianola/tracegen/random"
)

// maxAgesMean bounds the means that are sampled to the last digit.
const maxAgesMean = 0x1p56

// Ages is the geometric law over 0, 1, 2, … cut off at a limit that each draw
// states: P(k) is proportional to q^k for k < n. It is what YCSB's `exponential`
// draws ages of records from, floor(-ln(U)/gamma) with q = exp(-gamma), drawn
// again from n on.
type Ages struct {
	law  Exponential // of 1 + k
	mean float64     // 1/gamma
	// flat is the greatest n at which q^n is 1/2 or more.
	flat uint64
	// From a mean of maxAgesMean on neighbours are so alike that 2^coarse of them
	// are drawn as one: their probabilities differ by less than 2^-48 of them.
	coarse int
}

// NewAges returns the law under which the share beyond, 0 < beyond < 1, of the
// ages is newest or more, newest > 0, before any are cut off.
func NewAges(newest, beyond float64) (*Ages, error) {
	if !(beyond > 0 && beyond < 1) || !(newest > 0 && newest <= math.MaxUint64) {
		return nil, fmt.Errorf("make a law of ages: share %v from %v on, want a share between 0 and 1 and an age above 0", beyond, newest)
	}
	// Below a mean of MinMean the age is 0 to the last bit.
	a := &Ages{mean: max(newest/-log(beyond), MinMean)}
	a.flat = math.MaxUint64
	if flat := float64(a.mean * math.Ln2); flat < 0x1p63 {
		a.flat = uint64(flat)
	}
	mean := a.mean
	for mean > maxAgesMean {
		mean /= 2
		a.coarse++
	}
	a.law = newExponential(mean, false)
	return a, nil
}

// Sample draws an age below n >= 1. Where the law is nearly flat over n it draws
// uniformly and accepts with q^k, else from the law over all ages: either takes
// at most two draws on average.
func (a *Ages) Sample(src *random.Source, n uint64) uint64 {
	if n <= a.flat {
		for {
			k := src.Below(n)
			if src.Uint64()>>1 < uint64(float64(exp(-float64(float64(k)/a.mean))*0x1p63)) {
				return k
			}
		}
	}
	for {
		if k := a.first(src); k < n {
			return k
		}
	}
}

// first draws from the law over all ages.
func (a *Ages) first(src *random.Source) uint64 {
	k := a.law.Sample(src) - 1
	if a.coarse == 0 {
		return k
	}
	if k > math.MaxUint64>>a.coarse {
		return math.MaxUint64
	}
	return k<<a.coarse | src.Uint64()>>(64-a.coarse)
}

// Fill sets out[j] to the sample of index first+j of the stream below
// limit+more[j], or below limit if more is empty.
func (a *Ages) Fill(out []uint64, stream random.Stream, first, limit uint64, more []uint32) {
	a.law.Fill(out, stream, first)
	for j, k := range out {
		n := limit
		if len(more) > 0 {
			n += uint64(more[j])
		}
		if k--; k >= n || n <= a.flat || a.coarse > 0 {
			src := stream.At(first + uint64(j))
			k = a.Sample(&src, n)
		}
		out[j] = k
	}
}
