package random

import (
	"golang.org/x/sys/cpu"
)

// hasWords512 says that the processor multiplies eight 64-bit words at a time.
var hasWords512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ

// words512 sets out[j], j < n, a multiple of 16 above 0, to payload.Mix of
// states[j%8] + j/8 · eight.
//
//go:noescape
func words512(out *uint64, n int, states *[8]uint64, eight uint64)

// mixed sets out[j] to payload.Mix(state + j · stride).
func mixed(out []uint64, state uint64) {
	if n := len(out) &^ 15; n > 0 && hasWords512 {
		var states [8]uint64
		for i := range states {
			states[i] = state + uint64(i)*stride
		}
		words512(&out[0], n, &states, 8*stride&(1<<64-1))
		out, state = out[n:], state+uint64(n)*stride
	}
	mixedOneByOne(out, state)
}
