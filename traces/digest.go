package traces

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/bits"
	"strconv"
	"strings"
)

// PhaseDigest computes the digest of one phase from its blocks in order,
// however they are cut. The bytes that are hashed are those of FORMAT.md,
// "Digest".
type PhaseDigest struct {
	paced bool
	open  *chunkHash
	// unknown says that the open chunk has ops that were not added.
	unknown bool
	chunks  [][sha256.Size]byte
	count   uint64
}

// NewPhaseDigest returns the digest of an empty phase.
func NewPhaseDigest(paced bool) *PhaseDigest {
	return &PhaseDigest{paced: paced, open: newChunkHash()}
}

// Add adds the ops of b.
func (d *PhaseDigest) Add(b *Block) {
	for from := 0; from < b.Len(); {
		to := min(b.Len(), from+BlockOps-d.open.ops)
		d.open.add(b, d.paced, from, to)
		if d.open.ops == BlockOps {
			d.endChunk()
		}
		from = to
	}
	d.count += uint64(b.Len())
}

// join adds a block that begins a chunk and was hashed elsewhere. h belongs to d
// afterwards; the hash that d gives back is free.
func (d *PhaseDigest) join(h *chunkHash) (free *chunkHash) {
	free, d.open = d.open, h
	d.count += uint64(h.ops)
	if h.ops == BlockOps {
		d.endChunk()
	}
	return free
}

// skip passes over ops: the chunks that hold them have no digest.
func (d *PhaseDigest) skip(ops uint64) {
	d.count += ops
	d.chunks = append(d.chunks, make([][sha256.Size]byte, d.count/BlockOps-uint64(len(d.chunks)))...)
	d.open.reset()
	d.open.ops = int(d.count % BlockOps)
	d.unknown = d.open.ops > 0
}

func (d *PhaseDigest) endChunk() {
	sum := [sha256.Size]byte{}
	if !d.unknown {
		sum = d.open.sum()
	}
	d.unknown = false
	d.chunks = append(d.chunks, sum)
	d.open.reset()
}

// chunkHash hashes the ops of one chunk.
type chunkHash struct {
	sha hash.Hash
	// ops so far, and the last one's key and due time.
	ops              int
	prevKey, prevDue uint64
	buf              []byte
}

// canonicalMax is the greatest length of one op's canonical bytes: the kind and
// five varints.
const canonicalMax = 1 + 5*binary.MaxVarintLen64

// gathered is how many ops are written out before they are hashed: few enough
// that columns and bytes stay in the nearest cache.
const gathered = 512

func newChunkHash() *chunkHash {
	return &chunkHash{sha: sha256.New(), buf: make([]byte, max(gathered*canonicalMax+longest, evenMax+longest))}
}

func (h *chunkHash) reset() {
	h.sha.Reset()
	h.ops, h.prevKey, h.prevDue = 0, 0, 0
}

func (h *chunkHash) sum() (sum [sha256.Size]byte) {
	h.sha.Sum(sum[:0])
	return sum
}

// add adds the ops [from, to) of b, which the chunk has room for.
func (h *chunkHash) add(b *Block, paced bool, from, to int) {
	var ops hashedOps
	for ; from < to; from += len(ops.kinds) {
		end := min(to, from+gathered)
		ops.kinds, ops.keys = b.Kinds[from:end], b.Keys[from:end]
		ops.due = noDue[:end-from]
		if paced {
			ops.due = b.Due[from:end]
		}
		ops.scans, ops.read, ops.written = cut(b.ScanLengths, noScans[:], from, end), cut(b.Read, noSets[:], from, end), cut(b.Written, noSets[:], from, end)
		done, n := 0, 0
		if gap := h.evenGap(ops.due, paced); gap < spreadLimit && len(b.Read) == 0 {
			done, n = h.putEven(&ops, gap, paced)
		}
		if done < len(ops.kinds) {
			n = h.put(&ops, done, n, paced)
		}
		h.sha.Write(h.buf[:n])
		h.ops += len(ops.kinds)
	}
}

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

// at returns entry i of a column that may be left out.
func at[T ~uint32](column []T, i int) T {
	if len(column) == 0 {
		return 0
	}
	return column[i]
}

// Count returns the number of ops added.
func (d *PhaseDigest) Count() uint64 { return d.count }

// FullChunks returns the digests of the chunks that are complete so far.
func (d *PhaseDigest) FullChunks() [][sha256.Size]byte { return d.chunks }

// Sum ends the last chunk and returns the phase's digest. Nothing may be added
// after it.
func (d *PhaseDigest) Sum() [sha256.Size]byte {
	if d.open.ops > 0 {
		d.endChunk()
	}
	return sumChunks(d.chunks)
}

// sumChunks returns the digest of a phase with these chunks.
func sumChunks(chunks [][sha256.Size]byte) [sha256.Size]byte {
	all := sha256.New()
	for i := range chunks {
		all.Write(chunks[i][:])
	}
	var sum [sha256.Size]byte
	all.Sum(sum[:0])
	return sum
}

// DigestHeader returns the names and values of the header part of the digest,
// in their order.
func (h *Header) DigestHeader() []Hint {
	names := make([]string, len(h.Phases))
	for i := range h.Phases {
		names[i] = h.Phases[i].Name
	}
	decimal := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return []Hint{
		{"digest", "pianola/1"},
		{"seed", decimal(h.Seed)},
		{"keys.order", h.Keys.Order.String()},
		{"keys.prefix", h.Keys.Prefix},
		{"keys.padding", strconv.Itoa(h.Keys.Padding)},
		{"fields.count", strconv.Itoa(h.Fields.Count)},
		{"fields.prefix", h.Fields.Prefix},
		{"fields.length", h.Fields.Length.String()},
		{"fields.values", h.Fields.Values.String()},
		{"table", h.Table},
		{"phases", strings.Join(names, ",")},
		{"tick", decimal(uint64(h.Tick))},
	}
}

// Digest combines the header part and the phases' counts and digests, in the
// order of h.Phases, into the digest of the trace.
func Digest(h *Header, phases []PhaseTotal) [sha256.Size]byte {
	var buf []byte
	str := func(s string) {
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	for _, item := range h.DigestHeader() {
		str(item.Name)
		str(item.Value)
	}
	for i := range phases {
		str(h.Phases[i].Name)
		buf = binary.AppendUvarint(buf, phases[i].Count())
		buf = append(buf, phases[i].Digest[:]...)
	}
	return sha256.Sum256(buf)
}
