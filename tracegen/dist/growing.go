package dist

import (
	"fmt"
	"math/bits"

	"pianola/tracegen/random"
)

// Growing is the exact zipfian law over a number of ranks that grows from draw
// to draw: what `latest` needs, where the ranks are the ages of the records.
//
// It holds a Zipf for each of the sizes 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16,
// 20, … (four to an octave) that its range needs, and draws from the one of the
// next size that is no smaller, rejecting what lies beyond. A sample takes at
// most 5/4 draws on average, whatever theta is, and depends on n alone, not on
// how far the law was meant to grow or where a block of operations begins.
type Growing struct {
	laws  []*Zipf
	first uint64 // index of the size of laws[0]
}

// NewGrowing returns the law for n from least to most, 1 <= least <= most <=
// MaxItems, with the exponent 0 < theta <= MaxTheta. It takes the time and the
// memory of a Zipf four times for each octave from least to most.
func NewGrowing(least, most uint64, theta float64) (*Growing, error) {
	if least < 1 || least > most || most > MaxItems {
		return nil, fmt.Errorf("make a growing zipfian law: from %d to %d items, want a range within 1 to 2^62", least, most)
	}
	g := &Growing{first: sizeIndex(least)}
	for i := g.first; i <= sizeIndex(most); i++ {
		law, err := NewZipf(sizeAt(i), theta)
		if err != nil {
			return nil, err
		}
		g.laws = append(g.laws, law)
	}
	return g, nil
}

// Law returns the law that draws for n ranks are taken from, over n items or a
// few more: what Sample does is Law(n).SampleBelow(src, n).
func (g *Growing) Law(n uint64) *Zipf { return g.laws[sizeIndex(n)-g.first] }

// Sample draws a rank below n from the zipfian law over n ranks. n must be in
// the range that the law was made for.
func (g *Growing) Sample(src *random.Source, n uint64) uint64 {
	return g.Law(n).SampleBelow(src, n)
}

// sizeIndex returns the index of the least size >= n, n >= 1: the sizes less 1
// are 0..3, then 4·2^e..7·2^e with their low e bits set.
func sizeIndex(n uint64) uint64 {
	shift := uint64(max(bits.Len64(n-1), 3)) - 3
	return (n-1)>>shift + shift<<2
}

// sizeAt returns the size of an index.
func sizeAt(i uint64) uint64 {
	shift := max(i>>2, 1) - 1
	return (i - shift<<2 + 1) << shift
}
