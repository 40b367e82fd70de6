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
	chunk hash.Hash
	// ops of the open chunk, and the previous op's key and due time in it.
	ops              int
	prevKey, prevDue uint64
	chunks           [][sha256.Size]byte
	count            uint64
	buf              []byte
}

// NewPhaseDigest returns the digest of an empty phase.
func NewPhaseDigest(paced bool) *PhaseDigest {
	return &PhaseDigest{paced: paced, chunk: sha256.New()}
}

// canonicalMax is the greatest length of one op's canonical bytes: the kind and
// five varints.
const canonicalMax = 1 + 5*binary.MaxVarintLen64

// flushAt is how many bytes are gathered before they are hashed.
const flushAt = 1 << 13

// Add adds the ops of b.
func (d *PhaseDigest) Add(b *Block) {
	if d.buf == nil {
		d.buf = make([]byte, 0, flushAt+canonicalMax)
	}
	for from := 0; from < b.Len(); {
		to := min(b.Len(), from+BlockOps-d.ops)
		d.addOps(b, from, to)
		if d.ops += to - from; d.ops == BlockOps {
			d.endChunk()
		}
		from = to
	}
	d.count += uint64(b.Len())
}

// addOps adds the ops [from, to) of b to the open chunk.
func (d *PhaseDigest) addOps(b *Block, from, to int) {
	buf, prevKey, prevDue := d.buf, d.prevKey, d.prevDue
	keys := b.Keys[:to]
	for i := from; i < to; i++ {
		k := b.Kinds[i]
		buf = append(buf, byte(k))
		if d.paced {
			buf = binary.AppendUvarint(buf, b.Due[i]-prevDue)
			prevDue = b.Due[i]
		}
		buf = binary.AppendVarint(buf, int64(keys[i]-prevKey))
		prevKey = keys[i]
		if k == Scan {
			buf = binary.AppendUvarint(buf, uint64(at(b.ScanLengths, i)))
		}
		if kindReads[k] {
			buf = binary.AppendUvarint(buf, uint64(at(b.Read, i)))
		}
		if kindWrites[k] {
			buf = binary.AppendUvarint(buf, uint64(at(b.Written, i)))
		}
		if len(buf) >= flushAt {
			d.chunk.Write(buf)
			buf = buf[:0]
		}
	}
	d.buf, d.prevKey, d.prevDue = buf, prevKey, prevDue
}

// at returns entry i of a column that may be left out.
func at[T ~uint32](column []T, i int) T {
	if len(column) == 0 {
		return 0
	}
	return column[i]
}

func (d *PhaseDigest) endChunk() {
	d.chunk.Write(d.buf)
	d.buf = d.buf[:0]
	var sum [sha256.Size]byte
	d.chunk.Sum(sum[:0])
	d.chunks = append(d.chunks, sum)
	d.chunk.Reset()
	d.ops, d.prevKey, d.prevDue = 0, 0, 0
}

// Count returns the number of ops added.
func (d *PhaseDigest) Count() uint64 { return d.count }

// FullChunks returns the digests of the chunks that are complete so far.
func (d *PhaseDigest) FullChunks() [][sha256.Size]byte { return d.chunks }

// Sum ends the last chunk and returns the phase's digest. Nothing may be added
// after it.
func (d *PhaseDigest) Sum() [sha256.Size]byte {
	if d.ops > 0 {
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
