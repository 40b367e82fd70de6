package traces

import (
	"bufio"
	"bytes"
	"io"
)

// headerFrame is the first frame of a trace.
type headerFrame struct {
	header *Header
	// frame as it is in the file, field decompressed.
	frame, field []byte
}

func (h *headerFrame) size() frameSize {
	return frameSize{uint32(len(h.frame)), uint32(len(h.field))}
}

func (h *headerFrame) crc() uint32 { return crc32c(h.frame) }

// readHeader reads the first frame. Its bytes are there with an error too.
func readHeader(s *frameScanner) (*headerFrame, error) {
	var h headerFrame
	var err error
	if h.frame, err = s.next(nil, headerBytesMax); err != nil {
		return &h, err
	}
	if isSkippable(h.frame) {
		return &h, broken(invFrames, "skippable frame before the header")
	}
	if h.field, err = newDecoder(headerBytesMax).decode(h.frame, nil); err != nil {
		return &h, err
	}
	h.header, err = decodeHeader(h.field)
	return &h, err
}

// streamSource reads frames one after another.
type streamSource struct {
	closer  io.Closer
	scanner frameScanner
	head    *headerFrame
	blocks  decoder
	frame   []byte
	field   []byte
	// Of all frames, those of blocks and of the footer.
	frames []frameSize
	crcs   []uint32
	place
	foot *footer
}

func newStreamReader(r io.Reader, closer io.Closer, path string) (*Reader, error) {
	s := &streamSource{closer: closer, scanner: frameScanner{r: bufio.NewReaderSize(r, 1<<18)}, blocks: newDecoder(blockBytesMax)}
	var err error
	if s.head, err = readHeader(&s.scanner); err != nil {
		return nil, notTrace(path, s.head.frame, err)
	}
	s.frames = append(s.frames, s.head.size())
	return newReader(path, s.head.header, s), nil
}

func (s *streamSource) nextBlock() ([]byte, error) {
	s.place = place{s.scanner.offset, len(s.crcs)}
	if err := s.nextFrame(); err != nil {
		return nil, err
	}
	if len(s.field) > 0 && s.field[0] == traceFooter<<3|2 {
		s.block = -1
		if err := s.readEnd(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	if len(s.frame) > blockBytesMax || len(s.field) > blockBytesMax {
		return nil, broken(invBlockCount, "block of %d bytes, %d decompressed", len(s.frame), len(s.field))
	}
	if len(s.frames) > framesMax-2 {
		return nil, broken(invSeekTable, "more than %d frames", framesMax)
	}
	s.crcs = append(s.crcs, crc32c(s.frame))
	return s.field, nil
}

// nextFrame reads the frame of a block or of the footer.
func (s *streamSource) nextFrame() error {
	limit := footerBytesMax(len(s.frames)+2, len(s.head.header.Phases))
	larger := limit > blockBytesMax
	limit = max(limit, blockBytesMax)
	var err error
	s.frame, err = s.scanner.next(s.frame, int(limit))
	switch {
	case err == io.EOF:
		return broken(invFrames, "it ends without a footer: truncated")
	case err == io.ErrUnexpectedEOF:
		return broken(invFrames, "it ends within a frame: truncated")
	case err != nil:
		return err
	case isSkippable(s.frame):
		return broken(invSkippable, "skippable frame before the footer")
	}
	s.field, err = s.blocks.decode(s.frame, s.field)
	if err != nil && larger {
		// Too large for a block: it may be the footer.
		s.field, err = newDecoder(limit).decode(s.frame, s.field)
	}
	if err != nil {
		return err
	}
	s.frames = append(s.frames, frameSize{uint32(len(s.frame)), uint32(len(s.field))})
	return nil
}

// readEnd decodes the footer and checks it and all that follows against the
// frames that were read.
func (s *streamSource) readEnd() error {
	limit := footerBytesMax(len(s.frames)+1, len(s.head.header.Phases))
	if uint64(len(s.frame)) > limit || uint64(len(s.field)) > limit {
		return broken(invFooter, "footer of %d bytes, %d decompressed", len(s.frame), len(s.field))
	}
	if err := s.readTail(); err != nil {
		return err
	}
	f, err := decodeFooter(s.field, s.head.header, len(s.crcs))
	if err != nil {
		return err
	}
	if err := f.checkPlaces(s.frames, s.head.crc()); err != nil {
		return err
	}
	for i := range f.blocks {
		if e := &f.blocks[i]; e.crc != s.crcs[i] {
			s.place = place{e.offset, i}
			return broken(invChecksum, "checksum is %08x, the footer says %08x", s.crcs[i], e.crc)
		}
	}
	s.foot = f
	return nil
}

// readTail reads what is behind the footer, whose frame is s.frame.
func (s *streamSource) readTail() error {
	want := appendSeekTable(appendChecksumFrame(nil, s.frame), append(s.frames, frameSize{uint32(checksumFrameBytes), 0}))
	got := make([]byte, len(want))
	switch n, err := io.ReadFull(s.scanner.r, got); {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return broken(invSeekTable, "it ends %d bytes before the end of the seek table", len(want)-n)
	case err != nil:
		return err
	}
	if err := checkTail(got, want); err != nil {
		return err
	}
	switch _, err := io.ReadFull(s.scanner.r, got[:1]); {
	case err == nil:
		return broken(invNoTrailing, "bytes behind the seek table")
	case err != io.EOF:
		return err
	}
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

func (s *streamSource) where() place { return s.place }
func (s *streamSource) end() *footer { return s.foot }
func (s *streamSource) close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
