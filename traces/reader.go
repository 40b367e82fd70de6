package traces

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Reader reads a trace block by block. Opened on a file it knows the totals at
// once and can seek; on a pipe it learns and checks them at the end.
//
// Every byte is checked before what it says is used: from a file each frame
// against the footer's checksums, from a pipe the same at the end, where
// NextBlock returns the error instead of io.EOF.
type Reader struct {
	path   string
	header *Header
	// footer is nil until it is known.
	footer *footer
	source source
	tally  *tally
	// starts are those of the blocks read while there is no footer.
	starts []blockStart
	codec  blockCodec
	err    error

	// For Scan.
	block Block
	at    int
	op    Op
}

// source gives the frames of the blocks in order.
type source interface {
	// nextBlock returns the next block's field, or io.EOF once the footer and
	// all behind it was read and checked.
	nextBlock() (field []byte, err error)
	// where says what nextBlock has read, also where that failed.
	where() place
	// end returns the footer: known from the start, or once nextBlock has
	// returned io.EOF, else nil.
	end() *footer
	close() error
}

// place is where something is in a file: the offset of a frame in bytes, and
// the index of its block or -1.
type place struct {
	offset int64
	block  int
}

// Open opens the trace at path; "-" is standard input. A regular file's index
// is read and checked at once, anything else is read as a stream.
func Open(path string) (*Reader, error) {
	if path == "-" {
		return NewReader(os.Stdin, "standard input")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open trace: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open trace: %w", err)
	}
	var r *Reader
	switch {
	case info.IsDir():
		err = fmt.Errorf("open trace: %s is a directory", path)
	case info.Mode().IsRegular():
		r, err = newFileReader(f, info.Size(), path)
	default:
		r, err = newStreamReader(f, f, path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// NewReader reads a trace from a stream; name stands for it in errors.
func NewReader(r io.Reader, name string) (*Reader, error) {
	return newStreamReader(r, nil, name)
}

func newReader(path string, h *Header, s source) *Reader {
	return &Reader{path: path, header: h, footer: s.end(), source: s, tally: newTally(h)}
}

// Header returns the header. It must not be changed.
func (r *Reader) Header() *Header { return r.header }

// Totals returns the footer's totals, or false as long as they are not known:
// for a stream until NextBlock has returned io.EOF.
func (r *Reader) Totals() (*Totals, bool) {
	if r.footer == nil {
		return nil, false
	}
	return &r.footer.totals, true
}

// Path returns the name the trace was opened by.
func (r *Reader) Path() string { return r.path }

// NextBlock fills b with the next block. It returns io.EOF at the end of a
// trace whose every byte, count and digest was checked.
func (r *Reader) NextBlock(b *Block) error {
	if r.err != nil {
		return r.err
	}
	field, err := r.source.nextBlock()
	switch {
	case err == io.EOF:
		if err = r.checkEnd(); err == nil {
			r.err = io.EOF
			return r.err
		}
	case err == nil:
		err = r.take(field, b)
	}
	if err != nil {
		r.err = corrupt(r.path, r.source.where(), err)
	}
	return r.err
}

// take decodes and checks one block.
func (r *Reader) take(field []byte, b *Block) error {
	if err := r.codec.decode(field, r.header, b); err != nil {
		return err
	}
	if err := r.tally.add(b); err != nil {
		return err
	}
	if r.footer == nil {
		r.starts = append(r.starts, startOf(b))
		return nil
	}
	return checkStart(startOf(b), r.footer.blocks[r.source.where().block].blockStart)
}

// checkStart compares a block with what the footer says of it.
func checkStart(got, want blockStart) error {
	if got != want {
		return broken(invTotals, "block with op %d, phase %d, tick %d; the footer says %d, %d, %d",
			got.first, got.phase, got.tick, want.first, want.phase, want.tick)
	}
	return nil
}

// checkEnd compares what was read with the footer.
func (r *Reader) checkEnd() error {
	if r.footer == nil {
		r.footer = r.source.end()
	}
	for i := range r.starts {
		if err := checkStart(r.starts[i], r.footer.blocks[i].blockStart); err != nil {
			return err
		}
	}
	got, want := r.tally.finish(), &r.footer.totals
	for i := range want.Phases {
		if err := checkTotal(&got.Phases[i], &want.Phases[i], r.header.Phases[i].Name); err != nil {
			return err
		}
	}
	if got.FirstFreeKey != want.FirstFreeKey {
		return broken(invTotals, "first free key number is %d, the footer says %d", got.FirstFreeKey, want.FirstFreeKey)
	}
	if got.Digest != want.Digest {
		return broken(invDigest, "digest is %x, the footer says %x", got.Digest, want.Digest)
	}
	return nil
}

func checkTotal(got, want *PhaseTotal, phase string) error {
	if got.Ops != want.Ops || got.LastDue != want.LastDue {
		return broken(invTotals, "phase %s holds %v ops to tick %d, the footer says %v to %d", phase, got.Ops, got.LastDue, want.Ops, want.LastDue)
	}
	for i := range want.Chunks {
		if got.Chunks[i] != want.Chunks[i] {
			return broken(invDigest, "chunk %d of phase %s has digest %x, the footer says %x", i, phase, got.Chunks[i], want.Chunks[i])
		}
	}
	if got.Digest != want.Digest {
		return broken(invDigest, "phase %s has digest %x, the footer says %x", phase, got.Digest, want.Digest)
	}
	return nil
}

// SkipTo makes the next block, and the next op of Scan, the first one of the
// given phase or of a later one, if that is still ahead. Totals of what is left
// out are taken from the footer, everything behind is checked as ever. A stream
// can't be sought in: that is an error.
func (r *Reader) SkipTo(phase int) error {
	if r.err != nil {
		return r.err
	}
	f, ok := r.source.(*fileSource)
	if !ok {
		return fmt.Errorf("skip to phase %d of %s: it is a stream, which is read in order", phase, r.path)
	}
	if phase < 0 || phase >= len(r.header.Phases) {
		return fmt.Errorf("skip to phase %d of %s: it has %d", phase, r.path, len(r.header.Phases))
	}
	if r.at < r.block.Len() && r.block.Phase < phase {
		r.at = r.block.Len()
	}
	next := f.next
	for next < len(r.footer.blocks) && r.footer.blocks[next].phase < phase {
		next++
	}
	if next > f.next {
		f.next = next
		r.tally = newTally(r.header)
		r.tally.skip(phase, r.footer.totals.Phases[:phase])
	}
	return nil
}

// Seekable reports whether SkipTo can seek.
func (r *Reader) Seekable() bool {
	_, ok := r.source.(*fileSource)
	return ok
}

// Scan advances to the next op. It returns false at the end or at an error,
// which Err tells.
func (r *Reader) Scan() bool {
	if r.at == r.block.Len() {
		r.at = 0
		if r.NextBlock(&r.block) != nil {
			r.block.Reset() // it may be half filled
			return false
		}
	}
	r.block.Op(r.at, &r.op)
	r.at++
	return true
}

// Op returns the op that Scan advanced to. It is overwritten by the next Scan.
func (r *Reader) Op() *Op { return &r.op }

// PhaseIndex returns the index of the op that Scan advanced to within its phase.
func (r *Reader) PhaseIndex() uint64 { return r.block.PhaseFirst + uint64(r.at-1) }

// Err returns the error that ended Scan, nil at the end of the trace.
func (r *Reader) Err() error {
	if r.err == io.EOF {
		return nil
	}
	return r.err
}

// Close closes the file that Open opened.
func (r *Reader) Close() error { return r.source.close() }

// notTrace names the error of a first frame: a file that does not even begin as
// a trace is told from one that broke.
func notTrace(path string, frame []byte, err error) error {
	inv := (*invariantError)(nil)
	switch {
	case err == io.EOF:
		return fmt.Errorf("%s: %w: it is empty", path, ErrNotTrace)
	case err == io.ErrUnexpectedEOF && len(frame) < 4:
		return fmt.Errorf("%s: %w: it is % x and no more", path, ErrNotTrace, frame)
	case err == io.ErrUnexpectedEOF:
		err = broken(invFrames, "it ends within the first frame: truncated")
	case errors.As(err, &inv) && inv.number == invFrames:
		return fmt.Errorf("%s: %w: %v; did you mean another file?", path, ErrNotTrace, err)
	}
	return corrupt(path, place{0, -1}, err)
}

// corrupt adds the place to an error about the bytes of a trace. Other errors
// are the medium's.
func corrupt(path string, at place, err error) error {
	inv := (*invariantError)(nil)
	switch {
	case errors.Is(err, ErrVersion):
		return fmt.Errorf("%s: %w", path, err)
	case errors.As(err, &inv):
		return &CorruptError{Path: path, Offset: at.offset, Block: at.block, Invariant: inv.number, Err: err}
	}
	return fmt.Errorf("%s: read at offset %d: %w", path, at.offset, err)
}
