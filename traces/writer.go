package traces

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Writer writes a trace to a stream, block by block. It needs no seeking, so
// the stream may be a pipe. Nothing is a trace before Close has returned nil.
type Writer struct {
	w      io.Writer
	header *Header
	sight  *sight
	tally  *tally
	footer footer
	frames []frameSize
	offset int64
	// For WriteBlock.
	encoder *Encoder
	encoded EncodedBlock
	// seen is what the last block's ops see.
	seen []uint32
	err  error
}

// NewWriter writes the header of a trace to w. The header must not change
// afterwards.
func NewWriter(w io.Writer, h *Header) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("write trace header: %w", err)
	}
	out := &Writer{w: w, header: h, sight: newSight(h), tally: newTally(h)}
	out.encoder = out.NewEncoder()
	field, err := encodeHeader(h)
	if err != nil {
		return nil, fmt.Errorf("encode trace header: %w", err)
	}
	if len(field) > headerBytesMax {
		return nil, fmt.Errorf("write trace header: %d bytes, more than %d", len(field), headerBytesMax)
	}
	frame, err := out.writeField(field)
	out.footer.headerCRC = crc32c(frame)
	return out, err
}

// writeField compresses one field of the trace into a frame of its own and
// writes it.
func (w *Writer) writeField(field []byte) (frame []byte, err error) {
	if frame, err = w.encoder.frames.encode(field, nil); err != nil {
		return nil, fmt.Errorf("compress trace: %w", err)
	}
	w.frames = append(w.frames, frameSize{uint32(len(frame)), uint32(len(field))})
	return frame, w.write(frame)
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.offset += int64(n)
	if err != nil {
		w.err = fmt.Errorf("write trace: %w", err)
	}
	return w.err
}

// WriteBlock appends a block. Blocks come in the order of First, without gaps,
// however they are cut; it sets b.PhaseFirst. After an error every further call
// fails.
func (w *Writer) WriteBlock(b *Block) error {
	if w.err != nil {
		return w.err
	}
	counts, constant, err := checkBlock(b, w.header)
	if err != nil {
		return w.refuse(b, err)
	}
	stated := b.PhaseFirst
	if w.seen, err = w.sight.take(b, &counts, w.seen); err != nil {
		return w.refuse(b, err)
	}
	if b.PhaseFirst != stated {
		constant = isConstant(b, w.header)
	}
	w.encoded.counts, w.encoded.constant = counts, constant
	if w.err = w.encoder.encode(b, w.seen, &w.encoded, false); w.err != nil {
		return w.err
	}
	if _, err := w.tally.add(b, &counts, nil); err != nil {
		return w.refuse(b, err)
	}
	return w.writeFrame(&w.encoded)
}

func (w *Writer) refuse(b *Block, err error) error {
	w.err = fmt.Errorf("write trace: block from op %d on: %w", b.First, err)
	return w.err
}

// Append appends a block that an Encoder made, as WriteBlock does.
func (w *Writer) Append(e *EncodedBlock) error {
	if w.err != nil {
		return w.err
	}
	b, phaseFirst := &e.block, e.block.PhaseFirst
	seen, err := w.sight.take(b, &e.counts, w.seen)
	if err != nil {
		return w.refuse(b, err)
	}
	w.seen = seen
	if b.PhaseFirst != phaseFirst {
		return w.refuse(b, broken(invBlockOrder, "op %d of the phase, where op %d is due", phaseFirst, b.PhaseFirst))
	}
	if len(seen) > 0 && !sameSeen(seen, b.Seen) {
		return w.refuse(b, broken(invKeys, "encoded for other visible records than there are"))
	}
	hash := e.hash
	if b.PhaseFirst%BlockOps != 0 {
		hash = nil
	}
	free, err := w.tally.add(b, &e.counts, hash)
	if err != nil {
		return w.refuse(b, err)
	}
	if free != nil {
		e.hash = free
	}
	return w.writeFrame(e)
}

// sameSeen compares two columns of visible records; an empty one is all zeros.
func sameSeen(want, got []uint32) bool {
	if len(got) > 0 {
		return slices.Equal(want, got)
	}
	return want[len(want)-1] == 0
}

func (w *Writer) writeFrame(e *EncodedBlock) error {
	if len(w.frames) > framesMax-3 {
		w.err = fmt.Errorf("write trace: more than %d blocks", framesMax-3)
		return w.err
	}
	w.footer.blocks = append(w.footer.blocks, blockEntry{
		offset: w.offset, blockStart: startOf(&e.block), size: uint32(len(e.frame)), crc: crc32c(e.frame),
	})
	w.frames = append(w.frames, frameSize{uint32(len(e.frame)), uint32(e.bytes)})
	return w.write(e.frame)
}

// Offset returns the number of bytes written so far.
func (w *Writer) Offset() int64 { return w.offset }

// Close writes the footer and returns the totals. It does not close the stream.
func (w *Writer) Close() (*Totals, error) {
	if w.err != nil {
		return nil, w.err
	}
	w.footer.totals = w.tally.finish()
	if err := w.footer.check(w.header); err != nil {
		w.err = fmt.Errorf("write trace: %w", err)
		return nil, w.err
	}
	field, err := encodeFooter(&w.footer)
	if err != nil {
		return nil, fmt.Errorf("encode trace footer: %w", err)
	}
	if limit := footerBytesMax(len(w.frames)+2, len(w.header.Phases)); uint64(len(field)) > limit {
		return nil, fmt.Errorf("write trace footer: %d bytes, more than %d", len(field), limit)
	}
	frame, err := w.writeField(field)
	if err != nil {
		return nil, err
	}
	tail := appendChecksumFrame(nil, frame)
	w.frames = append(w.frames, frameSize{uint32(checksumFrameBytes), 0})
	if err := w.write(appendSeekTable(tail, w.frames)); err != nil {
		return nil, err
	}
	w.err = errors.New("write trace: closed")
	return &w.footer.totals, nil
}
