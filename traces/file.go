package traces

import (
	"encoding/binary"
	"fmt"
	"io"
)

// fileSource reads blocks of a file through its index.
type fileSource struct {
	f interface {
		io.ReaderAt
		io.Closer
	}
	foot   *footer
	frames []frameSize
	blocks decoder
	frame  []byte
	field  []byte
	next   int
}

// newFileReader reads the seek table, the footer and the header and holds each
// against the others.
func newFileReader(f interface {
	io.ReaderAt
	io.Closer
}, size int64, path string) (*Reader, error) {
	s := &fileSource{f: f, blocks: newDecoder(blockBytesMax)}
	if err := checkBegin(f, size, path); err != nil {
		return nil, err
	}
	tail, err := s.readSeekTable(size)
	if err != nil {
		return nil, corrupt(path, size, -1, err)
	}
	var tailOffset int64
	for _, fr := range s.frames[:len(s.frames)-1] {
		tailOffset += int64(fr.compressed)
	}
	first := s.frames[0]
	if first.compressed > headerBytesMax || first.decompressed > headerBytesMax {
		return nil, corrupt(path, 0, -1, broken(invHeader, "header of %d bytes", first.decompressed))
	}
	headerFrame, field, err := s.readFrame(0, first, headerBytesMax)
	if err != nil {
		return nil, corrupt(path, 0, -1, err)
	}
	h, err := decodeHeader(field)
	if err != nil {
		return nil, notTrace(path, 0, err)
	}
	last := s.frames[len(s.frames)-2]
	footerOffset := tailOffset - int64(last.compressed)
	frame, field, err := s.readFrame(footerOffset, last, footerLimit(len(s.frames)))
	if err != nil {
		return nil, corrupt(path, footerOffset, -1, err)
	}
	s.frames[len(s.frames)-1] = frameSize{uint32(checksumFrameBytes), 0}
	if err := checkTail(tail, appendSeekTable(appendChecksumFrame(nil, frame), s.frames)); err != nil {
		return nil, corrupt(path, tailOffset, -1, err)
	}
	if s.foot, err = decodeFooter(field, h); err != nil {
		return nil, corrupt(path, footerOffset, -1, err)
	}
	if got := crc32c(headerFrame); got != s.foot.headerCRC {
		return nil, corrupt(path, 0, -1, broken(invChecksum, "checksum of the header is %08x, the footer says %08x", got, s.foot.headerCRC))
	}
	if err := s.checkBlocks(); err != nil {
		return nil, corrupt(path, footerOffset, -1, err)
	}
	return newReader(path, h, s), nil
}

// checkBegin tells a file that is no trace at all from one that is broken.
func checkBegin(f io.ReaderAt, size int64, path string) error {
	var magic [4]byte
	if size == 0 {
		return fmt.Errorf("%s: %w: it is empty", path, ErrNotTrace)
	}
	if n, err := f.ReadAt(magic[:], 0); n < 4 || binary.LittleEndian.Uint32(magic[:]) != zstdMagic {
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", path, err)
		}
		return fmt.Errorf("%s: %w: it begins with % x; did you mean another file?", path, ErrNotTrace, magic[:n])
	}
	return nil
}

// readSeekTable reads the sizes of all frames. It returns the bytes of the
// checksum frame and the table.
func (s *fileSource) readSeekTable(size int64) ([]byte, error) {
	var end [seekTableFooter]byte
	if _, err := s.f.ReadAt(end[:], max(size-seekTableFooter, 0)); err != nil {
		return nil, broken(invSeekTable, "no room for a seek table: %v", err)
	}
	if binary.LittleEndian.Uint32(end[5:]) != seekableMagic {
		return nil, broken(invSeekTable, "it does not end in a seek table: truncated, or bytes behind the trace")
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	tail := int64(checksumFrameBytes) + seekTableBytes(int(n))
	if n < 3 || tail > size {
		return nil, broken(invSeekTable, "seek table of %d frames", n)
	}
	table := make([]byte, tail)
	if _, err := s.f.ReadAt(table, size-tail); err != nil {
		return nil, fmt.Errorf("read seek table: %w", err)
	}
	entries := table[checksumFrameBytes+skippableHeader:]
	total := seekTableBytes(int(n))
	for i := range n {
		e := entries[i*seekEntryBytes:]
		fr := frameSize{binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:])}
		s.frames = append(s.frames, fr)
		total += int64(fr.compressed)
	}
	if total != size {
		return nil, broken(invSeekTable, "the seek table accounts for %d bytes of %d", total, size)
	}
	return table, nil
}

// readFrame reads and decompresses one frame. The frame is fresh memory.
func (s *fileSource) readFrame(offset int64, size frameSize, max uint64) (frame, field []byte, err error) {
	if uint64(size.compressed) > max || uint64(size.decompressed) > max {
		return nil, nil, broken(invFrames, "frame of %d bytes, %d decompressed", size.compressed, size.decompressed)
	}
	frame = make([]byte, size.compressed)
	if _, err := s.f.ReadAt(frame, offset); err != nil {
		return nil, nil, fmt.Errorf("read frame: %w", err)
	}
	field, err = newDecoder(max).decode(frame, nil)
	if err != nil {
		return nil, nil, err
	}
	if len(field) != int(size.decompressed) {
		return nil, nil, broken(invSeekTable, "frame of %d bytes, decompressed; the seek table says %d", len(field), size.decompressed)
	}
	return frame, field, nil
}

// checkBlocks compares the footer's places with the seek table's.
func (s *fileSource) checkBlocks() error {
	frames := s.frames[1 : len(s.frames)-2]
	if len(frames) != len(s.foot.blocks) {
		return broken(invFooter, "footer of %d blocks, seek table of %d", len(s.foot.blocks), len(frames))
	}
	offset := int64(s.frames[0].compressed)
	for i, e := range s.foot.blocks {
		if e.offset != offset || e.size != frames[i].compressed {
			return broken(invFooter, "footer places block %d at %d, %d bytes; the seek table at %d, %d bytes", i, e.offset, e.size, offset, frames[i].compressed)
		}
		if frames[i].compressed > blockBytesMax || frames[i].decompressed > blockBytesMax {
			return broken(invBlockCount, "block %d of %d bytes, more than %d", i, frames[i].decompressed, blockBytesMax)
		}
		offset += int64(e.size)
	}
	return nil
}

func (s *fileSource) block() ([]byte, error) {
	if s.next == len(s.foot.blocks) {
		return nil, io.EOF
	}
	e, size := &s.foot.blocks[s.next], s.frames[s.next+1]
	s.next++
	if cap(s.frame) < int(e.size) {
		s.frame = make([]byte, e.size)
	}
	s.frame = s.frame[:e.size]
	if _, err := s.f.ReadAt(s.frame, e.offset); err != nil {
		return nil, fmt.Errorf("read block: %w", err)
	}
	if got := crc32c(s.frame); got != e.crc {
		return nil, broken(invChecksum, "checksum is %08x, the footer says %08x", got, e.crc)
	}
	var err error
	if s.field, err = s.blocks.decode(s.frame, s.field); err != nil {
		return nil, err
	}
	if len(s.field) != int(size.decompressed) {
		return nil, broken(invSeekTable, "block of %d bytes, decompressed; the seek table says %d", len(s.field), size.decompressed)
	}
	return s.field, nil
}

func (s *fileSource) place() (int64, int) {
	if s.next == 0 {
		return 0, -1
	}
	return s.foot.blocks[s.next-1].offset, s.next - 1
}
func (s *fileSource) end() *footer { return s.foot }
func (s *fileSource) close() error { return s.f.Close() }
