package traces

import (
	"bufio"
	"bytes"
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
	// sought is set once blocks were left out: totals and digests of what was
	// read can't be compared any more.
	sought bool
	codec  blockCodec
	err    error

	// For Scan.
	block Block
	at    int
	op    Op
}

// source gives the frames of the blocks in order.
type source interface {
	// block returns the next block's field, or io.EOF once the footer and all
	// behind it was read and checked.
	block() (field []byte, err error)
	// place returns offset and index of the block returned last.
	place() (offset int64, block int)
	// footer is known once block has returned io.EOF, or from the start.
	end() *footer
	close() error
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
	field, err := r.source.block()
	if err == io.EOF {
		r.footer = r.source.end()
		err = r.checkEnd()
		if err == nil {
			err = io.EOF
		}
		r.err = err
		return err
	}
	offset, index := r.source.place()
	if err == nil {
		err = r.codec.decode(field, r.header, b)
	}
	if err == nil {
		err = r.tally.add(b)
	}
	if err == nil && r.footer != nil {
		err = checkEntry(&r.footer.blocks[index], b)
	}
	if err != nil {
		r.err = corrupt(r.path, offset, index, err)
	}
	return r.err
}

// checkEntry compares a block with what the footer says of it.
func checkEntry(e *blockEntry, b *Block) error {
	due := uint64(0)
	if len(b.Due) > 0 {
		due = b.Due[0]
	}
	if e.first != b.First || e.phase != b.Phase || e.firstAt != due {
		return broken(invTotals, "footer says op %d, phase %d, tick %d; block says %d, %d, %d", e.first, e.phase, e.firstAt, b.First, b.Phase, due)
	}
	return nil
}

// checkEnd compares what was read with the footer's totals.
func (r *Reader) checkEnd() error {
	if r.sought {
		return nil
	}
	got, want := r.tally.finish(), &r.footer.totals
	fail := func(invariant int, format string, args ...any) error {
		offset, _ := r.source.place()
		return corrupt(r.path, offset, -1, broken(invariant, format, args...))
	}
	for i := range want.Phases {
		g, w := &got.Phases[i], &want.Phases[i]
		if g.Ops != w.Ops || g.LastDue != w.LastDue {
			return fail(invTotals, "phase %s holds %v ops to tick %d, the footer says %v to %d", r.header.Phases[i].Name, g.Ops, g.LastDue, w.Ops, w.LastDue)
		}
		if g.Digest != w.Digest {
			return fail(invDigest, "phase %s has digest %x, the footer says %x", r.header.Phases[i].Name, g.Digest, w.Digest)
		}
		for j := range w.Chunks {
			if g.Chunks[j] != w.Chunks[j] {
				return fail(invDigest, "chunk %d of phase %s has digest %x, the footer says %x", j, r.header.Phases[i].Name, g.Chunks[j], w.Chunks[j])
			}
		}
	}
	if got.FirstFreeKey != want.FirstFreeKey {
		return fail(invTotals, "first free key number is %d, the footer says %d", got.FirstFreeKey, want.FirstFreeKey)
	}
	if got.Digest != want.Digest {
		return fail(invDigest, "digest is %x, the footer says %x", got.Digest, want.Digest)
	}
	return nil
}

// SkipTo makes the next block the first one of the given phase or of a later
// one. From a file it seeks; a stream is read and checked on the way.
func (r *Reader) SkipTo(phase int) error {
	if r.err != nil {
		return r.err
	}
	f, ok := r.source.(*fileSource)
	if !ok {
		return errors.New("skip to phase: the trace is a stream, which is read in order")
	}
	next := f.next
	for next < len(r.footer.blocks) && r.footer.blocks[next].phase < phase {
		next++
	}
	if next == f.next {
		return nil
	}
	f.next = next
	r.sought = true
	r.tally = newTally(r.header)
	for i := range phase {
		r.tally.insert += r.footer.totals.Phases[i].Ops[Insert]
		r.tally.next += r.footer.totals.Phases[i].Count()
	}
	r.tally.begin(phase)
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
		if r.NextBlock(&r.block) != nil {
			return false
		}
		r.at = 0
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

// corrupt adds the place to an error about the bytes of a trace.
func corrupt(path string, offset int64, block int, err error) error {
	if errors.Is(err, ErrVersion) || errors.Is(err, ErrNotTrace) {
		return fmt.Errorf("%s: %w", path, err)
	}
	out := &CorruptError{Path: path, Offset: offset, Block: block, Invariant: invFrames, Err: err}
	inv := (*invariantError)(nil)
	if !errors.As(err, &inv) {
		return fmt.Errorf("%s: at offset %d: %w", path, offset, err) // the medium's error, not the trace's
	}
	out.Invariant = inv.number
	return out
}

// streamSource reads frames one after another.
type streamSource struct {
	path    string
	closer  io.Closer
	scanner frameScanner
	blocks  decoder
	frame   []byte
	field   []byte
	frames  []frameSize
	crcs    []uint32
	offset  int64
	header  *Header
	foot    *footer
}

func newStreamReader(r io.Reader, closer io.Closer, path string) (*Reader, error) {
	s := &streamSource{path: path, closer: closer, scanner: frameScanner{r: bufio.NewReaderSize(r, 1<<18)}, blocks: newDecoder(headerBytesMax)}
	field, err := s.next(headerBytesMax)
	s.blocks = newDecoder(blockBytesMax)
	if err != nil {
		return nil, notTrace(path, 0, err)
	}
	if s.header, err = decodeHeader(field); err != nil {
		return nil, notTrace(path, 0, err)
	}
	return newReader(path, s.header, s), nil
}

// notTrace names the error of a first frame: a file that does not even begin as
// a trace is told from one that broke.
func notTrace(path string, offset int64, err error) error {
	switch {
	case err == io.EOF:
		return fmt.Errorf("%s: %w: it is empty", path, ErrNotTrace)
	case err == io.ErrUnexpectedEOF:
		return corrupt(path, offset, -1, broken(invFrames, "it ends within the first frame"))
	case errors.Is(err, ErrVersion):
		return fmt.Errorf("%s: %w", path, err)
	}
	if inv := (*invariantError)(nil); errors.As(err, &inv) && inv.number == invFrames {
		return fmt.Errorf("%s: %w: %v; did you mean another file?", path, ErrNotTrace, err)
	}
	return corrupt(path, offset, -1, err)
}

// next returns the decompressed contents of the next zstd frame, or io.EOF, or
// nil for a skippable frame, which stays in s.frame.
func (s *streamSource) next(limit int) ([]byte, error) {
	var err error
	s.offset = s.scanner.offset
	if s.frame, err = s.scanner.next(s.frame, limit); err != nil {
		return nil, err
	}
	if isSkippable(s.frame) {
		return nil, nil
	}
	s.field, err = s.blocks.decode(s.frame, s.field)
	if err != nil && limit > blockBytesMax && len(s.frames) > 0 {
		// Too large for a block: only a footer may be, within its own limit.
		s.field, err = newDecoder(uint64(limit)).decode(s.frame, s.field)
	}
	if err != nil {
		return nil, err
	}
	s.frames = append(s.frames, frameSize{uint32(len(s.frame)), uint32(len(s.field))})
	s.crcs = append(s.crcs, crc32c(s.frame))
	return s.field, nil
}

func isSkippable(frame []byte) bool {
	return len(frame) >= 4 && frame[0]&0xf0 == 0x50 && frame[1] == 0x2A && frame[2] == 0x4D && frame[3] == 0x18
}

func (s *streamSource) block() ([]byte, error) {
	field, err := s.next(max(blockBytesMax, int(footerLimit(len(s.frames)+2))))
	switch {
	case err == io.EOF:
		return nil, broken(invFrames, "it ends without a footer: truncated")
	case err == io.ErrUnexpectedEOF:
		return nil, broken(invFrames, "it ends within a frame: truncated")
	case err != nil:
		return nil, err
	case field == nil:
		return nil, broken(invSkippable, "skippable frame before the footer")
	}
	if field[0] == traceFooter<<3|2 {
		if err := s.readEnd(field); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	if len(field) > blockBytesMax {
		return nil, broken(invBlockCount, "block of %d bytes, more than %d", len(field), blockBytesMax)
	}
	return field, nil
}

// readEnd decodes the footer and checks it and all that follows against the
// frames that were read.
func (s *streamSource) readEnd(field []byte) error {
	f, err := decodeFooter(field, s.header)
	if err != nil {
		return err
	}
	blocks := len(s.frames) - 2
	if len(f.blocks) != blocks {
		return broken(invFooter, "footer of %d blocks behind %d", len(f.blocks), blocks)
	}
	offset := int64(s.frames[0].compressed)
	for i := range f.blocks {
		e := &f.blocks[i]
		if e.offset != offset || e.size != s.frames[i+1].compressed {
			return broken(invFooter, "footer places block %d at %d, %d bytes; it is at %d, %d bytes", i, e.offset, e.size, offset, s.frames[i+1].compressed)
		}
		if e.crc != s.crcs[i+1] {
			return broken(invChecksum, "checksum of block %d at offset %d is %08x, the footer says %08x", i, e.offset, s.crcs[i+1], e.crc)
		}
		offset += int64(e.size)
	}
	if f.headerCRC != s.crcs[0] {
		return broken(invChecksum, "checksum of the header is %08x, the footer says %08x", s.crcs[0], f.headerCRC)
	}
	frames := append(s.frames[:len(s.frames):len(s.frames)], frameSize{uint32(checksumFrameBytes), 0})
	want := appendSeekTable(appendChecksumFrame(nil, s.frame), frames)
	got := make([]byte, len(want))
	s.offset = s.scanner.offset
	n, err := io.ReadFull(s.scanner.r, got)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if n < len(want) {
		return broken(invSeekTable, "it ends within the last %d bytes", len(want))
	}
	if err := checkTail(got, want); err != nil {
		return err
	}
	if n, err := s.scanner.r.Read(got[:1]); n > 0 || err != io.EOF {
		if err != nil && err != io.EOF {
			return err
		}
		return broken(invNoTrailing, "bytes behind the seek table")
	}
	s.foot = f
	return nil
}

// checkTail compares the checksum frame and the seek table with what the frames
// before them make them.
func checkTail(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	if !bytes.Equal(got[:checksumFrameBytes], want[:checksumFrameBytes]) {
		return broken(invChecksum, "the footer's checksum frame is % x where % x is due", got[:checksumFrameBytes], want[:checksumFrameBytes])
	}
	return broken(invSeekTable, "the seek table does not list the frames of the file")
}

func (s *streamSource) place() (int64, int) { return s.offset, len(s.frames) - 2 }
func (s *streamSource) end() *footer        { return s.foot }
func (s *streamSource) close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
