package traces

import "golang.org/x/sys/cpu"

// has512 says that the processor has what put512 takes: words of seven bits out of
// eight numbers at a time, and bytes that close up.
var has512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512CD &&
	cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VBMI2

// setBytes has, for kinds below 8, the bytes of the sets that its ops have: the
// one read in the last but one, the one written in the last.
var setBytes = func() (table [8]uint64) {
	for k := range KindLimit {
		if k.Reads() {
			table[k] |= 0xFF << 48
		}
		if k.Writes() {
			table[k] |= 0xFF << 56
		}
	}
	return table
}()

// put512 writes the canonical bytes of up to n ops, a multiple of 8, eight at a
// time, and up to 64 bytes behind them. It stops before eight with a scan, a
// kind beyond 7, a gap of 2^49 ticks and more, a zigzag of 2^42 and more or a set of
// 0x80 and more. heads has a bit for each byte of a word that may be used for
// kind and gap, sets is setBytes. It returns how many ops and bytes it has written.
//
//go:noescape
func put512(out *byte, kinds *Kind, keys, due *uint64, read, written *FieldSet, n int, prevKey, prevDue, heads uint64, sets *[8]uint64) (done, size int)

// putTogether is put for as many of the first ops as the processor does together,
// and returns how many ops and bytes those are.
func (h *chunkHash) putTogether(ops *hashedOps, paced bool) (done, size int) {
	n := len(ops.kinds) &^ 7
	if n == 0 || !has512 {
		return 0, 0
	}
	heads := uint64(0xFF)
	if paced {
		heads = 1<<64 - 1
	}
	done, size = put512(&h.buf[0], &ops.kinds[0], &ops.keys[0], &ops.due[0], &ops.read[0], &ops.written[0], n, h.prevKey, h.prevDue, heads, &setBytes)
	if done > 0 {
		h.prevKey, h.prevDue = ops.keys[done-1], ops.due[done-1]
	}
	return done, size
}
