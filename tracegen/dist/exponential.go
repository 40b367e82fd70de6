package dist

import (
	"fmt"
	"math"
	"math/bits"

	"pianola/tracegen/random"
)

// Bounds of the mean of an Exponential.
const (
	MinMean = 0x1p-10
	MaxMean = 0x1p53
)

// expSlots is the number of equal buckets of an Exponential. With the two other
// outcomes they fill an alias table of 512 slots.
const expSlots = 510

// Exponential is the exponential law with a given mean, rounded to integers at
// random: a sample is distributed as floor(mean·E + U), with E exponential of
// mean 1 and U uniform in [0, 1). The rounding is unbiased, so the mean of the
// samples is the mean of the law, for any mean.
//
// With q = exp(-1/mean) the probabilities are
//
//	P(0) = 1 - mean·(1-q)
//	P(k) = mean·(1-q)²·q^(k-1)  for k >= 1,
//
// which is what is sampled: 0, or else a geometric variable, in buckets of 2^s
// integers with 1/64 < 2^s/mean <= 1/32 (s = 0 for small means) out to at least
// 7.9 means. What lies beyond is drawn afresh from there, since the law has no
// memory.
type Exponential struct {
	outcomes alias // 0: the number 0; 1..expSlots: a bucket; expSlots+1: beyond
	shift    uint64
	slope    uint64
	chord    uint64
	rate     float64 // 1/mean
}

// NewExponential returns the law of the given mean, MinMean <= mean <= MaxMean.
func NewExponential(mean float64) (*Exponential, error) {
	if !(mean >= MinMean && mean <= MaxMean) {
		return nil, fmt.Errorf("make an exponential law: mean %v, want 2^-10 to 2^53", mean)
	}
	e := newExponential(mean, true)
	return &e, nil
}

// newExponential makes the law without its bounds, the number 0 included or not.
func newExponential(mean float64, zero bool) Exponential {
	e := Exponential{rate: 1 / mean}
	if width := uint64(float64(mean / 32)); width > 1 {
		e.shift = uint64(bits.Len64(width)) - 1
		e.slope = uint64(math.Ldexp(e.rate, int(e.shift)+64)) + 1
		e.chord = chordOf(exp(-math.Ldexp(e.rate, int(e.shift))))
	}
	width := math.Ldexp(1, int(e.shift))
	stop := -expm1(-e.rate) // 1 - q
	// The weights are the probabilities divided by that of a number above 0.
	weights := make([]float64, expSlots+2)
	if zero {
		weights[0] = max(0, e.rate/stop-1)
	}
	for i := range expSlots + 1 {
		weights[1+i] = exp(-float64(e.rate * width * float64(i)))
	}
	for i := range expSlots {
		weights[1+i] = float64(weights[1+i] * width * stop)
	}
	e.outcomes = newAlias(weights)
	return e
}

// Sample draws a number.
func (e *Exponential) Sample(src *random.Source) uint64 {
	var passed uint64
	for {
		outcome := e.outcomes.pick(src.Uint64())
		if outcome-1 < expSlots {
			offset, u, sure := split(src.Uint64(), e.shift, e.slope)
			if sure || !rejected(u, offset, e.shift, e.chord) && accept(u, e.shift, src.Uint64(), exp(-float64(e.rate*float64(offset)))) {
				return passed + 1 + (outcome-1)<<(e.shift&63) + offset
			}
		} else if outcome == 0 && passed == 0 {
			return 0
		} else if outcome > expSlots {
			passed += expSlots << e.shift
		}
	}
}

// Fill sets out[j] to the sample of index first+j of the stream.
func (e *Exponential) Fill(out []uint64, stream random.Stream, first uint64) {
	var words [random.Part]uint64
	for len(out) > 0 {
		n := min(len(out), len(words))
		e.fillPart(out[:n], words[:n], stream, first)
		out, first = out[n:], first+uint64(n)
	}
}

// fillPart is Fill with memory for as many words.
func (e *Exponential) fillPart(out, words []uint64, stream random.Stream, first uint64) {
	e.outcomes.pickAll(out, stream, first)
	stream.Seconds(words, first)
	words = words[:len(out)] // no bounds to check below
	shift := e.shift & 63
	fall := (e.slope+63)&^63 | shift
	for j, outcome := range out {
		offset, sure := offsetIn(words[j], fall)
		v := 1 + (outcome-1)<<shift + offset
		if !sure || outcome-1 >= expSlots {
			src := stream.At(first + uint64(j))
			v = e.Sample(&src)
		}
		out[j] = v
	}
}
