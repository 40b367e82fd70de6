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
	sight  *sight
	tally  *tally
	// starts are those of the blocks read while there is no footer.
	starts []blockStart
	codec  *blockCodec
	// aheadOf is how many goroutines decode ahead, ahead what they do, once they
	// have begun.
	aheadOf int
	ahead   *ahead
	err     error

	// For Scan.
	block Block
	at    int
	op    Op
	from  position
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
	return &Reader{path: path, header: h, footer: s.end(), source: s, sight: newSight(h), tally: newTally(h), codec: newBlockCodec(h)}
}

// LeaveDigests makes somebody else responsible for the digests of what is read:
// NextBlock neither computes nor compares them. It is called before anything is
// read.
func (r *Reader) LeaveDigests() { r.tally.undigested = true }

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
	where, err := r.next(b)
	if err == io.EOF {
		if err = r.checkEnd(); err == nil {
			r.err = io.EOF
			return r.err
		}
	}
	if err != nil {
		r.err = corrupt(r.path, where, err)
	}
	return r.err
}

// next fills b with the next block and says where it is.
func (r *Reader) next(b *Block) (place, error) {
	if r.aheadOf > 0 && r.ahead == nil {
		if f, ok := r.source.(*fileSource); ok {
			r.ahead = newAhead(r, f)
		}
	}
	if r.ahead != nil {
		return r.ahead.next(r, b)
	}
	field, err := r.source.nextBlock()
	where := r.source.where()
	if err != nil {
		return where, err
	}
	o, err := r.codec.open(field, b)
	if err != nil {
		return where, err
	}
	if b.Seen, err = r.sight.take(b, &o.counts, b.Seen); err != nil {
		return where, err
	}
	if err := r.codec.finish(o, b, b.PhaseFirst, b.Seen); err != nil {
		return where, err
	}
	return where, r.take(b, &o.counts, nil, where)
}

// take checks one decoded block against those before it and against the footer.
func (r *Reader) take(b *Block, counts *[KindLimit]int, hash *chunkHash, where place) error {
	if _, err := r.tally.add(b, counts, hash); err != nil {
		return err
	}
	if r.footer == nil {
		r.starts = append(r.starts, startOf(b))
		return nil
	}
	return checkStart(startOf(b), r.footer.blocks[where.block].blockStart)
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
		if err := r.checkTotal(i, &got.Phases[i], &want.Phases[i]); err != nil {
			return err
		}
	}
	if got.FirstFreeKey != want.FirstFreeKey {
		return broken(invTotals, "first free key number is %d, the footer says %d", got.FirstFreeKey, want.FirstFreeKey)
	}
	if !r.tally.undigested && !r.tally.partial && got.Digest != want.Digest {
		return broken(invDigest, "digest is %x, the footer says %x", got.Digest, want.Digest)
	}
	return nil
}

// checkTotal compares a phase as far as it was read with what the footer says.
func (r *Reader) checkTotal(i int, got, want *PhaseTotal) error {
	phase, whole := r.header.Phases[i].Name, i >= r.tally.whole
	if !whole && !(r.tally.partial && i == r.tally.whole-1) {
		return nil // nothing was
	}
	if whole && got.Ops != want.Ops || got.LastDue != want.LastDue {
		return broken(invTotals, "phase %s holds %v ops to tick %d, the footer says %v to %d", phase, got.Ops, got.LastDue, want.Ops, want.LastDue)
	}
	if r.tally.undigested {
		return nil
	}
	for i := range want.Chunks {
		// Of a chunk that was begun in the middle nothing is known.
		if got.Chunks[i] != want.Chunks[i] && (whole || got.Chunks[i] != [32]byte{}) {
			return broken(invDigest, "chunk %d of phase %s has digest %x, the footer says %x", i, phase, got.Chunks[i], want.Chunks[i])
		}
	}
	if whole && got.Digest != want.Digest {
		return broken(invDigest, "phase %s has digest %x, the footer says %x", phase, got.Digest, want.Digest)
	}
	return nil
}

// Scan advances to the next op. It returns false at the end or at an error,
// which Err tells.
func (r *Reader) Scan() bool {
	for r.at == r.block.Len() {
		r.at = 0
		if r.NextBlock(&r.block) != nil {
			r.block.Reset() // it may be half filled
			return false
		}
		r.at = r.from.in(&r.block)
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
func (r *Reader) Close() error {
	r.stopAhead()
	return r.source.close()
}

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
