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

// Add adds the ops of b.
func (d *PhaseDigest) Add(b *Block) {
	const flushAt = 1 << 13
	if d.buf == nil {
		d.buf = make([]byte, 0, flushAt+canonicalMax)
	}
	var op Op
	for i := range b.Len() {
		b.Op(i, &op)
		d.buf = d.appendOp(d.buf, &op)
		d.ops++
		if d.ops == BlockOps {
			d.endChunk()
		} else if len(d.buf) >= flushAt {
			d.chunk.Write(d.buf)
			d.buf = d.buf[:0]
		}
	}
	d.count += uint64(b.Len())
}

func (d *PhaseDigest) appendOp(dst []byte, op *Op) []byte {
	dst = append(dst, byte(op.Kind))
	if d.paced {
		dst = binary.AppendUvarint(dst, op.Due-d.prevDue)
		d.prevDue = op.Due
	}
	dst = binary.AppendVarint(dst, int64(op.Key-d.prevKey))
	d.prevKey = op.Key
	if op.Kind == Scan {
		dst = binary.AppendUvarint(dst, uint64(op.ScanLength))
	}
	if op.Kind.Reads() {
		dst = binary.AppendUvarint(dst, uint64(op.Read))
	}
	if op.Kind.Writes() {
		dst = binary.AppendUvarint(dst, uint64(op.Written))
	}
	return dst
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
	all := sha256.New()
	for i := range d.chunks {
		all.Write(d.chunks[i][:])
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
		{"fields.values", valueScheme},
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
