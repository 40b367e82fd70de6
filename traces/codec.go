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

// Field numbers of trace.v1.Trace.
const (
	traceHeader = 1
	traceBlock  = 2
	traceFooter = 3
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
		for i := 1; i < len(b.Due); i++ {
			c.column = binary.AppendUvarint(c.column, b.Due[i]-b.Due[i-1])
		}
		column(fieldGaps)
	}
	base, width := c.encodeKeys(b)
	number(fieldKeyBase, base)
	number(fieldKeyWidth, uint64(width))
	column(fieldKeys)
	var op Op
	for i := range b.Kinds {
		if b.Op(i, &op); op.Kind == Scan {
			c.column = binary.AppendUvarint(c.column, uint64(op.ScanLength))
		}
	}
	column(fieldScanLengths)
	for i := range b.Kinds {
		if b.Op(i, &op); op.Kind.Reads() {
			c.column = binary.AppendUvarint(c.column, uint64(op.Read))
		}
	}
	column(fieldReadFields)
	for i := range b.Kinds {
		if b.Op(i, &op); op.Kind.Writes() {
			c.column = binary.AppendUvarint(c.column, uint64(op.Written))
		}
	}
	column(fieldWrittenFields)
	c.out = out
	// The length comes before the bytes: wrap them once it is known.
	c.column = protowire.AppendTag(c.column[:0], traceBlock, protowire.BytesType)
	c.column = protowire.AppendBytes(c.column, out)
	return c.column
}

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
	width = (bits.Len64(greatest-least) + 7) / 8
	var word [8]byte
	for i, k := range b.Kinds {
		if k != Insert {
			binary.LittleEndian.PutUint64(word[:], b.Keys[i]-least)
			c.column = append(c.column, word[:width]...)
		}
	}
	return least, width
}

// wireBlock is a Block as it is encoded; columns alias the message.
type wireBlock struct {
	numbers [fieldWrittenFields + 1]uint64
	columns [fieldWrittenFields + 1][]byte
}

// isColumn tells the bytes fields of a block from the numbers.
func isColumn(field protowire.Number) bool {
	switch field {
	case fieldKinds, fieldGaps, fieldKeys, fieldScanLengths, fieldReadFields, fieldWrittenFields:
		return true
	}
	return false
}

// parse splits msg into numbers and columns. It takes each field at most once,
// in order, as a Writer puts them.
func (w *wireBlock) parse(msg []byte) error {
	*w = wireBlock{}
	last := protowire.Number(0)
	for len(msg) > 0 {
		field, kind, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return broken(invColumns, "malformed tag in block: %v", protowire.ParseError(n))
		}
		msg = msg[n:]
		if field <= last || field > fieldWrittenFields {
			return broken(invColumns, "unexpected field %d behind field %d in block", field, last)
		}
		last = field
		switch {
		case isColumn(field) && kind == protowire.BytesType:
			w.columns[field], n = protowire.ConsumeBytes(msg)
		case !isColumn(field) && kind == protowire.VarintType:
			w.numbers[field], n = protowire.ConsumeVarint(msg)
		default:
			return broken(invColumns, "field %d of block has wire type %d", field, kind)
		}
		if n < 0 {
			return broken(invColumns, "malformed field %d in block: %v", field, protowire.ParseError(n))
		}
		msg = msg[n:]
	}
	return nil
}

// decode fills b from the bytes of one field `block` of a Trace.
func (c *blockCodec) decode(field []byte, h *Header, b *Block) error {
	msg, err := unwrap(field, traceBlock)
	if err != nil {
		return err
	}
	var w wireBlock
	if err := w.parse(msg); err != nil {
		return err
	}
	count, phase := w.numbers[fieldCount], w.numbers[fieldPhase]
	kinds := w.columns[fieldKinds]
	if count == 0 || count > BlockOps || uint64(len(kinds)) != count {
		return broken(invBlockCount, "block of %d ops with %d kinds; a block has 1 to %d", count, len(kinds), BlockOps)
	}
	if phase >= uint64(len(h.Phases)) {
		return broken(invBlockOrder, "block of phase %d; the header has %d", phase, len(h.Phases))
	}
	b.Reset()
	b.First, b.Phase = w.numbers[fieldFirstOp], int(phase)
	b.InsertBase, b.VisibleInserts = w.numbers[fieldInsertBase], w.numbers[fieldVisibleInserts]
	for _, k := range kinds {
		if !Kind(k).Valid() {
			return broken(invColumns, "unknown kind %d", k)
		}
		b.Kinds = append(b.Kinds, Kind(k))
	}
	if err := decodeDue(&w, h.Phases[phase].Paced, b); err != nil {
		return err
	}
	if err := decodeKeys(&w, b); err != nil {
		return err
	}
	return decodeSets(&w, h, b)
}

// maxTick bounds due times, so that no sum of them wraps.
const maxTick = 1 << 62

func decodeDue(w *wireBlock, paced bool, b *Block) error {
	gaps, tick := w.columns[fieldGaps], w.numbers[fieldStartTick]
	if !paced {
		if len(gaps) > 0 || tick != 0 {
			return broken(invDue, "due times in an unpaced phase")
		}
		return nil
	}
	for i := range b.Kinds {
		if i > 0 {
			gap, n := binary.Uvarint(gaps)
			if n <= 0 || gap > maxTick {
				return broken(invDue, "gap before op %d of the block is missing or malformed", i)
			}
			gaps = gaps[n:]
			tick += gap
		}
		if tick > maxTick {
			return broken(invDue, "due time of op %d of the block is beyond 2^62 ticks", i)
		}
		b.Due = append(b.Due, tick)
	}
	if len(gaps) > 0 {
		return broken(invDue, "%d bytes behind the last gap", len(gaps))
	}
	return nil
}

// maxKey bounds key numbers.
const maxKey = 1<<63 - 1

func decodeKeys(w *wireBlock, b *Block) error {
	column, base, width := w.columns[fieldKeys], w.numbers[fieldKeyBase], w.numbers[fieldKeyWidth]
	if width > 8 || base > maxKey {
		return broken(invKeys, "keys of %d bytes from %d on", width, base)
	}
	inserts := uint64(0)
	for _, k := range b.Kinds {
		if k == Insert {
			inserts++
		}
	}
	if b.InsertBase > maxKey-BlockOps {
		return broken(invKeys, "first insert has key number %d", b.InsertBase)
	}
	others := uint64(b.Len()) - inserts
	if uint64(len(column)) != others*width {
		return broken(invKeys, "%d bytes for %d keys of %d bytes", len(column), others, width)
	}
	insert := b.InsertBase
	var word [8]byte
	for _, k := range b.Kinds {
		if k == Insert {
			b.Keys = append(b.Keys, insert)
			insert++
			continue
		}
		copy(word[:], column[:width])
		column = column[width:]
		offset := binary.LittleEndian.Uint64(word[:])
		if offset > maxKey-base {
			return broken(invKeys, "key number beyond 2^63 - 1")
		}
		b.Keys = append(b.Keys, base+offset)
	}
	return nil
}

// decodeSets reads scan lengths and field sets.
func decodeSets(w *wireBlock, h *Header, b *Block) error {
	take := func(field protowire.Number, limit uint64, invariant int) (uint64, error) {
		v, n := binary.Uvarint(w.columns[field])
		if n <= 0 || v > limit {
			return 0, broken(invariant, "entry of field %d is missing, malformed or above %d", field, limit)
		}
		w.columns[field] = w.columns[field][n:]
		return v, nil
	}
	fields := uint64(h.Fields.Count)
	for _, k := range b.Kinds {
		var length, read, written uint64
		var err error
		if k == Scan {
			if length, err = take(fieldScanLengths, maxScanLength, invScanLengths); err != nil {
				return err
			}
		}
		if k.Reads() {
			if read, err = take(fieldReadFields, fields, invFields); err != nil {
				return err
			}
		}
		if k.Writes() {
			if written, err = take(fieldWrittenFields, fields, invFields); err != nil {
				return err
			}
		}
		b.ScanLengths = append(b.ScanLengths, uint32(length))
		b.Read = append(b.Read, FieldSet(read))
		b.Written = append(b.Written, FieldSet(written))
	}
	for _, field := range []protowire.Number{fieldScanLengths, fieldReadFields, fieldWrittenFields} {
		if n := len(w.columns[field]); n > 0 {
			return broken(invColumns, "%d bytes behind the last entry of field %d", n, field)
		}
	}
	return nil
}

// maxScanLength bounds the length of a scan.
const maxScanLength = 1<<31 - 1

// unwrap returns the bytes of the one length-delimited field that data must be.
func unwrap(data []byte, want protowire.Number) ([]byte, error) {
	field, kind, n := protowire.ConsumeTag(data)
	if n < 0 || kind != protowire.BytesType {
		return nil, broken(invFrames, "frame does not hold one field of a trace")
	}
	msg, m := protowire.ConsumeBytes(data[n:])
	if m < 0 || n+m != len(data) {
		return nil, broken(invFrames, "frame does not hold exactly one field of a trace")
	}
	if field != want {
		return nil, broken(invFrames, "frame holds field %d of a trace where %d is due", field, want)
	}
	return msg, nil
}

// checkBlock checks what a Writer is given: columns of one length and values
// within their limits.
func checkBlock(b *Block, h *Header) error {
	n := b.Len()
	if n == 0 || n > BlockOps {
		return broken(invBlockCount, "block of %d ops; a block has 1 to %d", n, BlockOps)
	}
	if b.Phase < 0 || b.Phase >= len(h.Phases) {
		return broken(invBlockOrder, "block of phase %d; the header has %d", b.Phase, len(h.Phases))
	}
	dues := 0
	if h.Phases[b.Phase].Paced {
		dues = n
	}
	optional := func(got int) bool { return got == 0 || got == n }
	if len(b.Keys) != n || len(b.Due) != dues || !optional(len(b.ScanLengths)) || !optional(len(b.Read)) || !optional(len(b.Written)) {
		return broken(invColumns, "columns of unequal length")
	}
	var op Op
	insert, due := b.InsertBase, uint64(0)
	for i := range n {
		b.Op(i, &op)
		switch {
		case !op.Kind.Valid():
			return broken(invColumns, "unknown kind %d", uint8(op.Kind))
		case op.Kind == Insert && op.Key != insert:
			return broken(invKeys, "insert of key number %d where %d is due", op.Key, insert)
		case op.Key > maxKey:
			return broken(invKeys, "key number %d beyond 2^63 - 1", op.Key)
		case op.Due < due && i > 0 || op.Due > maxTick:
			return broken(invDue, "due time %d behind %d", op.Due, due)
		case op.ScanLength > maxScanLength || op.Kind != Scan && op.ScanLength != 0:
			return broken(invScanLengths, "scan length %d of a %v", op.ScanLength, op.Kind)
		case int(op.Read) > h.Fields.Count || !op.Kind.Reads() && op.Read != 0,
			int(op.Written) > h.Fields.Count || !op.Kind.Writes() && op.Written != 0:
			return broken(invFields, "field sets %d, %d of a %v with %d fields", op.Read, op.Written, op.Kind, h.Fields.Count)
		}
		if op.Kind == Insert {
			insert++
		}
		due = op.Due
	}
	return nil
}
