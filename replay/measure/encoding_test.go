package measure

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func marshal(t testing.TB, h *Histogram) string {
	t.Helper()
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestHistogramRoundTrip(t *testing.T) {
	interval := newHistogram(intervalFigures)
	for _, d := range lognormal(500) {
		interval.Record(d)
	}
	for name, h := range map[string]*Histogram{
		"empty": NewHistogram(), "zero": record(0), "one": record(time.Second), "long": record(1, 1<<62),
		"ramp": record(ramp(3000)...), "interval": interval,
	} {
		text := marshal(t, h)
		if got := marshal(t, decoded(t, h)); got != text {
			t.Errorf("%s: decoded and encoded again:\n%s\nwant\n%s", name, got, text)
		}
		if got := marshal(t, h.Packed()); got != text {
			t.Errorf("%s: packed and encoded:\n%s\nwant\n%s", name, got, text)
		}
	}
}

// The buckets are those of the format, for any reader of it.
func TestHistogramIsReadByTheLibrary(t *testing.T) {
	h := record(ramp(100_000)...)
	var in histogramJSON
	if err := json.Unmarshal([]byte(marshal(t, h)), &in); err != nil {
		t.Fatal(err)
	}
	library, err := hdrhistogram.Decode([]byte(in.HDR))
	if err != nil {
		t.Fatal(err)
	}
	if library.TotalCount() != 100_000 || library.SignificantFigures() != 3 {
		t.Errorf("%d values at %d figures", library.TotalCount(), library.SignificantFigures())
	}
	for percent, want := range map[float64]time.Duration{50: 50_000, 99: 99_000, 99.9: 99_900} {
		wantNear(t, fmt.Sprintf("p%v", percent), time.Duration(library.ValueAtQuantile(percent)), want*time.Microsecond)
	}
}

func TestHistogramRefused(t *testing.T) {
	good := marshal(t, record(10, 20, 5000))
	var parts histogramJSON
	if err := json.Unmarshal([]byte(good), &parts); err != nil {
		t.Fatal(err)
	}
	foreign := func(least, greatest int64, figures int) string {
		library := hdrhistogram.New(least, greatest, figures)
		if err := library.RecordValue(1000); err != nil {
			t.Fatal(err)
		}
		b, err := library.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"count":1,"min_ns":1000,"max_ns":1000,"mean_ns":1000,"sum_ns":1000,"hdr":%q}`, b)
	}
	replaced := func(old, new string) string {
		out := strings.Replace(good, old, new, 1)
		if out == good {
			t.Fatalf("%s holds no %s", good, old)
		}
		return out
	}
	for _, c := range []struct{ name, text, want string }{
		{"another count", replaced(`"count":3`, `"count":4`), "3 values, 4 stated"},
		{"no buckets", replaced(parts.HDR, ""), "0 values, 3 stated"},
		{"a low minimum", replaced(`"min_ns":10`, `"min_ns":9`), "extremes 9 and 5000 are not those of the buckets"},
		{"a negative minimum", replaced(`"min_ns":10`, `"min_ns":-10`), "extremes -10 and 5000 are not those of the buckets"},
		{"a great maximum", replaced(`"max_ns":5000`, `"max_ns":9223372036854775807`), "extremes 10 and 9223372036854775807 are not those of the buckets"},
		{"a small sum", replaced(`"sum_ns":5030`, `"sum_ns":29`), `sum "29" is outside count times extremes`},
		{"a great sum", replaced(`"sum_ns":5030`, `"sum_ns":15001`), `sum "15001" is outside count times extremes`},
		{"a negative sum", replaced(`"sum_ns":5030`, `"sum_ns":-1`), `sum "-1", a whole number below 2^128 expected`},
		{"a fraction", replaced(`"sum_ns":5030`, `"sum_ns":5030.5`), `sum "5030.5", a whole number below 2^128 expected`},
		{"a sum of 129 bits", replaced(`"sum_ns":5030`, `"sum_ns":340282366920938463463374607431768211456`), "a whole number below 2^128 expected"},
		{"a sum without end", replaced(`"sum_ns":5030`, `"sum_ns":`+strings.Repeat("9", 1<<20)), "a whole number below 2^128 expected"},
		{"no base64", replaced(parts.HDR, "%"), "illegal base64 data"},
		{"few bytes", replaced(parts.HDR, "AAAA"), "3 bytes of buckets, at least 8 expected"},
		{"no zlib", replaced(parts.HDR, "AAAAAAAAAAAAAAAA"), "zlib: invalid header"},
		{"cut off", replaced(parts.HDR, parts.HDR[:len(parts.HDR)/2/4*4]), "unexpected EOF"},
		{"five figures", foreign(1, histogramMax, 5), "buckets of 5 figures, 2 or 3 expected"},
		{"another unit", foreign(1000, histogramMax, 3), "buckets for 1000 to 1000000000000000, 1 to 1000000000000000 expected"},
		{"another range", foreign(1, 1<<40, 3), "buckets for 1 to 1099511627776, 1 to 1000000000000000 expected"},
		{"extremes of nothing", `{"count":0,"min_ns":0,"max_ns":1,"mean_ns":0,"sum_ns":0}`, "no values, but extremes or a sum"},
		{"an unknown field", replaced(`"count"`, `"median":1,"count"`), `unknown field "median"`},
		{"a word", replaced(`"count":3`, `"count":"3"`), "cannot unmarshal string"},
	} {
		h := record(1)
		err := h.UnmarshalJSON([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want it to hold %q", c.name, err, c.want)
		}
		if h.Count() != 1 || h.Max() != 1 {
			t.Errorf("%s: the histogram was changed", c.name)
		}
	}
}

func FuzzHistogram(f *testing.F) {
	for _, h := range []*Histogram{NewHistogram(), record(0), record(10, 20, 5000), record(1, 1<<62), record(ramp(100)...)} {
		f.Add([]byte(marshal(f, h)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h := new(Histogram)
		if h.UnmarshalJSON(b) != nil {
			return
		}
		text := marshal(t, h)
		if got := marshal(t, decoded(t, h)); got != text {
			t.Errorf("encoded as %s, then as %s", text, got)
		}
		last := h.Min()
		for _, q := range []Q{P50, P90, P99, P9999, Max} {
			if got := h.Quantile(q).Value; got < last || got > h.Max() {
				t.Errorf("quantile %d is %v, after %v, with the greatest %v", q, got, last, h.Max())
			} else {
				last = got
			}
		}
		dense := NewHistogram()
		if err := dense.Merge(h); err != nil || dense.Count() != h.Count() || dense.Max() != h.Max() || dense.Mean() != h.Mean() {
			t.Errorf("merged: %v, count %d of %d", err, dense.Count(), h.Count())
		}
	})
}

func TestHDRIsReadByTheLibrary(t *testing.T) {
	some := newHistogram(intervalFigures)
	for i := range 1000 {
		some.Record(time.Duration(i) * time.Millisecond)
	}
	for name, h := range map[string]*Histogram{"nil": nil, "empty": NewHistogram(), "empty and packed": NewHistogram().Packed(), "some": some, "packed": some.Packed()} {
		encoded, err := h.HDR()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back, err := hdrhistogram.Decode(encoded)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if uint64(back.TotalCount()) != h.Count() {
			t.Errorf("%s: %d values, want %d", name, back.TotalCount(), h.Count())
		}
	}
}
