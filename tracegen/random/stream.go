package random

import (
	"crypto/sha256"
	"encoding/binary"

	"pianola/traces/payload"
)

// Version names the algorithm of streams and sources, as trace headers hold it.
const Version = "splitmix64/1"

const golden = 0x9E3779B97F4A7C15

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
func (s Stream) At(i uint64) Source {
	return Source{payload.Mix(s.key + (i+1)*golden)}
}
