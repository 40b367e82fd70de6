package traces

import (
	"crypto/sha256"
	"math"

	"google.golang.org/protobuf/proto"

	tracev1 "pianola/proto/trace/v1"
)

// footer is the footer of a file as it is used here.
type footer struct {
	headerCRC uint32
	blocks    []blockEntry
	totals    Totals
}

// blockEntry locates a block.
type blockEntry struct {
	offset int64
	size   uint32
	crc    uint32
	blockStart
}

// blockStart is what the footer repeats of a block.
type blockStart struct {
	first uint64
	phase int
	tick  uint64
}

func startOf(b *Block) blockStart {
	s := blockStart{first: b.First, phase: b.Phase}
	if len(b.Due) > 0 {
		s.tick = b.Due[0]
	}
	return s
}

// encodeFooter returns f as the field `footer` of a Trace.
func encodeFooter(f *footer) ([]byte, error) {
	msg := &tracev1.Footer{HeaderCrc32C: f.headerCRC, FirstFreeKey: f.totals.FirstFreeKey, Digest: f.totals.Digest[:]}
	for i := range f.blocks {
		b := &f.blocks[i]
		msg.Blocks = append(msg.Blocks, &tracev1.BlockEntry{
			Offset: uint64(b.offset), Size: b.size, Crc32C: b.crc, FirstOp: b.first, Phase: uint32(b.phase), FirstTick: b.tick,
		})
	}
	for i := range f.totals.Phases {
		p := &f.totals.Phases[i]
		total := &tracev1.PhaseTotal{LastTick: p.LastDue, Digest: p.Digest[:]}
		for k, ops := range p.Ops {
			if ops > 0 {
				total.Kinds = append(total.Kinds, &tracev1.KindTotal{Kind: tracev1.Kind(k), Ops: ops})
			}
		}
		for j := range p.Chunks {
			total.ChunkDigests = append(total.ChunkDigests, p.Chunks[j][:]...)
		}
		msg.Phases = append(msg.Phases, total)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(&tracev1.Trace{Footer: msg})
}

// decodeFooter reads the field `footer` of a Trace with so many blocks and
// checks it.
func decodeFooter(field []byte, h *Header, blocks int) (*footer, error) {
	body, err := unwrap(field, traceFooter)
	if err != nil {
		return nil, err
	}
	if err := checkFooterCounts(body, h, blocks); err != nil {
		return nil, err
	}
	var msg tracev1.Footer
	if err := unmarshal(body, &msg); err != nil {
		return nil, broken(invFooter, "malformed footer: %v", err)
	}
	if len(msg.Digest) != sha256.Size {
		return nil, broken(invFooter, "digest of %d bytes", len(msg.Digest))
	}
	f := &footer{headerCRC: msg.HeaderCrc32C, totals: Totals{FirstFreeKey: msg.FirstFreeKey, Digest: [32]byte(msg.Digest)}}
	for _, b := range msg.Blocks {
		if b.Offset > math.MaxInt64 || b.Phase >= uint32(len(h.Phases)) {
			return nil, broken(invFooter, "block at offset %d of phase %d", b.Offset, b.Phase)
		}
		f.blocks = append(f.blocks, blockEntry{int64(b.Offset), b.Size, b.Crc32C, blockStart{b.FirstOp, int(b.Phase), b.FirstTick}})
	}
	for _, p := range msg.Phases {
		total, err := decodeTotal(p)
		if err != nil {
			return nil, err
		}
		f.totals.Phases = append(f.totals.Phases, total)
	}
	return f, f.check(h)
}

// checkFooterCounts counts what a footer repeats before it is decoded: each
// repeat takes far more memory than its two bytes or more.
func checkFooterCounts(body []byte, h *Header, blocks int) error {
	if n := repeats(body, footerBlocks); n != blocks {
		return broken(invFooter, "footer of %d blocks behind %d", n, blocks)
	}
	if n := repeats(body, footerPhases); n != len(h.Phases) {
		return broken(invFooter, "footer of %d phases; the header has %d", n, len(h.Phases))
	}
	for total := range messages(body, footerPhases) {
		if n := repeats(total, totalKinds); n >= int(KindLimit) {
			return broken(invFooter, "total of %d kinds", n)
		}
	}
	return nil
}

func decodeTotal(p *tracev1.PhaseTotal) (PhaseTotal, error) {
	total := PhaseTotal{LastDue: p.LastTick}
	last := tracev1.Kind_KIND_UNSPECIFIED
	for _, k := range p.Kinds {
		if k.Kind <= last || k.Kind >= tracev1.Kind(KindLimit) || k.Ops == 0 || k.Ops > framesMax*BlockOps {
			return total, broken(invFooter, "total of %d ops of kind %d behind kind %d", k.Ops, k.Kind, last)
		}
		last = k.Kind
		total.Ops[k.Kind] = k.Ops
	}
	count := total.Count()
	if len(p.Digest) != sha256.Size || uint64(len(p.ChunkDigests)) != (count+BlockOps-1)/BlockOps*sha256.Size {
		return total, broken(invFooter, "digests of %d and %d bytes for %d ops", len(p.Digest), len(p.ChunkDigests), count)
	}
	total.Digest = [32]byte(p.Digest)
	for c := p.ChunkDigests; len(c) > 0; c = c[sha256.Size:] {
		total.Chunks = append(total.Chunks, [32]byte(c))
	}
	return total, nil
}

// check holds the footer against the header and against itself, so that what
// it says of a file can be used before the blocks are read.
func (f *footer) check(h *Header) error {
	next, blocks := uint64(0), f.blocks
	for i := range h.Phases {
		n := 0
		for n < len(blocks) && blocks[n].phase == i {
			n++
		}
		end := next + f.totals.Phases[i].Count()
		if err := checkStarts(blocks[:n], next, end); err != nil {
			return err
		}
		next, blocks = end, blocks[n:]
	}
	if len(blocks) > 0 {
		return broken(invTotals, "footer lists a block of phase %d behind a later phase", blocks[0].phase)
	}
	return f.checkTotals(h)
}

// checkPlaces compares what the footer says of the frames of header and blocks,
// the first of frames, with what they are.
func (f *footer) checkPlaces(frames []frameSize, headerCRC uint32) error {
	if f.headerCRC != headerCRC {
		return broken(invChecksum, "checksum of the header is %08x, the footer says %08x", headerCRC, f.headerCRC)
	}
	offset := int64(frames[0].compressed)
	for i := range f.blocks {
		e, size := &f.blocks[i], frames[i+1].compressed
		if e.offset != offset || e.size != size {
			return broken(invFooter, "footer places block %d at %d, %d bytes; it is at %d, %d bytes", i, e.offset, e.size, offset, size)
		}
		offset += int64(size)
	}
	return nil
}

// checkStarts checks that the blocks of one phase hold the ops [next, end).
func checkStarts(blocks []blockEntry, next, end uint64) error {
	for i := range blocks {
		to := end
		if i+1 < len(blocks) {
			to = blocks[i+1].first
		}
		if blocks[i].first != next || to <= next || to-next > BlockOps {
			return broken(invTotals, "footer lists a block with ops %d to %d where op %d is due", blocks[i].first, to, next)
		}
		next = to
	}
	if next != end {
		return broken(invTotals, "footer lists blocks up to op %d, totals up to op %d", next, end)
	}
	return nil
}

func (f *footer) checkTotals(h *Header) error {
	free, loads := h.insertFrom(), h.loads()
	for i := range f.totals.Phases {
		t := &f.totals.Phases[i]
		if i > 0 || !loads {
			free += t.Ops[Insert]
		}
		if digest := sumChunks(t.Chunks); t.Digest != digest {
			return broken(invDigest, "phase %s has chunks of digest %x, the footer says %x", h.Phases[i].Name, digest, t.Digest)
		}
	}
	if loads && f.totals.Phases[0].Ops[Insert] != h.Records {
		return broken(invTotals, "phase %s inserts %d of %d records", LoadPhase, f.totals.Phases[0].Ops[Insert], h.Records)
	}
	if f.totals.FirstFreeKey != free {
		return broken(invTotals, "first free key number is %d, the footer says %d", free, f.totals.FirstFreeKey)
	}
	if digest := Digest(h, f.totals.Phases); f.totals.Digest != digest {
		return broken(invDigest, "digest is %x, the footer says %x", digest, f.totals.Digest)
	}
	return nil
}
