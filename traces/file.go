package traces

import (
	"bufio"
	"encoding/binary"
	"io"
)

// file is what a trace is read from when it can be sought in.
type file interface {
	io.ReaderAt
	io.Closer
}

// fileSource reads blocks of a file through its index.
type fileSource struct {
	f       file
	foot    *footer
	frames  []frameSize
	checker frameChecker
	blocks  decoder
	frame   []byte
	field   []byte
	// next is the index of the next block.
	next int
	place
}

// newFileReader reads the header, the seek table and the footer and holds each
// against the others.
func newFileReader(f file, size int64, path string) (*Reader, error) {
	s := &fileSource{f: f, blocks: newDecoder(blockBytesMax)}
	scanner := frameScanner{r: bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 1<<16)}
	head, err := readHeader(&scanner)
	if err != nil {
		return nil, notTrace(path, head.frame, err)
	}
	s.place = place{offset: size, block: -1}
	if err := s.readIndex(size, head); err != nil {
		return nil, corrupt(path, s.place, err)
	}
	return newReader(path, head.header, s), nil
}

// readIndex reads what is behind the blocks, from the end of the file.
func (s *fileSource) readIndex(size int64, head *headerFrame) error {
	tail, err := s.readSeekTable(size)
	if err != nil {
		return err
	}
	n := len(s.frames)
	for _, fr := range s.frames[1 : n-2] {
		if fr.compressed > blockBytesMax || fr.decompressed > blockBytesMax {
			return broken(invSeekTable, "block of %d bytes, %d decompressed, in the seek table", fr.compressed, fr.decompressed)
		}
	}
	if first := head.size(); s.frames[0] != first {
		return broken(invSeekTable, "the seek table gives the header %d bytes, %d decompressed; it has %d, %d",
			s.frames[0].compressed, s.frames[0].decompressed, first.compressed, first.decompressed)
	}
	last := s.frames[n-2]
	s.offset = size - int64(len(tail)) - int64(last.compressed)
	limit := footerBytesMax(n, len(head.header.Phases))
	if uint64(last.compressed) > limit || uint64(last.decompressed) > limit {
		return broken(invFooter, "footer of %d bytes, %d decompressed", last.compressed, last.decompressed)
	}
	if err := s.read(s.offset, last.compressed); err != nil {
		return err
	}
	s.frames[n-1] = frameSize{uint32(checksumFrameBytes), 0}
	if err := checkTail(tail, appendSeekTable(appendChecksumFrame(nil, s.frame), s.frames)); err != nil {
		return err
	}
	if err := s.decompress(newDecoder(limit), last); err != nil {
		return err
	}
	if s.foot, err = decodeFooter(s.field, head.header, n-3); err != nil {
		return err
	}
	return s.foot.checkPlaces(s.frames, head.crc())
}

// readSeekTable reads the sizes of all frames. It returns the bytes of the
// checksum frame and the table.
func (s *fileSource) readSeekTable(size int64) ([]byte, error) {
	var end [seekTableFooter]byte
	if size < int64(len(end)) {
		return nil, broken(invSeekTable, "no room for a seek table")
	}
	if err := s.readAt(end[:], size-seekTableFooter); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(end[5:]) != seekableMagic {
		return nil, broken(invSeekTable, "it does not end in a seek table: truncated, or bytes behind the trace")
	}
	n := binary.LittleEndian.Uint32(end[:])
	if n < 3 || n > framesMax {
		return nil, broken(invSeekTable, "seek table of %d frames", n)
	}
	total := seekTableBytes(int(n))
	if int64(checksumFrameBytes)+total > size {
		return nil, broken(invSeekTable, "seek table of %d frames in %d bytes", n, size)
	}
	tail := make([]byte, int64(checksumFrameBytes)+total)
	if err := s.readAt(tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	s.frames = make([]frameSize, n)
	for i := range s.frames {
		e := tail[checksumFrameBytes+skippableHeader+i*seekEntryBytes:]
		s.frames[i] = frameSize{binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:])}
		total += int64(s.frames[i].compressed)
	}
	if total != size {
		return nil, broken(invSeekTable, "the seek table accounts for %d bytes of %d", total, size)
	}
	return tail, nil
}

// readAt fills b. A file that was longer when it was opened is broken.
func (s *fileSource) readAt(b []byte, offset int64) error {
	_, err := s.f.ReadAt(b, offset)
	if err == io.EOF {
		return broken(invFrames, "it ends within %d bytes that were there when it was opened", len(b))
	}
	return err
}

// read reads a frame of n bytes to s.frame.
func (s *fileSource) read(offset int64, n uint32) error {
	if cap(s.frame) < int(n) {
		s.frame = make([]byte, n)
	}
	s.frame = s.frame[:n]
	return s.readAt(s.frame, offset)
}

// decompress decompresses s.frame to s.field.
func (s *fileSource) decompress(d decoder, size frameSize) error {
	var err error
	s.field, err = decompressFrame(&s.checker, d, s.frame, s.field, size)
	return err
}

// decompressFrame returns the contents of a frame in the memory of field.
func decompressFrame(c *frameChecker, d decoder, frame, field []byte, size frameSize) ([]byte, error) {
	if err := c.check(frame); err != nil {
		return field, err
	}
	field, err := d.decode(frame, field)
	if err == nil && len(field) != int(size.decompressed) {
		err = broken(invSeekTable, "frame of %d bytes, decompressed; the seek table says %d", len(field), size.decompressed)
	}
	return field, err
}

// decompressBlock is decompressFrame for the frame of a block, whose checksum
// the footer states.
func decompressBlock(c *frameChecker, d decoder, frame, field []byte, e *blockEntry, size frameSize) ([]byte, error) {
	if got := crc32c(frame); got != e.crc {
		return field, broken(invChecksum, "checksum is %08x, the footer says %08x", got, e.crc)
	}
	return decompressFrame(c, d, frame, field, size)
}

func (s *fileSource) nextBlock() ([]byte, error) {
	if s.next == len(s.foot.blocks) {
		s.place = place{s.footerOffset(), -1}
		return nil, io.EOF
	}
	e := &s.foot.blocks[s.next]
	s.place = place{e.offset, s.next}
	s.next++
	if err := s.read(e.offset, e.size); err != nil {
		return nil, err
	}
	var err error
	s.field, err = decompressBlock(&s.checker, s.blocks, s.frame, s.field, e, s.frames[s.next])
	return s.field, err
}

func (s *fileSource) footerOffset() int64 {
	if n := len(s.foot.blocks); n > 0 {
		return s.foot.blocks[n-1].offset + int64(s.foot.blocks[n-1].size)
	}
	return int64(s.frames[0].compressed)
}

func (s *fileSource) where() place { return s.place }
func (s *fileSource) end() *footer { return s.foot }
func (s *fileSource) close() error { return s.f.Close() }
