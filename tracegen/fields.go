package tracegen

import (
	"math/bits"

	"pianola/tracegen/random"
	"pianola/traces"
)

// fieldChoice chooses the one field that operations of some kinds read or
// write, or nothing if they read or write all.
type fieldChoice struct {
	// oneOf is the number of fields to choose from, 0 for all at once.
	oneOf uint64
	// masks has all bits set for the kinds that choose.
	masks  [traces.KindLimit]traces.FieldSet
	stream random.Stream
}

// fill returns column with the field sets of a block; empty means all fields
// everywhere.
func (f *fieldChoice) fill(column []traces.FieldSet, b *traces.Block) []traces.FieldSet {
	if f.oneOf == 0 {
		return column[:0]
	}
	column = extend(column, b.Len())
	for j, kind := range b.Kinds {
		high, low := bits.Mul64(f.stream.Word(b.PhaseFirst+uint64(j)), f.oneOf)
		if low < f.oneOf { // once in 2^48 words at the most
			src := f.stream.At(b.PhaseFirst + uint64(j))
			high = src.Below(f.oneOf)
		}
		column[j] = traces.OneField(int(high)) & f.masks[kind]
	}
	return column
}

// scanLengths chooses how many records a scan asks for. Without scans in the
// mix its law is nil.
type scanLengths struct {
	least  uint32
	law    scanLaw
	stream random.Stream
}

// scanLaw draws by how much a scan is longer than the shortest.
type scanLaw interface {
	Fill(out []uint64, stream random.Stream, first uint64)
}

// fill sets the lengths of a block's scans; draws is memory to use.
func (l *scanLengths) fill(b *traces.Block, draws []uint64) []uint64 {
	if l.law == nil {
		return draws
	}
	draws = extend(draws, b.Len())
	l.law.Fill(draws, l.stream, b.PhaseFirst)
	b.ScanLengths = extend(b.ScanLengths, b.Len())
	var masks [traces.KindLimit]uint32
	masks[traces.Scan] = 1<<32 - 1
	for j, kind := range b.Kinds {
		b.ScanLengths[j] = (l.least + uint32(draws[j])) & masks[kind]
	}
	return draws
}
