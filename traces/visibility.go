package traces

import "math/bits"

// visibility counts the inserts of a phase that its operations may read: for
// op i those with an index below i - delay. It keeps a bit for each op that is
// not counted yet.
type visibility struct {
	delay uint64
	// Ops with an index below counted hold visible inserts.
	counted, visible uint64
	// Bit i % 64 of word i / 64 % len(inserts) says whether op i inserts.
	inserts []uint64
}

// newVisibility returns nil for a phase that states no delay.
func newVisibility(delay uint64) *visibility {
	if delay == 0 {
		return nil
	}
	return &visibility{delay: delay, inserts: make([]uint64, (delay+BlockOps)/64+2)}
}

// resume goes on in front of op first, which sees the given number of inserts.
// What the delay reaches back over is added behind it.
func (v *visibility) resume(first, visible uint64) {
	v.counted, v.visible = first-min(first, v.delay), visible
}

// at returns the number of inserts that op i sees. i must not fall.
func (v *visibility) at(i uint64) uint64 {
	for i > v.delay && v.counted < i-v.delay {
		word := v.inserts[v.counted/64%uint64(len(v.inserts))] >> (v.counted % 64)
		n := min(64-v.counted%64, i-v.delay-v.counted)
		v.visible += uint64(bits.OnesCount64(word << (64 - n)))
		v.counted += n
	}
	return v.visible
}

// seen sets out[j] to how many inserts op first+j sees and op first does not.
// It follows at(first) and add(first, …).
func (v *visibility) seen(out []uint32, first uint64) {
	words := uint64(len(v.inserts))
	more := uint32(0)
	for j := range out {
		out[j] = more
		if i := first + uint64(j); i >= v.delay {
			i -= v.delay
			more += uint32(v.inserts[i/64%words] >> (i % 64) & 1)
		}
	}
}

// add takes the kinds of ops first, first+1, … It follows at(first), and the
// ops of the last call.
func (v *visibility) add(first uint64, kinds []Kind) {
	words := uint64(len(v.inserts))
	for w := (first + 63) / 64; w*64 < first+uint64(len(kinds)); w++ {
		v.inserts[w%words] = 0
	}
	for j, k := range kinds {
		if k == Insert {
			i := first + uint64(j)
			v.inserts[i/64%words] |= 1 << (i % 64)
		}
	}
}
