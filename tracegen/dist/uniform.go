package dist

import (
	"math/bits"

	"pianola/tracegen/random"
)

// Uniform is the law over 0..n-1 that gives each number equally often. It is
// exact: see random.Source.Below.
type Uniform struct{ n uint64 }

// NewUniform returns the law over n numbers. Of 0 numbers it draws 0.
func NewUniform(n uint64) Uniform { return Uniform{n} }

// Sample draws a number below n.
func (u Uniform) Sample(src *random.Source) uint64 { return src.Below(u.n) }

// Fill sets out[j] to the sample of index first+j of the stream.
func (u Uniform) Fill(out []uint64, stream random.Stream, first uint64) {
	stream.Words(out, first)
	for j, word := range out {
		high, low := bits.Mul64(word, u.n)
		if low < u.n {
			src := stream.At(first + uint64(j))
			high = src.Below(u.n)
		}
		out[j] = high
	}
}
