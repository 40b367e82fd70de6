package traces

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

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
		if field <= last || field > fieldWrittenFields || n != protowire.SizeTag(field) {
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
	b.Kinds = sized(b.Kinds, len(kinds))
	for i, k := range kinds {
		if !Kind(k).Valid() {
			return broken(invColumns, "unknown kind %d", k)
		}
		b.Kinds[i] = Kind(k)
	}
	if err := decodeDue(&w, &h.Phases[phase], tickMax(h.Tick), b); err != nil {
		return err
	}
	if err := decodeKeys(&w, b); err != nil {
		return err
	}
	lengths := entries{w.columns[fieldScanLengths], &kindScans, scanLengthMax, invScanLengths}
	if b.ScanLengths, err = decodeEntries(b.ScanLengths, b.Kinds, &lengths); err != nil {
		return err
	}
	fields := uint64(h.Fields.Count)
	read := entries{w.columns[fieldReadFields], &kindReads, fields, invFields}
	if b.Read, err = decodeEntries(b.Read, b.Kinds, &read); err != nil {
		return err
	}
	written := entries{w.columns[fieldWrittenFields], &kindWrites, fields, invFields}
	b.Written, err = decodeEntries(b.Written, b.Kinds, &written)
	return err
}

// sized returns a slice of n entries in the memory of s, if that is enough.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// uvarint reads the uvarint at the start of b, as binary.Uvarint does, with a
// short way for one byte and for two. n is not above 0 if b holds none or a
// longer one than need be.
func uvarint(b []byte) (v uint64, n int) {
	if len(b) >= 2 {
		if b[0] < 0x80 {
			return uint64(b[0]), 1
		}
		if b[1] < 0x80 && b[1] > 0 {
			return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
		}
	}
	v, n = binary.Uvarint(b)
	if n > 1 && b[n-1] == 0 {
		return 0, -n
	}
	return v, n
}

func decodeDue(w *wireBlock, p *Phase, most uint64, b *Block) error {
	gaps, tick := w.columns[fieldGaps], w.numbers[fieldStartTick]
	if !p.Paced {
		if len(gaps) > 0 || tick != 0 {
			return broken(invDue, "due times in phase %s, which is unpaced", p.Name)
		}
		return nil
	}
	if tick > most {
		return broken(invDue, "due time %d; the last possible is %d", tick, most)
	}
	due := sized(b.Due, len(b.Kinds))
	b.Due = due
	due[0] = tick
	for i := range due[1:] {
		gap, n := uvarint(gaps)
		if n <= 0 {
			return broken(invDue, "gap before op %d of the block is missing or malformed", i+1)
		}
		gaps = gaps[n:]
		if gap > most-tick {
			return broken(invDue, "due time %d + %d of op %d of the block; the last possible is %d", tick, gap, i+1, most)
		}
		tick += gap
		due[i+1] = tick
	}
	if len(gaps) > 0 {
		return broken(invDue, "%d bytes behind the last gap", len(gaps))
	}
	return nil
}

func decodeKeys(w *wireBlock, b *Block) error {
	column, base, width := w.columns[fieldKeys], w.numbers[fieldKeyBase], w.numbers[fieldKeyWidth]
	if width > 8 || base > keyMax {
		return broken(invKeys, "keys of %d bytes from %d on", width, base)
	}
	if b.InsertBase > keyMax-BlockOps {
		return broken(invKeys, "first insert has key number %d", b.InsertBase)
	}
	others := uint64(0)
	for _, k := range b.Kinds {
		if k != Insert {
			others++
		}
	}
	if uint64(len(column)) != others*width {
		return broken(invKeys, "%d bytes for %d keys of %d bytes", len(column), others, width)
	}
	least, every := ^uint64(0), uint64(0) // of the offsets; every is or'ed
	insert, keys := b.InsertBase, sized(b.Keys, len(b.Kinds))
	b.Keys = keys
	for i, k := range b.Kinds {
		if k == Insert {
			keys[i] = insert
			insert++
			continue
		}
		offset := littleEndian(column, width)
		column = column[width:]
		if offset > keyMax-base {
			return broken(invKeys, "key number %d + %d is beyond 2^63 - 1", base, offset)
		}
		keys[i] = base + offset
		least, every = min(least, offset), every|offset
	}
	if others == 0 && base == 0 {
		least = 0
	}
	if least != 0 || width != keyWidth(every) {
		return broken(invKeys, "keys of %d bytes from %d on, which is not the least", width, base)
	}
	return nil
}

// littleEndian reads the number in the first width bytes of b, 0 to 8.
func littleEndian(b []byte, width uint64) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b) & (1<<(8*width) - 1)
	}
	var word [8]byte
	copy(word[:], b[:width])
	return binary.LittleEndian.Uint64(word[:])
}

// entries is a column with an entry for each op of some kinds.
type entries struct {
	column    []byte
	has       *[256]bool
	limit     uint64
	invariant int
}

// decodeEntries returns a value for each op, in the memory of dst: the next
// entry of the column if its kind has one, else 0.
func decodeEntries[T ~uint32](dst []T, kinds []Kind, e *entries) ([]T, error) {
	column := e.column
	dst = sized(dst, len(kinds))
	for i, k := range kinds {
		if !e.has[k] {
			dst[i] = 0
			continue
		}
		v, n := uvarint(column)
		if n <= 0 || v > e.limit {
			return dst, broken(e.invariant, "entry %d of a column is missing, malformed or above %d", i, e.limit)
		}
		column = column[n:]
		dst[i] = T(v)
	}
	if len(column) > 0 {
		return dst, broken(invColumns, "%d bytes behind the last entry of a column", len(column))
	}
	return dst, nil
}
