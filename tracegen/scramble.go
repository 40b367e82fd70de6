package tracegen

import (
	"pianola/tracegen/random"
	"pianola/traces/keymap"
)

// newScramble returns the bijection of the numbers below n that the first draws
// of index 0 of the stream choose.
func newScramble(n uint64, stream random.Stream) (*keymap.Scramble, error) {
	var keys [keymap.Rounds]uint64
	src := stream.At(0)
	for i := range keys {
		keys[i] = src.Uint64()
	}
	return keymap.NewScramble(n, keys)
}
