package measure

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// record returns a histogram of the given durations.
func record(durations ...time.Duration) *Histogram {
	h := NewHistogram()
	for _, d := range durations {
		h.Record(d)
	}
	return h
}

// ramp returns 1 µs, 2 µs … n µs.
func ramp(n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(i+1) * time.Microsecond
	}
	return out
}

// lognormal returns n durations around 1 ms with a long tail, shuffled.
func lognormal(n int) []time.Duration {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(1e6 * math.Exp(random.NormFloat64()*2))
	}
	return out
}

func decoded(t *testing.T, h *Histogram) *Histogram {
	t.Helper()
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	out := new(Histogram)
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// wantNear checks that got is want or up to one in a thousand above.
func wantNear(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got < want || float64(got-want) > float64(want)/1000 {
		t.Errorf("%s: got %v, want %v or up to 0.1 %% more", what, got, want)
	}
}

func TestAtRankIsTheRankthSmallest(t *testing.T) {
	for name, durations := range map[string][]time.Duration{"ramp": ramp(100_000), "lognormal": lognormal(5_000)} {
		t.Run(name, func(t *testing.T) {
			h := record(durations...)
			forms := map[string]*Histogram{"recorded": h, "packed": h.Packed(), "decoded": decoded(t, h)}
			slices.Sort(durations)
			step := max(len(durations)/5_000, 1)
			for rank := 1; rank <= len(durations); rank += step {
				for form, h := range forms {
					wantNear(t, form, h.AtRank(uint64(rank)), durations[rank-1])
				}
			}
			for form, h := range forms {
				if got := h.AtRank(uint64(len(durations))); got != durations[len(durations)-1] {
					t.Errorf("%s: the last rank is %v, want the exact greatest %v", form, got, durations[len(durations)-1])
				}
			}
		})
	}
}

// A count that is found by a percentage must not slip by one, however great.
func TestAtRankIsExactForGreatCounts(t *testing.T) {
	const many = 5_000_000_000
	h := NewHistogram()
	for i, v := range []int64{100, 200, 300} {
		h.buckets.add(v, many+int64(i))
	}
	h.min, h.max = 100, 300
	for rank, want := range map[uint64]time.Duration{
		1: 100, many: 100, many + 1: 200, 2*many + 1: 200, 2*many + 2: 300, 3*many + 3: 300,
	} {
		for form, h := range map[string]*Histogram{"recorded": h, "packed": h.Packed()} {
			if got := h.AtRank(rank); got != want {
				t.Errorf("%s: rank %d is %v, want %v", form, rank, got, want)
			}
		}
	}
}

func TestExtremesAreExact(t *testing.T) {
	for _, c := range []struct {
		name      string
		durations []time.Duration
	}{
		{"nothing", []time.Duration{0}},
		{"one nanosecond", []time.Duration{1}},
		{"odd figures", []time.Duration{17_115_001, 1_234_567_891}},
		{"two hours", []time.Duration{time.Millisecond, 2 * time.Hour}},
		{"146 years", []time.Duration{1, 1 << 62}},
		{"all beyond the range", []time.Duration{2 * time.Duration(histogramMax), 1 << 62}},
		{"the longest", []time.Duration{math.MaxInt64}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := record(c.durations...)
			for form, h := range map[string]*Histogram{"recorded": h, "packed": h.Packed(), "decoded": decoded(t, h)} {
				if h.Count() != uint64(len(c.durations)) || h.Min() != c.durations[0] || h.Max() != c.durations[len(c.durations)-1] {
					t.Errorf("%s: count %d, extremes %v and %v of %v", form, h.Count(), h.Min(), h.Max(), c.durations)
				}
			}
		})
	}
}

// A time beyond the range prints as the exact maximum, never as the range's end.
func TestTheEndOfTheRangeIsNeverAValue(t *testing.T) {
	long := 3 * time.Duration(histogramMax)
	h := record(1, 2*time.Duration(histogramMax), long)
	for form, h := range map[string]*Histogram{"recorded": h, "packed": h.Packed(), "decoded": decoded(t, h)} {
		if got := h.AtRank(2); got != long {
			t.Errorf("%s: rank 2 is %v, want the greatest, %v", form, got, long)
		}
	}
}

func TestQuantilesNeverFall(t *testing.T) {
	for name, durations := range map[string][]time.Duration{
		"wide":      {0, 1, 1 << 62},
		"lognormal": lognormal(777),
		"equal":     {5, 5, 5},
	} {
		h := record(durations...)
		last := h.Min()
		for _, q := range []Q{0, 1, P50, P90, P95, P99, P999, P9999, Max, Max + 1, math.MaxUint64} {
			got := h.Quantile(q).Value
			if got < last || got > h.Max() {
				t.Errorf("%s: quantile %d is %v, after %v, with the greatest %v", name, q, got, last, h.Max())
			}
			last = got
		}
	}
}

func TestMergeDoesNotDependOnTheNumberOfRecorders(t *testing.T) {
	durations := lognormal(10_000)
	want, err := json.Marshal(record(durations...))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 64} {
		recorders := make([]*Histogram, n)
		for i := range recorders {
			recorders[i] = NewHistogram()
		}
		for i, d := range durations {
			// Half of all go to the first one.
			recorders[(i%(2*n))%(n+1)%n].Record(d)
		}
		all := NewHistogram()
		for i, h := range recorders {
			if i%2 == 1 {
				h = h.Packed()
			}
			if err := all.Merge(h); err != nil {
				t.Fatal(err)
			}
		}
		got, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%d recorders: %.200s, want %.200s", n, got, want)
		}
	}
}

func TestMergeOfNothingChangesNothing(t *testing.T) {
	h := record(5, 7)
	for _, o := range []*Histogram{nil, NewHistogram(), NewHistogram().Packed()} {
		if err := h.Merge(o); err != nil {
			t.Fatal(err)
		}
	}
	if h.Count() != 2 || h.Min() != 5 || h.Max() != 7 || h.Mean() != 6 {
		t.Errorf("count %d, min %v, max %v, mean %v", h.Count(), h.Min(), h.Max(), h.Mean())
	}
}

func TestADecodedHistogramCanBeRecordedIntoAndMergedInto(t *testing.T) {
	h := decoded(t, record(5, 7))
	h.Record(9)
	if err := h.Merge(record(11)); err != nil {
		t.Fatal(err)
	}
	if h.Count() != 4 || h.Min() != 5 || h.Max() != 11 || h.Mean() != 8 || h.AtRank(3) != 9 {
		t.Errorf("count %d, min %v, max %v, mean %v, third %v", h.Count(), h.Min(), h.Max(), h.Mean(), h.AtRank(3))
	}
}

func TestPackedIsACopy(t *testing.T) {
	h := newHistogram(intervalFigures)
	h.Record(5)
	once := h.Packed()
	twice := once.Packed()
	h.Reset()
	once.Reset()
	if h.Count() != 0 || h.Max() != 0 || h.Min() != 0 || h.Mean() != 0 || once.Count() != 0 {
		t.Error("Reset leaves values behind")
	}
	h.Record(3)
	once.Record(4)
	if twice.Count() != 1 || twice.Max() != 5 {
		t.Errorf("the copy changed: count %d, max %v", twice.Count(), twice.Max())
	}
	if once.Min() != 4 || h.Max() != 3 {
		t.Errorf("recorded after Reset: min %v, max %v", once.Min(), h.Max())
	}
}

func TestMeanIsExactBeyond64Bits(t *testing.T) {
	h := NewHistogram()
	for range 10 {
		h.Record(1 << 62)
	}
	if err := h.Merge(record(1<<62, 1<<62)); err != nil {
		t.Fatal(err)
	}
	for form, h := range map[string]*Histogram{"recorded": h, "decoded": decoded(t, h)} {
		if got := h.Mean(); got != 1<<62 {
			t.Errorf("%s: mean %g, want 2^62", form, got)
		}
	}
}

func TestNilAndEmptyHistograms(t *testing.T) {
	for name, h := range map[string]*Histogram{"nil": nil, "new": NewHistogram(), "decoded": decoded(t, NewHistogram())} {
		if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.AtRank(1) != 0 || !h.Quantile(P99).None {
			t.Errorf("%s: not empty", name)
		}
	}
}

func TestNegativeDurationsCountAsZero(t *testing.T) {
	if h := record(-5); h.Count() != 1 || h.Max() != 0 || h.Mean() != 0 {
		t.Errorf("count %d, max %v, mean %v", h.Count(), h.Max(), h.Mean())
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	h, d := NewHistogram(), time.Duration(1)
	if n := testing.AllocsPerRun(1000, func() {
		h.Record(d)
		d = d*3%math.MaxInt64 + 1
		h.Record(math.MaxInt64)
	}); n != 0 {
		t.Errorf("%v allocations per record", n)
	}
}

func TestBucketWidthIsTheLibrarys(t *testing.T) {
	for _, figures := range []int{intervalFigures, phaseFigures} {
		for _, v := range []int64{0, 1, 127, 128, 255, 256, 257, 511, 512, 2047, 2048, 2049, 4095, 4096, 1e6 + 1, 1e9 + 7, histogramMax} {
			// The library gives the upper edge of v's bucket as its only value.
			library := hdrhistogram.New(1, histogramMax, figures)
			if err := library.RecordValue(v); err != nil {
				t.Fatal(err)
			}
			width := bucketWidth(v, int64(figures))
			if got, want := v/width*width+width-1, library.ValueAtQuantile(100); got != want {
				t.Errorf("%d figures: the bucket of %d ends at %d, want %d", figures, v, got, want)
			}
		}
	}
}
