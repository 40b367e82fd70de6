package traces

import (
	"encoding/binary"
	"math/bits"
)

// hashedOps are the columns of up to gathered ops, none of them left out.
type hashedOps struct {
	kinds         []Kind
	keys, due     []uint64
	scans         []uint32
	read, written []FieldSet
}

// What stands for a column that is left out.
var (
	noDue   [gathered]uint64
	noScans [gathered]uint32
	noSets  [gathered]FieldSet
)

// cut returns the entries [from, to) of a column, or as many zeros.
func cut[T any](column, zeros []T, from, to int) []T {
	if len(column) == 0 {
		return zeros[:to-from]
	}
	return column[from:to]
}

// evenGap returns the gap in front of each op, or one that is no short one if
// they differ.
func (h *chunkHash) evenGap(due []uint64, paced bool) uint64 {
	if !paced {
		return 0
	}
	last, gap, other := h.prevDue, due[0]-h.prevDue, uint64(0)
	if due[len(due)-1]-last != gap*uint64(len(due)) {
		return spreadLimit
	}
	for _, tick := range due {
		other |= tick - last ^ gap
		last = tick
	}
	if other != 0 {
		return spreadLimit
	}
	return gap
}

// evenMax is more than putEven writes.
const evenMax = 1 << 14

// putEven is put for ops with one short gap in front of each, of which none has
// a set of fields read but all of them. It stops at the first with a long part
// or with more parts, and returns how many ops and bytes it has put.
func (h *chunkHash) putEven(ops *hashedOps, gap uint64, paced bool) (done, n int) {
	kinds, buf := ops.kinds, (*[evenMax + longest]byte)(h.buf)
	keys, written := ops.keys[:len(kinds)], ops.written[:len(kinds)]
	head, headLength := uint64(0), 1
	if paced {
		word, length := spread(gap)
		head, headLength = word<<8, length+1
	}
	prevKey := h.prevKey
	for done < len(kinds) {
		k, key := kinds[done], keys[done]
		delta := key - prevKey
		zigzag := delta<<1 ^ uint64(int64(delta)>>63)
		w := uint64(written[done])
		if zigzag >= spreadLimit || w >= 0x80 || k == Scan {
			break
		}
		prevKey = key
		done++
		word, length := spread(zigzag)
		t := &tails[k]
		part := buf[n&(evenMax-1):][:longest]
		binary.LittleEndian.PutUint64(part, uint64(k)|head)
		binary.LittleEndian.PutUint64(part[headLength&7:], word|w<<((8*uint(length)+t.shift)&63))
		n += headLength + length + t.length
	}
	h.prevKey = prevKey
	if done > 0 && paced {
		h.prevDue = ops.due[done-1]
	}
	return done, n
}

// put writes the canonical bytes of the ops from the given one on behind n bytes,
// and returns how many bytes there are then. Which parts an op has and how long
// they are can't be foretold, so in the usual case there is no branch for it: two
// words are written, and count for as many bytes as they have. The gap alone is
// taken for that of the op before until it is not.
func (h *chunkHash) put(ops *hashedOps, from, n int, paced bool) int {
	kinds, buf := ops.kinds[from:], h.buf
	count := len(kinds)
	keys, due, scans := ops.keys[from:][:count], ops.due[from:][:count], ops.scans[from:][:count]
	read, written := ops.read[from:][:count], ops.written[from:][:count]
	prevKey, prevDue := h.prevKey, h.prevDue
	gap, head, headLength := uint64(0), uint64(0), 1
	if paced {
		headLength = 2
	}
	for i, k := range kinds {
		key, tick := keys[i], due[i]
		delta := key - prevKey
		zigzag := delta<<1 ^ uint64(int64(delta)>>63)
		prevKey = key
		if tick-prevDue != gap {
			gap = tick - prevDue
			word, length := spread(gap & (spreadLimit - 1))
			head, headLength = word<<8, length+1
		}
		prevDue = tick
		r, w := uint64(read[i]), uint64(written[i])
		if gap|zigzag >= spreadLimit || r|w >= 0x80 || k == Scan && scans[i] >= shortScan {
			n = putLong(buf[:n], k, paced, gap, zigzag, uint64(scans[i]), r, w)
			continue
		}
		word, length := spread(zigzag)
		part := buf[n : n+longest]
		binary.LittleEndian.PutUint64(part, uint64(k)|head)
		n += headLength + length
		if k == Scan {
			records, more := spread(uint64(scans[i]))
			word |= (records | r<<(8*uint(more)&63)) << (8 * uint(length) & 63)
			binary.LittleEndian.PutUint64(part[headLength&7:], word)
			n += more + 1
			continue
		}
		// What is read stands before what is written; an op that doesn't read, or
		// doesn't write, has 0 there.
		t := &tails[k]
		word |= (r | w<<(t.shift&63)) << (8 * uint(length) & 63)
		binary.LittleEndian.PutUint64(part[headLength&7:], word)
		n += t.length
	}
	h.prevKey, h.prevDue = prevKey, prevDue
	return n
}

// shortScan bounds the lengths of scans that take two bytes at most.
const shortScan = 1 << 14

// longest is room for the two words of an op.
const longest = 16

// tails says how many bytes the field sets of an op of each kind take if they
// are below 0x80, and where that of the fields written is.
var tails = [256]struct {
	shift  uint
	length int
}{
	Read: {0, 1}, Update: {0, 1}, Insert: {0, 1}, ReadModifyWrite: {8, 2},
}

// putLong appends the canonical bytes of an op with a long part, or of a kind
// with a third one, and returns the length.
func putLong(buf []byte, k Kind, paced bool, gap, zigzag, length, read, written uint64) int {
	buf = append(buf, byte(k))
	if paced {
		buf = binary.AppendUvarint(buf, gap)
	}
	buf = binary.AppendUvarint(buf, zigzag)
	if k == Scan {
		buf = binary.AppendUvarint(buf, length)
	}
	if kindReads[k] {
		buf = binary.AppendUvarint(buf, read)
	}
	if kindWrites[k] {
		buf = binary.AppendUvarint(buf, written)
	}
	return len(buf)
}

// spreadLimit bounds what spread takes.
const spreadLimit = 1 << 28

// spread returns the uvarint of v < spreadLimit, its first byte lowest, and its
// length.
func spread(v uint64) (word uint64, length int) {
	// Whatever is above the seven bits of each byte moves up by one, byte by byte.
	word = v + v&^0x7F
	word += word &^ 0x7FFF
	word += word &^ 0x7F_FFFF
	u := &uvarints[bits.Len32(uint32(v))&31]
	return word | u.more, u.length
}

// uvarints holds, for numbers of so many bits, the length of their uvarints and
// the bits that say of a byte that it isn't the last.
var uvarints = func() (table [32]struct {
	more   uint64
	length int
}) {
	for n := range table {
		table[n].length = max(1, (n+6)/7)
		table[n].more = 0x8080_8080 & (1<<(8*(table[n].length-1)) - 1)
	}
	return table
}()
