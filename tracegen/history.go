package tracegen

import (
	"math/bits"

	"pianola/traces"
)

// mark is what runs along between the blocks of a phase: the state in front of
// an operation.
type mark struct {
	// due time of the operation before, in ticks; only random gaps count from it.
	due uint64
	// inserts and deletes of the phases behind the load so far, those of earlier
	// phases included.
	inserts, deletes uint64
}

// history remembers which of the last operations of a phase insert, a bit for
// each, as far back as an operation may be blind for them: a block that is
// generated needs those of the blocks before it.
//
// Blocks are recorded by several goroutines. The one of a block hands its mark
// on only when its bits are there, so that whoever holds the mark of a block
// can read those of all blocks before. A slot is used again when no block is
// left that could look back at it; newHistory takes care of that.
type history struct {
	// delay is v: operation i sees the inserts with an index below i - v.
	delay uint64
	// base is the number of inserts of the phases before.
	base  uint64
	slots []pastBlock
}

// pastBlock is one block of a history.
type pastBlock struct {
	// before is the number of inserts of the phase in front of the block.
	before  uint64
	inserts [traces.BlockOps / 64]uint64
}

// newHistory makes a history for blocks of which at most window are being
// generated or unfinished at one time.
func newHistory(delay, base uint64, window int) *history {
	back := (delay+traces.BlockOps-1)/traces.BlockOps + 1
	return &history{delay: delay, base: base, slots: make([]pastBlock, back+uint64(window))}
}

func (h *history) slot(block uint64) *pastBlock { return &h.slots[block%uint64(len(h.slots))] }

// record takes the kinds of a block.
func (h *history) record(block uint64, kinds []traces.Kind) (inserts uint64) {
	s := h.slot(block)
	clear(s.inserts[:])
	for j := 0; j < len(kinds); j += 64 {
		word := uint64(0)
		for i, kind := range kinds[j:min(j+64, len(kinds))] {
			word |= (uint64(kind^traces.Insert) - 1) >> 63 << i
		}
		s.inserts[j/64] = word
		inserts += uint64(bits.OnesCount64(word))
	}
	return inserts
}

// begin sets the number of inserts in front of a recorded block.
func (h *history) begin(block uint64, at mark) { h.slot(block).before = at.inserts - h.base }

// word returns the bits of operations i to i+63, bit 0 that of i. Those from
// operation end on may be anything: their blocks aren't looked at.
func (h *history) word(i, end uint64) uint64 {
	s := h.slot(i / traces.BlockOps)
	at, shift := i%traces.BlockOps/64, i%64
	low := s.inserts[at] >> shift
	if shift == 0 || i|63 >= end-1 {
		return low
	}
	if at++; at == uint64(len(s.inserts)) {
		s, at = h.slot(i/traces.BlockOps+1), 0
	}
	return low | s.inserts[at]<<(64-shift)
}

// visible returns the number of inserts of the phase that operation first sees,
// and sets seen[j] to how many more operation first+j sees. The block of the
// last operation must have begun.
func (h *history) visible(first uint64, seen []uint32) uint64 {
	j, i := uint64(0), uint64(0)
	if first < h.delay {
		j = min(h.delay-first, uint64(len(seen)))
		clear(seen[:j])
	} else {
		i = first - h.delay
	}
	base, end := h.before(i), first+uint64(len(seen))
	more := uint32(0)
	for ; j < uint64(len(seen)); j, i = j+64, i+64 {
		word := h.word(i, end)
		part := seen[j:min(j+64, uint64(len(seen)))]
		for at := range part {
			part[at] = more
			more += uint32(word & 1)
			word >>= 1
		}
	}
	return base
}

// before returns the number of inserts of the phase with an index below i.
func (h *history) before(i uint64) uint64 {
	s := h.slot(i / traces.BlockOps)
	n, at := s.before, i%traces.BlockOps
	for _, word := range s.inserts[:at/64] {
		n += uint64(bits.OnesCount64(word))
	}
	return n + uint64(bits.OnesCount64(s.inserts[at/64]&(1<<(at%64)-1)))
}
