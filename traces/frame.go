package traces

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Numbers of the zstd format (RFC 8878) and of the zstd seekable format 0.1.0.
const (
	zstdMagic       = 0xFD2FB528
	skippableMagic  = 0x184D2A50 // our frame with the checksum of the footer's frame
	seekTableFrame  = 0x184D2A5E
	seekableMagic   = 0x8F92EAB1
	skippableHeader = 8
	seekTableFooter = 9
	seekEntryBytes  = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc32c(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// checksumTag is the first word of the payload of the frame that holds the
// checksum of the footer's frame.
const checksumTag = "PNLA"

// appendChecksumFrame appends the skippable frame for a footer's frame.
func appendChecksumFrame(dst, footerFrame []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, skippableMagic)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(checksumTag)+4))
	dst = append(dst, checksumTag...)
	return binary.LittleEndian.AppendUint32(dst, crc32c(footerFrame))
}

const checksumFrameBytes = skippableHeader + len(checksumTag) + 4

// frameSize is one entry of a seek table.
type frameSize struct{ compressed, decompressed uint32 }

// appendSeekTable appends the skippable frame that holds the seek table.
func appendSeekTable(dst []byte, frames []frameSize) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, seekTableFrame)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(frames)*seekEntryBytes+seekTableFooter))
	for _, f := range frames {
		dst = binary.LittleEndian.AppendUint32(dst, f.compressed)
		dst = binary.LittleEndian.AppendUint32(dst, f.decompressed)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(frames)))
	dst = append(dst, 0) // descriptor: no checksums in the table
	return binary.LittleEndian.AppendUint32(dst, seekableMagic)
}

func seekTableBytes(frames int) int64 {
	return skippableHeader + int64(frames)*seekEntryBytes + seekTableFooter
}

// frameScanner cuts a stream into zstd and skippable frames without
// decompressing them.
type frameScanner struct {
	r      io.Reader
	offset int64
}

// next appends the next frame to dst[:0]. It returns io.EOF between frames and
// io.ErrUnexpectedEOF within one. max bounds the frame's bytes.
func (s *frameScanner) next(dst []byte, max int) (frame []byte, err error) {
	dst = dst[:0]
	dst, err = s.take(dst, 4, max)
	if err != nil {
		if err == io.ErrUnexpectedEOF && len(dst) == 0 {
			err = io.EOF
		}
		return dst, err
	}
	magic := binary.LittleEndian.Uint32(dst)
	switch {
	case magic == zstdMagic:
		return s.zstdFrame(dst, max)
	case magic&^0xf == skippableMagic:
		if dst, err = s.take(dst, 4, max); err != nil {
			return dst, err
		}
		return s.take(dst, int(binary.LittleEndian.Uint32(dst[4:])), max)
	}
	return dst, broken(invFrames, "no zstd frame: it begins with % x", dst)
}

// zstdFrame reads the rest of a frame by RFC 8878, section 3.1.1: header,
// blocks, checksum.
func (s *frameScanner) zstdFrame(dst []byte, max int) ([]byte, error) {
	dst, err := s.take(dst, 1, max)
	if err != nil {
		return dst, err
	}
	descriptor := dst[4]
	singleSegment := descriptor>>5&1 == 1
	header := [4]int{0, 1, 2, 4}[descriptor&3] // dictionary id
	header += [4]int{0, 2, 4, 8}[descriptor>>6]
	if singleSegment && descriptor>>6 == 0 || !singleSegment {
		header++ // one byte of content size, or of the window
	}
	if dst, err = s.take(dst, header, max); err != nil {
		return dst, err
	}
	for last := false; !last; {
		if dst, err = s.take(dst, 3, max); err != nil {
			return dst, err
		}
		b := dst[len(dst)-3:]
		block := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		last = block&1 == 1
		size := int(block >> 3)
		switch block >> 1 & 3 {
		case 1:
			size = 1 // one byte, repeated
		case 3:
			return dst, broken(invFrames, "reserved type of zstd block")
		}
		if dst, err = s.take(dst, size, max); err != nil {
			return dst, err
		}
	}
	if descriptor>>2&1 == 1 {
		return s.take(dst, 4, max)
	}
	return dst, nil
}

// isSkippable reports whether a frame is a skippable one.
func isSkippable(frame []byte) bool {
	return len(frame) >= 4 && binary.LittleEndian.Uint32(frame)&^0xf == skippableMagic
}

// take appends the next n bytes. Memory grows with what arrives, not with what
// a length claims.
func (s *frameScanner) take(dst []byte, n, max int) ([]byte, error) {
	if n < 0 || n > max-len(dst) {
		return dst, broken(invFrames, "frame of more than %d bytes", max)
	}
	const step = 1 << 20
	for n > 0 {
		part := min(n, step)
		at := len(dst)
		for cap(dst)-at < part {
			dst = append(dst[:cap(dst)], 0)
		}
		dst = dst[:at+part]
		got, err := io.ReadFull(s.r, dst[at:])
		s.offset += int64(got)
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return dst[:at+got], err
		}
		n -= part
	}
	return dst, nil
}

// frameChecker checks frames that a seek table has cut. It keeps its buffer.
type frameChecker struct {
	in  bytes.Reader
	buf []byte
}

// check checks that data is one zstd frame. A decoder alone would take several
// of them, and pass over skippable ones.
func (c *frameChecker) check(data []byte) error {
	c.in.Reset(data)
	s := frameScanner{r: &c.in}
	var err error
	c.buf, err = s.next(c.buf, len(data))
	switch inv := (*invariantError)(nil); {
	case errors.As(err, &inv):
		return err
	case err != nil || len(c.buf) < len(data) || isSkippable(data):
		return broken(invFrames, "%d bytes that are not one zstd frame", len(data))
	}
	return nil
}

// decoder decompresses single frames within a limit.
type decoder struct{ z *zstd.Decoder }

func newDecoder(maxBytes uint64) decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBytes))
	if err != nil {
		panic("traces: internal error: " + err.Error()) // constant options
	}
	return decoder{z}
}

// decode returns the contents of frame in dst[:0], which grows.
func (d decoder) decode(frame, dst []byte) ([]byte, error) {
	out, err := d.z.DecodeAll(frame, dst[:0])
	if err != nil {
		return out, broken(invChecksum, "decompress: %v", err)
	}
	return out, nil
}
