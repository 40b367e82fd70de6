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
	var words [random.Part]uint64
	for at := 0; at < len(column); at += len(words) {
		kinds := b.Kinds[at:min(at+len(words), len(column))]
		f.fillPart(column[at:at+len(kinds)], kinds, words[:len(kinds)], b.PhaseFirst+uint64(at))
	}
	return column
}

// fillPart fills a part of a column, with memory for as many words.
func (f *fieldChoice) fillPart(column []traces.FieldSet, kinds []traces.Kind, words []uint64, first uint64) {
	f.stream.Words(words, first)
	column, kinds = column[:len(words)], kinds[:len(words)] // no bounds to check below
	for j, word := range words {
		high, low := bits.Mul64(word, f.oneOf)
		if low < f.oneOf { // once in 2^48 words at the most
			src := f.stream.At(first + uint64(j))
			high = src.Below(f.oneOf)
		}
		column[j] = traces.OneField(int(high)) & f.masks[kinds[j]]
	}
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
