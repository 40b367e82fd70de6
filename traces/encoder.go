package traces

import "fmt"

// Encoder turns blocks into frames for a Writer. Each is used by one goroutine,
// several at the same time.
type Encoder struct {
	header *Header
	codec  *blockCodec
	frames *frameEncoder
}

// EncodedBlock is a block that is ready to be written. It can be encoded into
// again once it was appended.
type EncodedBlock struct {
	block Block
	frame []byte
	bytes int
	hash  *chunkHash
	// What checkBlock says of the block.
	counts   [KindLimit]int
	constant bool
}

// NewEncoder returns an encoder of the writer's blocks.
func (w *Writer) NewEncoder() *Encoder {
	return &Encoder{header: w.header, codec: newBlockCodec(w.header), frames: newFrameEncoder()}
}

// Encode fills out with a block. The block must be complete, PhaseFirst, Seen
// and all; Append checks what it says of the ops before it. It is not used any
// more once Encode has returned, but for its kinds and due times, which belong
// to out until it was appended.
func (e *Encoder) Encode(b *Block, out *EncodedBlock) error {
	counts, constant, err := checkBlock(b, e.header)
	if err != nil {
		return fmt.Errorf("write trace: block from op %d on: %w", b.First, err)
	}
	out.counts, out.constant = counts, constant
	return e.encode(b, b.Seen, out, b.PhaseFirst%BlockOps == 0)
}

// encode fills out, all but what checkBlock says, with a checked block; chunk says
// that it begins one, and is to be hashed.
func (e *Encoder) encode(b *Block, seen []uint32, out *EncodedBlock, chunk bool) error {
	field, cuts, err := e.codec.encode(b, &out.counts, out.constant, seen)
	if err != nil {
		return fmt.Errorf("write trace: block from op %d on: %w", b.First, err)
	}
	frame, err := e.frames.encode(field, cuts)
	if err != nil {
		return fmt.Errorf("compress block of trace: %w", err)
	}
	out.frame, out.bytes = append(out.frame[:0], frame...), len(field)
	out.block = *b
	if !chunk {
		return nil
	}
	if out.hash == nil {
		out.hash = newChunkHash()
	}
	out.hash.reset()
	out.hash.add(b, e.header.Phases[b.Phase].Paced, 0, b.Len())
	return nil
}
