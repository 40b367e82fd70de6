package replay

import (
	"math"
	"runtime/metrics"
	"testing"
	"time"
)

func TestLatenciesBetweenTwoReadings(t *testing.T) {
	buckets := []float64{0, 1e-6, 1e-3, 1, math.Inf(1)}
	reading := func(counts ...uint64) *metrics.Float64Histogram {
		return &metrics.Float64Histogram{Counts: counts, Buckets: buckets}
	}
	for _, c := range []struct {
		before, after *metrics.Float64Histogram
		p99, greatest time.Duration
	}{
		{reading(5, 0, 0, 0), reading(1004, 0, 1, 0), time.Microsecond, time.Second},
		{reading(5, 0, 7, 0), reading(5, 1, 7, 0), time.Millisecond, time.Millisecond},
		{reading(5, 0, 7, 1), reading(5, 0, 7, 2), time.Second, time.Second}, // no upper edge: the lower one
		{reading(5, 0, 7, 1), reading(5, 0, 7, 1), 0, 0},
		{nil, reading(1, 0, 0, 0), 0, 0},
	} {
		if p99, greatest := latenciesBetween(c.before, c.after); p99 != c.p99 || greatest != c.greatest {
			t.Errorf("%v to %v: p99 %v, greatest %v, want %v, %v", c.before, c.after, p99, greatest, c.p99, c.greatest)
		}
	}
}
