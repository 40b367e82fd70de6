package traces

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of trace.v1.Block, in the order they are written.
const (
	fieldFirstOp        = 1
	fieldPhase          = 2
	fieldCount          = 3
	fieldStartTick      = 4
	fieldInsertBase     = 5
	fieldVisibleRecords = 6
	fieldDeletesBefore  = 7
	fieldKindTable      = 8
	fieldKinds          = 9
	fieldConstantGaps   = 10
	fieldGapTokens      = 11
	fieldGapBits        = 12
	fieldKeyTokens      = 13
	fieldKeyBits        = 14
	fieldScanWidth      = 15
	fieldScanLengths    = 16
	fieldReadWidth      = 17
	fieldReadFields     = 18
	fieldWrittenWidth   = 19
	fieldWrittenFields  = 20

	fieldLast = fieldWrittenFields
)

// blockCodec encodes and decodes blocks by hand, byte for byte as generated
// code does; a test holds them against each other. It keeps its buffers.
type blockCodec struct {
	header *Header
	keys   *keyCoder
	out    []byte
	// cuts are the places in out where a column begins or ends: the compressor
	// begins a block of its own there, since columns have little in common.
	cuts                []int
	kinds               kindColumn
	opened              opened
	gaps, codes         codeColumn
	scans, read, writes narrowColumn
	ticks               []uint64
}

func newBlockCodec(h *Header) *blockCodec { return &blockCodec{header: h, keys: newKeyCoder(h)} }

// frontMax is room for what stands before the message of a block: its tag and
// its length.
const frontMax = 1 + 4

// encode returns b as the field `block` of a Trace, and the places where
// columns begin and end, in memory that the next call reuses. b must have
// passed checkBlock; counts are those of its kinds, constant says what isConstant
// does, and seen[j] is how many more records op j sees than the first.
func (c *blockCodec) encode(b *Block, counts *[KindLimit]int, constant bool, seen []uint32) (field []byte, cuts []int, err error) {
	c.kinds.encode(b.Kinds, counts)
	c.keys.use(c.header, b.Phase)
	var codes []uint64
	if len(b.Ranks) > 0 && (c.keys.m.Code == CodeScrambled || c.keys.m.Code == CodeFolded) {
		codes, err = c.keys.encodeRanks(b, counts)
	} else {
		codes, err = c.keys.encode(b, seen)
	}
	if err != nil {
		return nil, nil, err
	}
	c.codes.encode(codes)
	c.gaps.encode(nil)
	if len(b.Due) > 0 && !constant {
		c.gaps.encode(c.gapsOf(b.Due))
	}
	encodeNarrow(&c.scans, b.Kinds, &kindScans, b.ScanLengths)
	encodeNarrow(&c.read, b.Kinds, &kindReads, b.Read)
	encodeNarrow(&c.writes, b.Kinds, &kindWrites, b.Written)
	field, cuts = c.assemble(b, constant)
	return field, cuts, nil
}

// gapsOf returns the ticks between each op and the one before.
func (c *blockCodec) gapsOf(due []uint64) []uint64 {
	gaps := sized(c.ticks, len(due)-1)
	c.ticks = gaps
	last := due[0]
	for i, tick := range due[1:] {
		gaps[i] = tick - last
		last = tick
	}
	return gaps
}

// isConstant reports whether due times are those of the phase's stated rate from
// op b.PhaseFirst on.
func isConstant(b *Block, h *Header) bool {
	s, ok := newSteady(h, b.Phase)
	return ok && s.is(b.Due, b.PhaseFirst)
}

// assemble writes the message.
func (c *blockCodec) assemble(b *Block, constant bool) (field []byte, cuts []int) {
	var front [frontMax]byte
	out := append(c.out[:0], front[:]...)
	cuts = c.cuts[:0]
	number := func(field protowire.Number, v uint64) {
		if v != 0 {
			out = protowire.AppendTag(out, field, protowire.VarintType)
			out = protowire.AppendVarint(out, v)
		}
	}
	column := func(field protowire.Number, b []byte) {
		if len(b) > 0 {
			out = protowire.AppendTag(out, field, protowire.BytesType)
			out = protowire.AppendVarint(out, uint64(len(b)))
			cuts = append(cuts, len(out))
			out = append(out, b...)
			cuts = append(cuts, len(out))
		}
	}
	number(fieldFirstOp, b.First)
	number(fieldPhase, uint64(b.Phase))
	number(fieldCount, uint64(b.Len()))
	if len(b.Due) > 0 {
		number(fieldStartTick, b.Due[0])
	}
	number(fieldInsertBase, b.InsertBase)
	number(fieldVisibleRecords, b.VisibleRecords)
	number(fieldDeletesBefore, b.DeletesBefore)
	out = protowire.AppendTag(out, fieldKindTable, protowire.BytesType)
	out = protowire.AppendBytes(out, c.kinds.table)
	column(fieldKinds, c.kinds.indexes)
	if constant {
		number(fieldConstantGaps, 1)
	}
	column(fieldGapTokens, c.gaps.tokens)
	column(fieldGapBits, c.gaps.open)
	column(fieldKeyTokens, c.codes.tokens)
	column(fieldKeyBits, c.codes.open)
	number(fieldScanWidth, c.scans.width)
	column(fieldScanLengths, c.scans.column)
	number(fieldReadWidth, c.read.width)
	column(fieldReadFields, c.read.column)
	number(fieldWrittenWidth, c.writes.width)
	column(fieldWrittenFields, c.writes.column)
	c.out, c.cuts = out, cuts
	return wrapFront(out, cuts)
}

// wrapFront puts tag and length before a message that has room for them in
// front, and makes cuts count from there.
func wrapFront(out []byte, cuts []int) ([]byte, []int) {
	size := uint64(len(out) - frontMax)
	at := frontMax - protowire.SizeTag(traceBlock) - protowire.SizeVarint(size)
	front := protowire.AppendTag(out[at:at], traceBlock, protowire.BytesType)
	protowire.AppendVarint(front, size)
	for i := range cuts {
		cuts[i] -= at
	}
	return out[at:], cuts
}
