package random

import "pianola/traces/payload"

// Part is how many words to take at a time: those of one step stay in the nearest
// cache until the next.
const Part = 512

// Words sets out[j] to the first draw of index first+j.
func (s Stream) Words(out []uint64, first uint64) { mixed(out, s.key+first*stride+golden) }

// Seconds sets out[j] to the second draw of index first+j.
func (s Stream) Seconds(out []uint64, first uint64) { mixed(out, s.key+first*stride+goldenTwice) }

// mixedOneByOne is what mixed is, on any processor.
func mixedOneByOne(out []uint64, state uint64) {
	for j := range out {
		out[j] = payload.Mix(state)
		state += stride
	}
}
