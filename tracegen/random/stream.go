package random

import (
	"crypto/sha256"
	"encoding/binary"

	"pianola/traces/payload"
)

// Version names the algorithm of streams and sources, as trace headers hold it.
const Version = "splitmix64/2"

const (
	// golden is SplitMix64's step: the odd number nearest to 2^64 over the golden
	// ratio. Draws of one index are so far apart.
	golden      = 0x9E3779B97F4A7C15
	goldenTwice = 2*golden - 1<<64
	// stride is how far apart indexes are, an odd number without a pattern. Of
	// indexes below 2^43 no two share one of their first 2^20 draws.
	stride = 0xA0761D6478BD642F
)

// Stream is a family of sequences of draws, one for each index. It is a small
// value, safe to copy and to use from several goroutines.
type Stream struct{ key uint64 }

// NewStream returns the stream of the given seed and names, for instance
// NewStream(seed, "run", "keys"). Streams that differ in the seed, in a name,
// in the number of names or in their order are unrelated.
func NewStream(seed uint64, names ...string) Stream {
	text := append([]byte(Version), 0)
	text = binary.LittleEndian.AppendUint64(text, seed)
	for _, name := range names {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(name)))
		text = append(text, name...)
	}
	sum := sha256.Sum256(text)
	return Stream{binary.LittleEndian.Uint64(sum[:])}
}

// At returns the source of index i, at its first draw. It takes the same time
// for every i.
func (s Stream) At(i uint64) Source { return Source{s.key + i*stride} }

// Word returns the first draw of index i.
func (s Stream) Word(i uint64) uint64 { return payload.Mix(s.key + i*stride + golden) }

// Second returns the second draw of index i.
func (s Stream) Second(i uint64) uint64 { return payload.Mix(s.key + i*stride + goldenTwice) }

// Behind returns the source of index i at draw number drawn.
func (s Stream) Behind(i, drawn uint64) Source { return Source{s.key + i*stride + drawn*golden} }
