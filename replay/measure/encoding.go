package measure

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// histogramJSON is the form of a Histogram in a result file.
type histogramJSON struct {
	Count uint64 `json:"count"`
	Min   int64  `json:"min_ns"`
	Max   int64  `json:"max_ns"`
	// Mean is for readers; it is worked out from Sum, which may pass 64 bits.
	Mean float64     `json:"mean_ns"`
	Sum  json.Number `json:"sum_ns"`
	// HDR is the V2 compressed encoding of HdrHistogram in base64.
	HDR string `json:"hdr,omitempty"`
}

// MarshalJSON writes count, extremes and sum beside the encoded buckets.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	out := histogramJSON{Count: h.Count(), Min: int64(h.Min()), Max: int64(h.Max()), Mean: h.Mean(), Sum: "0"}
	if out.Count > 0 {
		out.Sum = json.Number(h.bigSum().String())
		encoded, err := h.encode()
		if err != nil {
			return nil, fmt.Errorf("encode histogram: %w", err)
		}
		out.HDR = string(encoded)
	}
	return json.Marshal(out)
}

// HDR returns the buckets in the V2 compressed encoding of HdrHistogram in
// base64, values in nanoseconds. An empty or nil Histogram has one as well.
func (h *Histogram) HDR() ([]byte, error) {
	if h == nil {
		h = &Histogram{buckets: bucketShape(phaseFigures)}
	}
	return h.encode()
}

// bigSum returns the sum of all durations in nanoseconds.
func (h *Histogram) bigSum() *big.Int {
	sum := new(big.Int).SetUint64(h.sumHigh)
	return sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(h.sumLow))
}

// UnmarshalJSON reads what MarshalJSON wrote. It takes memory in proportion to
// the buckets in use, and refuses buckets that do not fit the figures beside.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var in histogramJSON
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	out := &Histogram{packed: hdrhistogram.NewPacked(1, histogramMax, phaseFigures), min: math.MaxInt64}
	if in.HDR != "" {
		packed, err := decodeBuckets(in.HDR)
		if err != nil {
			return fmt.Errorf("decode histogram: %w", err)
		}
		out.packed = packed
	}
	if err := out.state(&in); err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	*h = *out
	return nil
}

// decodeBuckets decodes the base64 text of an HdrHistogram that this package
// may have written.
func decodeBuckets(text string) (*hdrhistogram.PackedHistogram, error) {
	if err := checkGeometry(text); err != nil {
		return nil, err
	}
	return hdrhistogram.DecodePacked([]byte(text))
}

// checkGeometry refuses encoded buckets of another range or precision, before
// the library allocates for them. Layout: 4 bytes cookie, 4 bytes length of
// the zlib stream that follows; in it 4 bytes cookie, length, offset and
// figures each, 8 bytes least value, greatest value and conversion ratio each,
// all big endian, then the counts.
func checkGeometry(text string) error {
	compressed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	if len(compressed) < 8 {
		return fmt.Errorf("%d bytes of buckets, at least 8 expected", len(compressed))
	}
	stream, err := zlib.NewReader(bytes.NewReader(compressed[8:]))
	if err != nil {
		return err
	}
	var header [hdrhistogram.ENCODING_HEADER_SIZE]byte
	if _, err := io.ReadFull(stream, header[:]); err != nil {
		return fmt.Errorf("header of the buckets: %w", err)
	}
	figures := binary.BigEndian.Uint32(header[12:])
	if figures != phaseFigures && figures != intervalFigures {
		return fmt.Errorf("buckets of %d figures, %d or %d expected", figures, intervalFigures, phaseFigures)
	}
	least, greatest := binary.BigEndian.Uint64(header[16:]), binary.BigEndian.Uint64(header[24:])
	if least != 1 || greatest != uint64(histogramMax) {
		return fmt.Errorf("buckets for %d to %d, 1 to %d expected", least, greatest, histogramMax)
	}
	if ratio := math.Float64frombits(binary.BigEndian.Uint64(header[32:])); ratio != 1 {
		return fmt.Errorf("buckets with the conversion ratio %g, 1 expected", ratio)
	}
	return nil
}

// state sets extremes and sum as stated, if they fit the buckets.
func (h *Histogram) state(in *histogramJSON) error {
	var total, last uint64
	first := uint64(math.MaxUint64)
	for low, count := range h.packed.ForEachBucket {
		if total += uint64(count); total > math.MaxInt64 {
			return errors.New("more than 2^63 values")
		}
		first, last = min(first, uint64(low)), uint64(low)
	}
	if total != in.Count {
		return fmt.Errorf("%d values, %d stated", total, in.Count)
	}
	high, low, err := parseSum(in.Sum)
	if err != nil {
		return err
	}
	if total == 0 {
		if in.Min != 0 || in.Max != 0 || high|low != 0 {
			return errors.New("no values, but extremes or a sum")
		}
		return nil
	}
	if in.Min < 0 || in.Min > in.Max || h.bucketOf(in.Min) != first || h.bucketOf(in.Max) != last {
		return fmt.Errorf("extremes %d and %d are not those of the buckets", in.Min, in.Max)
	}
	h.min, h.max, h.sumHigh, h.sumLow = in.Min, in.Max, high, low
	if !h.sumFits() {
		return fmt.Errorf("sum %q is outside count times extremes", in.Sum)
	}
	return nil
}

// bucketOf returns the least value of v's bucket.
func (h *Histogram) bucketOf(v int64) uint64 {
	v = min(v, histogramMax)
	return uint64(v &^ (bucketWidth(v, h.packed.SignificantFigures()) - 1))
}

// sumFits reports whether count·min <= sum <= count·max.
func (h *Histogram) sumFits() bool {
	notAbove := func(aHigh, aLow, bHigh, bLow uint64) bool { return aHigh < bHigh || aHigh == bHigh && aLow <= bLow }
	lowHigh, lowLow := bits.Mul64(h.Count(), uint64(h.min))
	highHigh, highLow := bits.Mul64(h.Count(), uint64(h.max))
	return notAbove(lowHigh, lowLow, h.sumHigh, h.sumLow) && notAbove(h.sumHigh, h.sumLow, highHigh, highLow)
}

// parseSum parses a whole number below 2^128; nothing counts as 0.
func parseSum(text json.Number) (high, low uint64, err error) {
	const digitsMax = 39 // those of 2^128
	if text == "" {
		return 0, 0, nil
	}
	sum, ok := new(big.Int), len(text) <= digitsMax
	if ok {
		sum, ok = sum.SetString(string(text), 10)
	}
	if !ok || sum.Sign() < 0 || sum.BitLen() > 128 {
		return 0, 0, fmt.Errorf("sum %.50q, a whole number below 2^128 expected", string(text))
	}
	return new(big.Int).Rsh(sum, 64).Uint64(), new(big.Int).And(sum, new(big.Int).SetUint64(math.MaxUint64)).Uint64(), nil
}
