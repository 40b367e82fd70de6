package measure

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// Cookies and header of HdrHistogram's V2 encoding: see encode.
const (
	hdrCookie           = 0x1c849303 | 0x10
	hdrCompressedCookie = 0x1c849304 | 0x10
	hdrHeaderBytes      = 40
)

// hdrEncoder keeps the memory of a compressor, a megabyte, for one encoding
// after the other: results hold thousands.
type hdrEncoder struct {
	payload    []byte
	compressed bytes.Buffer
	writer     *zlib.Writer
}

var hdrEncoders = sync.Pool{New: func() any {
	w, err := zlib.NewWriterLevel(nil, zlib.BestCompression)
	if err != nil {
		panic("measure: internal error: " + err.Error()) // the level is one of the package's own
	}
	return &hdrEncoder{writer: w}
}}

// encode returns buckets in the V2 compressed encoding of HdrHistogram in
// base64, as Java's HistogramLogWriter and hdrhistogram-go write it: a cookie
// and the length of a zlib stream; in it a header of cookie, length of the
// counts, offset, figures, range and conversion ratio, and the counts of all
// buckets up to the last in use as ZigZag LEB128 of up to 9 bytes, a run of n > 1
// empty ones as -n.
func (e *hdrEncoder) encode(figures int, each func(yield func(index int, count int64) bool)) ([]byte, error) {
	b := append(e.payload[:0], make([]byte, hdrHeaderBytes)...)
	next := 0
	for index, count := range each {
		if gap := index - next; gap == 1 {
			b = append(b, 0)
		} else if gap > 1 {
			b = appendZigZag(b, int64(-gap))
		}
		b = appendZigZag(b, count)
		next = index + 1
	}
	if next == 0 {
		b = append(b, 0)
	}
	e.payload = b
	binary.BigEndian.PutUint32(b, hdrCookie)
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-hdrHeaderBytes))
	binary.BigEndian.PutUint32(b[12:], uint32(figures))
	binary.BigEndian.PutUint64(b[16:], 1)
	binary.BigEndian.PutUint64(b[24:], uint64(histogramMax))
	binary.BigEndian.PutUint64(b[32:], math.Float64bits(1))

	e.compressed.Reset()
	e.compressed.Write(make([]byte, 8)) // to a Buffer, which takes everything
	e.writer.Reset(&e.compressed)
	if _, err := e.writer.Write(b); err != nil {
		return nil, fmt.Errorf("compress buckets: %w", err)
	}
	if err := e.writer.Close(); err != nil {
		return nil, fmt.Errorf("compress buckets: %w", err)
	}
	out := e.compressed.Bytes()
	binary.BigEndian.PutUint32(out, hdrCompressedCookie)
	binary.BigEndian.PutUint32(out[4:], uint32(len(out)-8))
	return base64.StdEncoding.AppendEncode(nil, out), nil
}

// appendZigZag appends v as HdrHistogram's LEB128: 7 bits to a byte, and all 8
// of the ninth.
func appendZigZag(b []byte, v int64) []byte {
	u := uint64(v)<<1 ^ uint64(v>>63)
	for range 8 {
		if u < 0x80 {
			return append(b, byte(u))
		}
		b = append(b, byte(u)|0x80)
		u >>= 7
	}
	return append(b, byte(u))
}

// encode returns the buckets as HDR does.
func (h *Histogram) encode() ([]byte, error) {
	e := hdrEncoders.Get().(*hdrEncoder)
	defer hdrEncoders.Put(e)
	if h.packed == nil {
		return e.encode(h.buckets.figures, func(yield func(int, int64) bool) {
			for i, n := range h.buckets.counts {
				if n > 0 && !yield(i, n) {
					return
				}
			}
		})
	}
	shape := bucketShape(int(h.packed.SignificantFigures()))
	return e.encode(shape.figures, func(yield func(int, int64) bool) {
		for low, n := range h.packed.ForEachBucket {
			if !yield(shape.index(low), n) {
				return
			}
		}
	})
}
