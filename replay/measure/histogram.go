package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// Recordable times in ns. Longer ones are kept in the last bucket; the
	// exact maximum stands beside. 11 days are more than a run's deadline
	// allows.
	histogramMax = int64(1e15)
	// Significant figures of a phase's histograms and of those of intervals.
	phaseFigures    = 3
	intervalFigures = 2
)

// Histogram counts durations. It is an HdrHistogram with exact extremes.
type Histogram struct {
	hdr      *hdrhistogram.Histogram
	min, max int64
	sum      float64
}

// NewHistogram returns an empty histogram with three significant figures.
func NewHistogram() *Histogram { return newHistogram(phaseFigures) }

func newHistogram(figures int) *Histogram {
	return &Histogram{hdr: hdrhistogram.New(1, histogramMax, figures), min: math.MaxInt64}
}

// Record counts one duration; negative ones count as 0.
func (h *Histogram) Record(d time.Duration) {
	v := max(int64(d), 0)
	h.min, h.max, h.sum = min(h.min, v), max(h.max, v), h.sum+float64(v)
	// RecordValue allocates when it refuses a value; a clamped one is never refused.
	if err := h.hdr.RecordValue(min(v, histogramMax)); err != nil {
		panic("measure: internal error: " + err.Error())
	}
}

// Merge adds o's counts to h.
func (h *Histogram) Merge(o *Histogram) error {
	if o == nil || o.Count() == 0 {
		return nil
	}
	if dropped := h.hdr.Merge(o.hdr); dropped > 0 {
		return fmt.Errorf("merge of histograms: %d values out of range", dropped)
	}
	h.min, h.max, h.sum = min(h.min, o.min), max(h.max, o.max), h.sum+o.sum
	return nil
}

// Reset empties h and keeps its memory.
func (h *Histogram) Reset() {
	h.hdr.Reset()
	h.min, h.max, h.sum = math.MaxInt64, 0, 0
}

// Count returns the number of durations recorded.
func (h *Histogram) Count() uint64 { return uint64(h.hdr.TotalCount()) }

// Min returns the least duration, exactly; 0 if there is none.
func (h *Histogram) Min() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.min)
}

// Max returns the greatest duration, exactly; 0 if there is none.
func (h *Histogram) Max() time.Duration { return time.Duration(h.max) }

// Mean returns the mean duration in nanoseconds; 0 if there is none.
func (h *Histogram) Mean() float64 {
	if h.Count() == 0 {
		return 0
	}
	return h.sum / float64(h.Count())
}

// AtRank returns the rank-th smallest duration, 1 <= rank <= Count, up to the
// histogram's figures: the upper edge of its bucket, and never more than Max.
// It is the only place where a percentile is taken from a histogram.
func (h *Histogram) AtRank(rank uint64) time.Duration {
	n := h.Count()
	switch {
	case n == 0 || rank == 0:
		return 0
	case rank >= n:
		return h.Max()
	}
	// The library takes a percentage and looks for the rank
	// floor(percentage/100 · count + 0.5); aiming a quarter below the rank
	// leaves rounding of floats no chance.
	v := h.hdr.ValueAtQuantile((float64(rank) - 0.25) / float64(n) * 100)
	return time.Duration(max(min(v, h.max), h.min))
}

// histogramJSON is the form of a Histogram in a result file.
type histogramJSON struct {
	Count uint64  `json:"count"`
	Min   int64   `json:"min_ns"`
	Max   int64   `json:"max_ns"`
	Mean  float64 `json:"mean_ns"`
	// HDR is the V2 compressed encoding of HdrHistogram in base64.
	HDR string `json:"hdr,omitempty"`
}

// MarshalJSON writes count and extremes beside the encoded buckets.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	out := histogramJSON{Count: h.Count(), Min: int64(h.Min()), Max: h.max, Mean: h.Mean()}
	if out.Count > 0 {
		encoded, err := h.hdr.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			return nil, fmt.Errorf("encode histogram: %w", err)
		}
		out.HDR = string(encoded)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var in histogramJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*h = *NewHistogram()
	if in.Count == 0 {
		return nil
	}
	decoded, err := hdrhistogram.Decode([]byte(in.HDR))
	if err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	if n := uint64(decoded.TotalCount()); n != in.Count {
		return fmt.Errorf("decode histogram: %d values, %d stated", n, in.Count)
	}
	h.hdr, h.min, h.max, h.sum = decoded, in.Min, in.Max, in.Mean*float64(in.Count)
	return nil
}
