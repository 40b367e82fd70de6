package traces

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// wireBlock is a Block as it is encoded; columns alias the message.
type wireBlock struct {
	numbers [fieldLast + 1]uint64
	columns [fieldLast + 1][]byte
}

// isColumn tells the bytes fields of a block from the numbers.
func isColumn(field protowire.Number) bool {
	switch field {
	case fieldKindTable, fieldKinds, fieldGapTokens, fieldGapBits, fieldKeyTokens, fieldKeyBits,
		fieldScanLengths, fieldReadFields, fieldWrittenFields:
		return true
	}
	return false
}

// parse splits msg into numbers and columns. It takes each field at most once,
// in order, in its shortest encoding and not if it is zero or empty, as a Writer
// puts them.
func (w *wireBlock) parse(msg []byte) error {
	*w = wireBlock{}
	last := protowire.Number(0)
	for len(msg) > 0 {
		field, kind, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return broken(invColumns, "malformed tag in block: %v", protowire.ParseError(n))
		}
		if field <= last || field > fieldLast || n != protowire.SizeTag(field) {
			return broken(invColumns, "unexpected field %d behind field %d in block", field, last)
		}
		last, msg = field, msg[n:]
		shortest := 0
		switch {
		case isColumn(field) && kind == protowire.BytesType:
			w.columns[field], n = protowire.ConsumeBytes(msg)
			shortest = protowire.SizeBytes(max(1, len(w.columns[field])))
		case !isColumn(field) && kind == protowire.VarintType:
			w.numbers[field], n = protowire.ConsumeVarint(msg)
			shortest = protowire.SizeVarint(w.numbers[field])
			if w.numbers[field] == 0 {
				shortest = 0
			}
		default:
			return broken(invColumns, "field %d of block has wire type %d", field, kind)
		}
		if n < 0 {
			return broken(invColumns, "malformed field %d in block: %v", field, protowire.ParseError(n))
		}
		if n != shortest {
			return broken(invColumns, "field %d of block is zero, empty or longer than it need be", field)
		}
		msg = msg[n:]
	}
	return nil
}

// opened is a block whose kinds are known.
type opened struct {
	w      wireBlock
	kinds  kindColumn
	counts [KindLimit]int
}

// open begins to decode one field `block` of a Trace: all that stands before the
// columns, and the kinds. The rest aliases field. What it returns is overwritten
// by the next call.
func (c *blockCodec) open(field []byte, b *Block) (*opened, error) {
	msg, err := unwrap(field, traceBlock)
	if err != nil {
		return nil, err
	}
	o := &c.opened
	w := &o.w
	if err := w.parse(msg); err != nil {
		return nil, err
	}
	count, phase := w.numbers[fieldCount], w.numbers[fieldPhase]
	if count == 0 || count > BlockOps {
		return nil, broken(invBlockCount, "block of %d ops; a block has 1 to %d", count, BlockOps)
	}
	if phase >= uint64(len(c.header.Phases)) {
		return nil, broken(invBlockOrder, "block of phase %d; the header has %d", phase, len(c.header.Phases))
	}
	b.Reset()
	b.First, b.Phase = w.numbers[fieldFirstOp], int(phase)
	b.InsertBase, b.VisibleRecords, b.DeletesBefore = w.numbers[fieldInsertBase], w.numbers[fieldVisibleRecords], w.numbers[fieldDeletesBefore]
	b.Kinds = sized(b.Kinds, int(count))
	o.kinds.table, o.kinds.indexes = w.columns[fieldKindTable], w.columns[fieldKinds]
	o.counts, err = o.kinds.decode(b.Kinds)
	return o, err
}

// finish decodes the other columns of an opened block. phaseFirst is the index
// over the phase of the first op; seen[j] is how many more records op j sees.
func (c *blockCodec) finish(o *opened, b *Block, phaseFirst uint64, seen []uint32) error {
	w, counts := &o.w, &o.counts
	b.PhaseFirst = phaseFirst
	if err := c.decodeDue(w, b); err != nil {
		return err
	}
	c.keys.use(c.header, b.Phase)
	column := codeColumn{w.columns[fieldKeyTokens], w.columns[fieldKeyBits]}
	if err := c.keys.decode(b, &column, counts, seen); err != nil {
		return err
	}
	fields := uint64(c.header.Fields.Count)
	scans := narrowColumn{width: w.numbers[fieldScanWidth], column: w.columns[fieldScanLengths]}
	read := narrowColumn{width: w.numbers[fieldReadWidth], column: w.columns[fieldReadFields]}
	written := narrowColumn{width: w.numbers[fieldWrittenWidth], column: w.columns[fieldWrittenFields]}
	var err error
	if b.ScanLengths, err = decodeNarrow(b.ScanLengths, &scans, b.Kinds, &kindScans, counts[Scan], scanLengthMax, invScanLengths); err != nil {
		return err
	}
	reads, writes := counts[Read]+counts[Scan]+counts[ReadModifyWrite], counts[Update]+counts[Insert]+counts[ReadModifyWrite]
	if b.Read, err = decodeNarrow(b.Read, &read, b.Kinds, &kindReads, reads, fields, invFields); err != nil {
		return err
	}
	b.Written, err = decodeNarrow(b.Written, &written, b.Kinds, &kindWrites, writes, fields, invFields)
	return err
}

// sized returns a slice of n entries in the memory of s, if that is enough.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

func (c *blockCodec) decodeDue(w *wireBlock, b *Block) error {
	p, most := &c.header.Phases[b.Phase], tickMax(c.header.Tick)
	column := codeColumn{w.columns[fieldGapTokens], w.columns[fieldGapBits]}
	tick, constant := w.numbers[fieldStartTick], w.numbers[fieldConstantGaps]
	if !p.Paced || constant > 0 {
		if err := column.check(0, invDue); err != nil {
			return err
		}
	}
	if !p.Paced {
		if tick != 0 || constant != 0 {
			return broken(invDue, "due times in phase %s, which is unpaced", p.Name)
		}
		return nil
	}
	if tick > most {
		return broken(invDue, "due time %d; the last possible is %d", tick, most)
	}
	b.Due = sized(b.Due, len(b.Kinds))
	if constant > 0 {
		s, ok := newSteady(c.header, b.Phase)
		if !ok || constant != 1 || !s.fill(b.Due, b.PhaseFirst) || b.Due[0] != tick || b.Due[len(b.Due)-1] > most {
			return broken(invDue, "due times of a constant rate, from tick %d on, which the phase's rate does not give", tick)
		}
		return nil
	}
	gaps := b.Due[1:]
	if err := column.check(len(gaps), invDue); err != nil {
		return err
	}
	column.decode(gaps)
	b.Due[0] = tick
	for i, gap := range gaps {
		if gap > most-tick {
			return broken(invDue, "due time %d + %d of op %d of the block; the last possible is %d", tick, gap, i+1, most)
		}
		tick += gap
		gaps[i] = tick
	}
	if s, ok := newSteady(c.header, b.Phase); ok && s.is(b.Due, b.PhaseFirst) {
		return broken(invDue, "gaps of a constant rate, which need not be stored")
	}
	return nil
}
