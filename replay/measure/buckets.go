package measure

import (
	"fmt"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// buckets is the array of counts of an HdrHistogram for 1 to histogramMax ns,
// laid out as the library lays out its own. It exists since every op is counted
// in several: adding here takes a few ns, in the library, which finds its range
// and its unit again for each value, more than twice as long; a benchmark
// compares them.
type buckets struct {
	counts []int64
	total  uint64
	// halves is the base-2 logarithm of the number of buckets for each power of
	// two, which is half of the number of values that have one each.
	halves  uint8
	figures int
}

// bucketShape returns buckets without counts, which know their indexes.
func bucketShape(figures int) buckets {
	return buckets{figures: figures, halves: uint8(exactBits(int64(figures)) - 1)}
}

func newBuckets(figures int) buckets {
	b := bucketShape(figures)
	b.counts = make([]int64, b.index(histogramMax)|(1<<b.halves-1)+1)
	return b
}

// index returns the index of v's bucket, 0 <= v <= histogramMax. Values of up
// to halves+1 bits have a bucket each; longer ones share it by their leading
// bits, as many to a power of two.
func (b *buckets) index(v int64) int { return indexOf(v, b.halves) }

func indexOf(v int64, halves uint8) int {
	shift := bits.Len64(uint64(v)|1<<(halves&63)) - int(halves) - 1
	return shift<<(halves&63) + int(v>>(shift&63))
}

// lowest returns the least value of the bucket with the given index.
func (b *buckets) lowest(index int) int64 {
	shift := max(index>>b.halves, 1) - 1
	return int64(index-shift<<b.halves) << shift
}

// add counts v n times.
func (b *buckets) add(v, n int64) {
	b.counts[b.index(v)] += n
	b.total += uint64(n)
}

// addAll counts each value once; negative ones count as 0, those above
// histogramMax as that.
func (b *buckets) addAll(values []int64) {
	counts, halves := b.counts, b.halves
	for _, v := range values {
		counts[indexOf(min(max(v, 0), histogramMax), halves)]++
	}
	b.total += uint64(len(values))
}

func (b *buckets) reset() {
	clear(b.counts)
	b.total = 0
}

// merge adds the counts of o, which must have the same figures or finer ones.
func (b *buckets) merge(o *Histogram) error {
	if o.packed != nil {
		if finer := int(o.packed.SignificantFigures()); finer < b.figures {
			return fmt.Errorf("%d significant figures into %d", finer, b.figures)
		}
		b.addPacked(o.packed)
		return nil
	}
	switch {
	case o.buckets.figures < b.figures:
		return fmt.Errorf("%d significant figures into %d", o.buckets.figures, b.figures)
	case o.buckets.figures > b.figures:
		for i, n := range o.buckets.counts {
			if n > 0 {
				b.add(o.buckets.lowest(i), n)
			}
		}
		return nil
	}
	for i, n := range o.buckets.counts {
		b.counts[i] += n
	}
	b.total += o.buckets.total
	return nil
}

func (b *buckets) addPacked(p *hdrhistogram.PackedHistogram) {
	for low, n := range p.ForEachBucket {
		b.add(low, n)
	}
}

// edgeAtRank returns the upper edge of the bucket that holds the rank-th
// smallest value, 1 <= rank <= total.
func (b *buckets) edgeAtRank(rank uint64) int64 {
	var seen uint64
	for i, n := range b.counts {
		if seen += uint64(n); seen >= rank {
			return b.lowest(i+1) - 1
		}
	}
	return histogramMax
}

// hdr returns the counts as the library's histogram.
func (b *buckets) hdr() *hdrhistogram.Histogram {
	return hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue: 1, HighestTrackableValue: histogramMax, SignificantFigures: int64(b.figures), Counts: b.counts,
	})
}
