package traces

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Writer writes a trace to a stream, block by block. It needs no seeking, so
// the stream may be a pipe. Nothing is a trace before Close has returned nil.
type Writer struct {
	w      io.Writer
	header *Header
	tally  *tally
	footer footer
	frames []frameSize
	offset int64
	codec  blockCodec
	z      *zstd.Encoder
	frame  []byte
	err    error
}

// NewWriter writes the header of a trace to w. The header must not change
// afterwards.
func NewWriter(w io.Writer, h *Header) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("write trace header: %w", err)
	}
	out := &Writer{w: w, header: h, tally: newTally(h), z: newEncoder()}
	field, err := encodeHeader(h)
	if err != nil {
		return nil, fmt.Errorf("encode trace header: %w", err)
	}
	if len(field) > headerBytesMax {
		return nil, fmt.Errorf("write trace header: %d bytes, more than %d", len(field), headerBytesMax)
	}
	if err := out.writeFrame(field); err != nil {
		return nil, err
	}
	out.footer.headerCRC = crc32c(out.frame)
	return out, nil
}

// writeFrame compresses one field of the trace into a frame of its own and
// writes it; the frame stays in w.frame.
func (w *Writer) writeFrame(field []byte) error {
	w.frame = w.z.EncodeAll(field, w.frame[:0])
	w.frames = append(w.frames, frameSize{uint32(len(w.frame)), uint32(len(field))})
	return w.write(w.frame)
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.offset += int64(n)
	if err != nil {
		w.err = fmt.Errorf("write trace: %w", err)
	}
	return w.err
}

// WriteBlock appends a block. Blocks come in the order of First, without gaps;
// it sets b.PhaseFirst. After an error every further call fails.
func (w *Writer) WriteBlock(b *Block) error {
	if w.err != nil {
		return w.err
	}
	if len(w.frames) > framesMax-3 {
		w.err = fmt.Errorf("write trace: more than %d blocks", framesMax-3)
		return w.err
	}
	if err := checkBlock(b, w.header); err != nil {
		w.err = fmt.Errorf("write trace: block from op %d on: %w", b.First, err)
		return w.err
	}
	if err := w.tally.add(b); err != nil {
		w.err = fmt.Errorf("write trace: %w", err)
		return w.err
	}
	entry := blockEntry{offset: w.offset, blockStart: startOf(b)}
	if err := w.writeFrame(w.codec.encode(b, len(b.Due) > 0)); err != nil {
		return err
	}
	entry.size, entry.crc = uint32(len(w.frame)), crc32c(w.frame)
	w.footer.blocks = append(w.footer.blocks, entry)
	return nil
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
	if err := w.writeFrame(field); err != nil {
		return nil, err
	}
	tail := appendChecksumFrame(nil, w.frame)
	w.frames = append(w.frames, frameSize{uint32(checksumFrameBytes), 0})
	if err := w.write(appendSeekTable(tail, w.frames)); err != nil {
		return nil, err
	}
	w.err = errors.New("write trace: closed")
	return &w.footer.totals, nil
}
