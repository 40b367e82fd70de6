package traces

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
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
		done, n := h.putTogether(&ops, paced)
		if done > 0 {
			// The others are fewer than eight, or there is a scan or something long.
		} else if gap := h.evenGap(ops.due, paced); gap < spreadLimit && len(b.Read) == 0 {
			done, n = h.putEven(&ops, gap, paced)
		}
		if done < len(ops.kinds) {
			n = h.put(&ops, done, n, paced)
		}
		h.sha.Write(h.buf[:n])
		h.ops += len(ops.kinds)
	}
}

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
