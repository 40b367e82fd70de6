package dist

import (
	"math"
	"math/bits"

	"pianola/tracegen/random"
)

// Buckets of the integers: 0..63 have one each; from there on each octave
// [2^e, 2^(e+1)) is cut in 32 of one size. An integer v has the bucket
// v>>shift + 32·shift with shift = max(0, bit length of v - 6).
const (
	bucketsLog = 5
	perOctave  = 1 << bucketsLog
	singles    = 2 * perOctave
)

// bucketOf returns the bucket of v.
func bucketOf(v uint64) uint64 {
	shift := uint64(max(bits.Len64(v), bucketsLog+1)) - (bucketsLog + 1)
	return v>>shift + shift<<bucketsLog
}

// bucketRange returns the first integer of a bucket and the logarithm of its
// size.
func bucketRange(bucket uint64) (first uint64, shift uint64) {
	octave := bucket >> bucketsLog
	shift = octave - (octave|-octave)>>63 // one less but for octave 0, without a branch
	return (bucket - shift<<bucketsLog) << (shift & 63), shift
}

// powerLaw draws integers below a limit whose weight is a convex function that
// falls at first no faster than the power -theta: within the bucket that begins
// at b, weight(b+x)/weight(b) >= 1 - theta·x/b.
type powerLaw struct {
	buckets alias
	// slopes holds the greatest fall of the ratio over each of the 32 buckets of
	// an octave, in units of 2^-64.
	slopes [perOctave]uint64
	// chords holds the least fall of the ratio from the beginning of each of them
	// to the beginning of the next, in the same units.
	chords [perOctave]uint64
	// spans says of each bucket what fill needs.
	spans []span
	limit uint64
	// ratio is weight(first+offset)/weight(first).
	ratio func(first, offset uint64) float64
}

// span is a bucket as fill wants it, in as few bytes as fill can do with.
type span struct {
	first uint64
	// fall is the slope, or a little more, with the logarithm of the size in its
	// low six bits.
	fall uint64
}

// newPowerLaw makes the sampler of the integers v < limit with the given
// weights. The weight function is called for the first integer of each bucket.
func newPowerLaw(limit uint64, theta float64, weight func(v uint64) float64, ratio func(first, offset uint64) float64) *powerLaw {
	weights := make([]float64, bucketOf(limit-1)+1)
	for i := range weights {
		first, shift := bucketRange(uint64(i))
		weights[i] = math.Ldexp(weight(first), int(shift))
	}
	p := &powerLaw{buckets: newAlias(weights), limit: limit, ratio: ratio}
	for i := range perOctave {
		p.slopes[i] = uint64(float64(theta/float64(perOctave+i)*0x1p64)) + 1
		p.chords[i] = 1<<64 - 1
	}
	for bucket := uint64(singles); bucket < uint64(len(weights)); bucket++ {
		first, shift := bucketRange(bucket)
		c := &p.chords[bucket%perOctave]
		*c = min(*c, chordOf(ratio(first, 1<<shift)))
	}
	p.spans = make([]span, len(weights))
	for bucket := range uint64(len(weights)) {
		first, shift := bucketRange(bucket)
		p.spans[bucket] = span{first: first}
		if bucket >= singles {
			p.spans[bucket].fall = (p.slopes[bucket%perOctave]+63)&^63 | shift
		}
	}
	return p
}

// sample draws an integer below the limit. The last bucket may reach beyond
// it, and what is drawn there is drawn again.
func (p *powerLaw) sample(src *random.Source) uint64 {
	for {
		bucket := p.buckets.pick(src.Uint64())
		first, shift := bucketRange(bucket)
		single := (bucket - singles) >> 63 // 1 or 0, without a branch
		slope := p.slopes[bucket%perOctave] & (single - 1)
		offset, u, sure := split(src.Uint64(), shift, slope)
		if !sure && (rejected(u, offset, shift, p.chords[bucket%perOctave]) || !accept(u, shift, src.Uint64(), p.ratio(first, offset))) {
			continue
		}
		if v := first + offset; v < p.limit {
			return v
		}
	}
}

// fill sets out[j] to the sample of index first+j of the stream, less an offset:
// what sample draws there. Nearly all of them take one pass of the loop without
// a branch that can't be foretold.
func (p *powerLaw) fill(out []uint64, stream random.Stream, first, less uint64) {
	var words [random.Part]uint64
	for len(out) > 0 {
		n := min(len(out), len(words))
		p.fillPart(out[:n], words[:n], stream, first, less)
		out, first = out[n:], first+uint64(n)
	}
}

// fillPart is fill with memory for as many words. It has several loops, which
// leave more in registers than one.
func (p *powerLaw) fillPart(out, words []uint64, stream random.Stream, first, less uint64) {
	p.buckets.pickAll(out, stream, first)
	stream.Seconds(words, first)
	words = words[:len(out)] // no bounds to check below
	spans, limit := p.spans, p.limit
	for j, bucket := range out {
		s := &spans[bucket]
		offset, sure := offsetIn(words[j], s.fall)
		v := s.first + offset
		if !sure || v >= limit {
			src := stream.At(first + uint64(j))
			v = p.sample(&src)
		}
		out[j] = v - less
	}
}

// offsetIn is split without the fraction, for the slope and the shift that a
// span holds. Its slope may be greater than that of split, so that it may not be
// sure where split is.
func offsetIn(word, fall uint64) (offset uint64, sure bool) {
	// split's sum carries iff the fall is no less than what u lacks.
	most, _ := bits.Mul64(word, fall)
	return word >> 1 >> (^fall & 63), most < ^word<<(fall&63)
}

// split cuts a uniform word in two: its high shift bits are an offset in a
// bucket, the others are the high bits of a uniform fraction u. It also reports
// whether u is certainly below 1 - slope·word/2^64, which is at most
// 1 - slope·offset/2^shift, whatever the low shift bits of u are.
func split(word, shift, slope uint64) (offset, u uint64, sure bool) {
	offset = word >> 1 >> (63 - shift&63)
	u = word << (shift & 63)
	fall, _ := bits.Mul64(word, slope)
	_, over := bits.Add64(u|(1<<(shift&63)-1), fall, 1)
	return offset, u, over == 0
}

// chordOf returns the fall to a ratio in units of 2^-64, a little less for its
// rounding.
func chordOf(ratio float64) uint64 {
	return uint64(max(0, float64((1-ratio)*0x1p63)-0x1p20)) << 1
}

// rejected reports whether the fraction u of split is certainly no less than a
// convex ratio that falls by chord, or more, over a bucket: it lies below the
// line from one end to the other. Most of what split is not sure of is.
func rejected(u, offset, shift, chord uint64) bool {
	fall, _ := bits.Mul64(offset<<1<<(63-shift&63), chord)
	_, over := bits.Add64(u, fall, 0)
	return over != 0
}

// accept completes the fraction u of split with the bits of another word and
// reports whether it is below ratio <= 1.
func accept(u, shift, word uint64, ratio float64) bool {
	u |= word >> 1 >> (63 - shift&63)
	return u>>1 < uint64(float64(ratio*0x1p63))
}
