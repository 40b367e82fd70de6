package measure

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// Recordable times in ns: 1 to histogramMax. Longer ones are kept in the
	// bucket of histogramMax, whose upper edge is the exact maximum beside. 11
	// days are more than a run's deadline allows.
	histogramMax = int64(1e15)
	// Significant figures of a phase's histograms and of those of intervals.
	phaseFigures    = 3
	intervalFigures = 2
)

// Histogram counts durations. It is an HdrHistogram with exact extremes and an
// exact sum. A nil Histogram can be read and is empty.
//
// One that is recorded into has an array of all its buckets, 336 KB at three
// figures; one that was decoded or made by Packed holds the buckets in use.
type Histogram struct {
	// buckets, or packed where buckets.counts is nil.
	buckets buckets
	packed  *hdrhistogram.PackedHistogram

	min, max int64
	// The sum of all durations in ns takes 128 bits.
	sumHigh, sumLow uint64
}

// NewHistogram returns an empty histogram with three significant figures.
func NewHistogram() *Histogram { return newHistogram(phaseFigures) }

func newHistogram(figures int) *Histogram {
	return &Histogram{buckets: newBuckets(figures), min: math.MaxInt64}
}

// Record counts one duration; negative ones count as 0.
func (h *Histogram) Record(d time.Duration) {
	if h.packed != nil {
		h.unpack()
	}
	v := max(int64(d), 0)
	h.buckets.add(min(v, histogramMax), 1)
	h.min, h.max = min(h.min, v), max(h.max, v)
	h.addSum(0, uint64(v))
}

// recorded counts durations of which extremes and sum are known. Negative ones
// count as 0.
func (h *Histogram) recorded(values []int64, least, greatest int64, high, low uint64) {
	if h.packed != nil {
		h.unpack()
	}
	h.buckets.addAll(values)
	h.min, h.max = min(h.min, least), max(h.max, greatest)
	h.addSum(high, low)
}

// Merge adds o's counts to h.
func (h *Histogram) Merge(o *Histogram) error {
	if o.Count() == 0 {
		return nil
	}
	if h.packed != nil {
		h.unpack()
	}
	if err := h.buckets.merge(o); err != nil {
		return fmt.Errorf("merge of histograms: %w", err)
	}
	h.min, h.max = min(h.min, o.min), max(h.max, o.max)
	h.addSum(o.sumHigh, o.sumLow)
	return nil
}

func (h *Histogram) addSum(high, low uint64) {
	var carry uint64
	h.sumLow, carry = bits.Add64(h.sumLow, low, 0)
	h.sumHigh, _ = bits.Add64(h.sumHigh, high, carry)
}

// Reset empties h and keeps its memory.
func (h *Histogram) Reset() {
	if h.packed != nil {
		h.packed.Reset()
	} else {
		h.buckets.reset()
	}
	h.min, h.max, h.sumHigh, h.sumLow = math.MaxInt64, 0, 0, 0
}

// Packed returns a copy of h that takes no more memory than its buckets in use
// need, some hundred bytes for an interval: the form to keep many of.
func (h *Histogram) Packed() *Histogram {
	out := *h
	if h.packed == nil {
		out.buckets = buckets{}
		out.packed = hdrhistogram.NewPacked(1, histogramMax, h.buckets.figures)
		out.packed.MergeFrom(h.buckets.hdr())
	} else {
		out.packed = h.packed.Clone()
	}
	out.packed.Compact()
	return &out
}

// unpack gives h the array that recording needs.
func (h *Histogram) unpack() {
	h.buckets = newBuckets(int(h.packed.SignificantFigures()))
	h.buckets.addPacked(h.packed)
	h.packed = nil
}

// Count returns the number of durations recorded.
func (h *Histogram) Count() uint64 {
	switch {
	case h == nil:
		return 0
	case h.packed != nil:
		return uint64(h.packed.TotalCount())
	}
	return h.buckets.total
}

// Min returns the least duration, exactly; 0 if there is none.
func (h *Histogram) Min() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.min)
}

// Max returns the greatest duration, exactly; 0 if there is none.
func (h *Histogram) Max() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.max)
}

// Mean returns the mean duration in nanoseconds; 0 if there is none.
func (h *Histogram) Mean() float64 {
	if h.Count() == 0 {
		return 0
	}
	return h.sum() / float64(h.Count())
}

// sum returns the sum of all durations in nanoseconds, rounded.
func (h *Histogram) sum() float64 {
	if h.Count() == 0 {
		return 0
	}
	return math.Ldexp(float64(h.sumHigh), 64) + float64(h.sumLow)
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
	edge := h.edgeAtRank(rank)
	if edge >= histogramMax {
		// What is longer than histogramMax shares this bucket.
		edge = h.max
	}
	return time.Duration(max(min(edge, h.max), h.min))
}

// edgeAtRank returns the upper edge of the bucket that holds the rank-th
// smallest duration, 1 <= rank < Count.
func (h *Histogram) edgeAtRank(rank uint64) int64 {
	if h.packed == nil {
		return h.buckets.edgeAtRank(rank)
	}
	var seen uint64
	for low, count := range h.packed.ForEachBucket {
		if seen += uint64(count); seen >= rank {
			return low + bucketWidth(low, h.packed.SignificantFigures()) - 1
		}
	}
	return h.max
}

// bucketWidth returns the number of different values in ns that share a bucket
// with v: those of up to exactBits each have their own, and each further power
// of two doubles it.
func bucketWidth(v, figures int64) int64 {
	return 1 << max(bits.Len64(uint64(v))-exactBits(figures), 0)
}

// exactBits is the number of bits of the values that have a bucket each: those
// below the first power of two that is at least 2·10^figures.
func exactBits(figures int64) int {
	return bits.Len64(uint64(2*math.Pow10(int(figures))) - 1)
}
