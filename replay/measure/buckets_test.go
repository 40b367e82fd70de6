package measure

import (
	"math/rand/v2"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Every value falls in the bucket that the library gives it, at each power of
// two and beside it, and at random ones between.
func TestBucketsAreThoseOfTheLibrary(t *testing.T) {
	for _, figures := range []int{intervalFigures, phaseFigures} {
		var values []int64
		for v := int64(1); v <= histogramMax; v *= 2 {
			values = append(values, v-1, v, min(v+1, histogramMax))
			for range 20 {
				values = append(values, min(v+rand.Int64N(v), histogramMax))
			}
		}
		values = append(values, histogramMax)
		b := newBuckets(figures)
		library := hdrhistogram.New(1, histogramMax, figures)
		for _, v := range values {
			b.add(v, 3)
			if err := library.RecordValues(v, 3); err != nil {
				t.Fatal(err)
			}
			if low := b.lowest(b.index(v)); v < low || v >= b.lowest(b.index(v)+1) {
				t.Errorf("%d figures: %d is in the bucket from %d to %d", figures, v, low, b.lowest(b.index(v)+1)-1)
			}
		}
		if got := b.hdr(); !got.Equals(library) {
			t.Errorf("%d figures: %d values became %d in the library's form, or other ones", figures, library.TotalCount(), got.TotalCount())
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	values := make([]int64, 1<<12)
	for i := range values {
		values[i] = int64(rand.ExpFloat64() * 100_000)
	}
	b.Run("buckets", func(b *testing.B) {
		h := newBuckets(phaseFigures)
		for i := 0; b.Loop(); i++ {
			h.add(values[i%len(values)], 1)
		}
	})
	b.Run("library", func(b *testing.B) {
		h := hdrhistogram.New(1, histogramMax, phaseFigures)
		for i := 0; b.Loop(); i++ {
			if err := h.RecordValue(values[i%len(values)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
