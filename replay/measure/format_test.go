package measure

import (
	"math"
	"testing"
	"time"
)

func TestFormatDuration(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0 ns"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1.00 µs"},
		{1004, "1.00 µs"},
		{1006, "1.01 µs"},
		{9_996, "10.0 µs"},
		{12_345, "12.3 µs"},
		{99_960, "100 µs"},
		{840_000, "840 µs"},
		{999_499, "999 µs"},
		{999_500, "1.00 ms"},
		{time.Second, "1.00 s"},
		{999 * time.Second, "999 s"},
		{1000 * time.Second, "16.7 min"},
		{100*time.Minute - time.Second, "1.67 h"},
		{2 * time.Hour, "2.00 h"},
		{1000 * time.Hour, "1000 h"},
		{math.MaxInt64, "2560000 h"},
		{-1500, "-1.50 µs"},
		{math.MinInt64, "-2560000 h"},
	} {
		if got := FormatDuration(c.d); got != c.want {
			t.Errorf("%d ns prints as %q, want %q", int64(c.d), got, c.want)
		}
	}
}

func TestFormatNumber(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"}, {1, "1"}, {0.1, "0.1"}, {1.0 / 3, "0.3333"}, {12.3456, "12.35"}, {99.999, "100"}, {999.96, "1000"},
		{1000, "1000"}, {123456.7, "123457"}, {1e9, "1000000000"}, {0.000012345, "0.00001234"}, {-2.5, "-2.5"}, {100, "100"},
		{math.NaN(), "n/a"}, {math.Inf(1), "n/a"},
	} {
		if got := FormatNumber(c.x); got != c.want {
			t.Errorf("%g prints as %q, want %q", c.x, got, c.want)
		}
	}
}
