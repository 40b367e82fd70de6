package traces

import (
	"encoding/binary"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of trace.v1.Block, in the order they are written.
const (
	fieldFirstOp        = 1
	fieldPhase          = 2
	fieldCount          = 3
	fieldStartTick      = 4
	fieldInsertBase     = 5
	fieldVisibleInserts = 6
	fieldKinds          = 7
	fieldGaps           = 8
	fieldKeyBase        = 9
	fieldKeyWidth       = 10
	fieldKeys           = 11
	fieldScanLengths    = 12
	fieldReadFields     = 13
	fieldWrittenFields  = 14
)

// blockCodec encodes and decodes blocks by hand, byte for byte as generated
// code does; a test holds them against each other. It keeps its buffers.
type blockCodec struct {
	out, column []byte
}

// encode returns b as the field `block` of a Trace, in memory that the next
// call reuses. b must have passed checkBlock.
func (c *blockCodec) encode(b *Block, paced bool) []byte {
	out := c.out[:0]
	number := func(field protowire.Number, v uint64) {
		if v != 0 {
			out = protowire.AppendTag(out, field, protowire.VarintType)
			out = protowire.AppendVarint(out, v)
		}
	}
	column := func(field protowire.Number) {
		if len(c.column) > 0 {
			out = protowire.AppendTag(out, field, protowire.BytesType)
			out = protowire.AppendBytes(out, c.column)
		}
		c.column = c.column[:0]
	}
	number(fieldFirstOp, b.First)
	number(fieldPhase, uint64(b.Phase))
	number(fieldCount, uint64(b.Len()))
	if paced {
		number(fieldStartTick, b.Due[0])
	}
	number(fieldInsertBase, b.InsertBase)
	number(fieldVisibleInserts, b.VisibleInserts)
	c.column = c.column[:0]
	for _, k := range b.Kinds {
		c.column = append(c.column, byte(k))
	}
	column(fieldKinds)
	if paced {
		c.column = appendGaps(c.column, b.Due)
		column(fieldGaps)
	}
	base, width := c.encodeKeys(b)
	number(fieldKeyBase, base)
	number(fieldKeyWidth, uint64(width))
	column(fieldKeys)
	c.column = appendEntries(c.column, b.Kinds, &kindScans, b.ScanLengths)
	column(fieldScanLengths)
	c.column = appendEntries(c.column, b.Kinds, &kindReads, b.Read)
	column(fieldReadFields)
	c.column = appendEntries(c.column, b.Kinds, &kindWrites, b.Written)
	column(fieldWrittenFields)
	c.out = out
	// The length comes before the bytes: wrap them once it is known.
	c.column = protowire.AppendTag(c.column[:0], traceBlock, protowire.BytesType)
	c.column = protowire.AppendBytes(c.column, out)
	return c.column
}

// appendGaps appends the ticks between each op and the one before.
func appendGaps(dst []byte, due []uint64) []byte {
	last := due[0]
	for _, tick := range due[1:] {
		dst = binary.AppendUvarint(dst, tick-last)
		last = tick
	}
	return dst
}

// appendEntries appends an entry for each op of a kind that has one; without
// values they are zeros.
func appendEntries[T ~uint32](dst []byte, kinds []Kind, has *[256]bool, values []T) []byte {
	if len(values) == 0 {
		for _, k := range kinds {
			if has[k] {
				dst = append(dst, 0)
			}
		}
		return dst
	}
	values = values[:len(kinds)]
	for i, k := range kinds {
		if has[k] {
			dst = binary.AppendUvarint(dst, uint64(values[i]))
		}
	}
	return dst
}

// keyWidth returns the number of bytes that offsets up to span take.
func keyWidth(span uint64) uint64 { return uint64(bits.Len64(span)+7) / 8 }

// encodeKeys fills the column with the key numbers of all ops but inserts.
func (c *blockCodec) encodeKeys(b *Block) (base uint64, width int) {
	least, greatest := ^uint64(0), uint64(0)
	for i, k := range b.Kinds {
		if k != Insert {
			least, greatest = min(least, b.Keys[i]), max(greatest, b.Keys[i])
		}
	}
	if least > greatest {
		return 0, 0
	}
	width = int(keyWidth(greatest - least))
	column := c.column
	for i, k := range b.Kinds {
		if k != Insert {
			// Eight bytes are stored, width of them count.
			at := len(column) + width
			column = binary.LittleEndian.AppendUint64(column, b.Keys[i]-least)[:at]
		}
	}
	c.column = column
	return least, width
}
