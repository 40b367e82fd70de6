package tracegen

import (
	"math"

	"pianola/tracegen/random"
	"pianola/traces/payload"
)

// The formulas that draws of keys are compared with. Nothing here draws.

// sightings counts the operations that choose a key by the number of records
// that they see.
type sightings []uint64

func (s *sightings) add(n uint64) {
	for uint64(len(*s)) <= n {
		*s = append(*s, 0)
	}
	(*s)[n]++
}

// shares returns the share of each number k where every operation draws from
// the numbers below the n it sees, with probabilities proportional to weight.
// It is w(k) · Σ seen[n]/W(n) over n > k, with W(n) the sum of the weights below
// n, over the number of operations.
//
// Counts over a mixture of laws spread a little less than counts over one law
// with the same shares, so a chi-square test errs on the side of passing.
func (s sightings) shares(weight []float64) []float64 {
	sum, total := 0.0, 0.0
	perWeight := make([]float64, len(s)) // of the numbers below n
	for n := range s {
		if s[n] > 0 {
			perWeight[n] = float64(s[n]) / sum
			total += float64(s[n])
		}
		if n < len(weight) {
			sum += weight[n]
		}
	}
	out := make([]float64, len(s)-1)
	above := 0.0
	for k := len(s) - 2; k >= 0; k-- {
		above += perWeight[k+1]
		out[k] = weight[k] * above / total
	}
	return out
}

func equalWeights(n uint64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

func equalShares(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1 / float64(n)
	}
	return out
}

// zipfWeights are (k+1)^-theta.
func zipfWeights(n uint64, theta float64) []float64 {
	out := make([]float64, n)
	for k := range out {
		out[k] = math.Pow(float64(k+1), -theta)
	}
	return out
}

// scrambledWeights are the zipf weights by key number instead of rank.
func scrambledWeights(n uint64, theta float64, seed uint64) []float64 {
	scramble, err := newScramble(n, random.NewStream(seed, "run", "scramble"))
	if err != nil {
		panic(err)
	}
	out := make([]float64, n)
	for rank, w := range zipfWeights(n, theta) {
		out[scramble.Map(uint64(rank))] = w
	}
	return out
}

const ycsbItems = 10_000_000_001

// grayBelow is the share of the ranks below k in YCSB's formula, with the
// constants of YCSB 0.17.0.
func grayBelow(k float64) float64 {
	const zeta, eta, theta = 26.46902820178302, 0.21220003380967406, 0.99
	third := 1 - (1-math.Pow(k/ycsbItems, 1-theta))/eta
	switch {
	case k <= 0:
		return 0
	case k == 1:
		return 1 / zeta
	case k == 2:
		return max(third, (1+math.Pow(0.5, theta))/zeta)
	}
	return third
}

// zipfSum is the sum of (k+1)^-theta over k < n, for theta other than 1: the
// first terms one by one, the others by the trapezoid rule of Euler and
// Maclaurin, whose next term is below 1e-7.
func zipfSum(n, theta float64) float64 {
	const apart = 1000
	sum := 0.0
	for k := 1.0; k <= min(n, apart); k++ {
		sum += math.Pow(k, -theta)
	}
	if n > apart {
		sum += (math.Pow(n, 1-theta)-math.Pow(apart, 1-theta))/(1-theta) + (math.Pow(n, -theta)-math.Pow(apart, -theta))/2
	}
	return sum
}

// foldedWeights are the shares of the key numbers below the modulus when ranks
// of 10^10 + 1 items are folded. So many ranks, 2^20 or fewer, are folded one by
// one. The others are so many and so rare that the hash spreads them evenly.
func foldedWeights(modulus uint64, apart int, below func(k float64) float64) []float64 {
	out := make([]float64, modulus)
	before := 0.0
	for rank := range uint64(apart) {
		next := below(float64(rank + 1))
		out[payload.HashNumber(rank)%modulus] += next - before
		before = next
	}
	for key := range out {
		out[key] += (1 - before) / float64(modulus)
	}
	return out
}

// foldedZipf is the share of the ranks below k in an exact zipf law over
// 10^10 + 1 items.
func foldedZipf(theta float64) func(k float64) float64 {
	all := zipfSum(ycsbItems, theta)
	sum, last := 0.0, 0.0
	return func(k float64) float64 { // k = 1, 2, 3, …
		if k != last+1 {
			panic("ranks are asked for in order")
		}
		last = k
		sum += math.Pow(k, -theta)
		return sum / all
	}
}
