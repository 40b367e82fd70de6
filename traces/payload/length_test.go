package payload

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
)

func mustLength(t testing.TB, l Length, err error) Length {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func uniform(t testing.TB, least, most int) Length {
	l, err := UniformLength(least, most)
	return mustLength(t, l, err)
}

func zipfian(t testing.TB, least, most int) Length {
	l, err := ZipfianLength(least, most)
	return mustLength(t, l, err)
}

func histogram(t testing.TB, bucketBytes int, weights ...uint64) Length {
	l, err := HistogramLength(bucketBytes, weights)
	return mustLength(t, l, err)
}

func TestLengthLawsHaveOneText(t *testing.T) {
	const huge = MaxValueBytes
	for _, c := range []struct {
		law       Length
		text      string
		min, most int
	}{
		{Length{}, "constant 0", 0, 0},
		{Length{Constant: huge}, "constant 268435456", huge, huge},
		{uniform(t, 0, 1), "uniform 0 1", 0, 1},
		{uniform(t, 1, huge), "uniform 1 268435456", 1, huge},
		{uniform(t, 7, 7), "constant 7", 7, 7},
		{zipfian(t, 0, huge), "zipfian 0 268435456", 0, huge},
		{zipfian(t, 7, 7), "constant 7", 7, 7},
		{histogram(t, 10, 5, 3, 2), "histogram 10 5 3 2", 10, 30},
		{histogram(t, 10, 0, 3, 0, 2, 0), "histogram 10 0 3 0 2", 20, 40},
		{histogram(t, 10, 0, 0, 3), "constant 30", 30, 30},
		{histogram(t, huge/2, 1, 1<<62), "histogram 134217728 1 4611686018427387904", huge / 2, huge},
	} {
		if got := c.law.String(); got != c.text || c.law.Min() != c.min || c.law.Max() != c.most {
			t.Errorf("%q from %d to %d, want %q from %d to %d", got, c.law.Min(), c.law.Max(), c.text, c.min, c.most)
		}
		again, err := ParseLength(c.text)
		if err != nil || again.String() != c.text || again.check() != nil {
			t.Errorf("ParseLength(%q) = %q, %v", c.text, again, err)
		}
	}
}

func TestTextsThatAreNoLengthLaw(t *testing.T) {
	for _, s := range []string{
		"", "constant", "constant ", "constant -1", "constant +1", "constant 01", "constant 1 ", "constant  1",
		"constant 268435457", "constant 99999999999999999999", "Constant 1", "constant 1 2", "constant 0x1",
		"uniform", "uniform 1", "uniform 2 1", "uniform 5 5", "uniform 1 268435457", "uniform 1 2 3", "uniform -1 1",
		"zipfian 5 5", "zipfian 1", "zipfian 2 1", "zipfian 1 268435457",
		"histogram 10", "histogram 0 1 1", "histogram 10 0", "histogram 10 1", "histogram 10 1 0", "histogram 10 0 0 1",
		"histogram 134217729 1 1", "histogram 1 9223372036854775807 1", "histogram 10 1,1", "histogram 10 1 01",
		"histogram 1" + strings.Repeat(" 1", MaxBuckets+1), "normal 1 2",
	} {
		if l, err := ParseLength(s); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%.40q", s)[:min(len(s), 40)]) || len(err.Error()) > 200 {
			t.Errorf("ParseLength(%q) = %v, %v", s, l, err)
		}
	}
	if l, err := ParseLength("histogram 1" + strings.Repeat(" 1", MaxBuckets)); err != nil || l.Max() != MaxBuckets {
		t.Errorf("the largest histogram: %v, %v", l.Max(), err)
	}
}

func TestLengthLawsThatCantBe(t *testing.T) {
	for _, c := range []struct {
		of   func() (Length, error)
		want string
	}{
		{func() (Length, error) { return UniformLength(-1, 1) }, "value lengths from -1 to 1, possible are 0 to 268435456"},
		{func() (Length, error) { return ZipfianLength(3, 2) }, "value lengths from 3 to 2, possible are 0 to 268435456"},
		{func() (Length, error) { return HistogramLength(1, nil) }, "histogram of value lengths: the weights sum to 0"},
		{func() (Length, error) { return HistogramLength(1, []uint64{1<<63 - 1, 1}) }, "histogram of value lengths: the weights sum to 2^63 or more"},
		{func() (Length, error) { return HistogramLength(1<<27+1, []uint64{1, 1}) },
			"histogram of value lengths: 2 buckets of 134217729 bytes, values have 1 to 268435456 bytes"},
	} {
		if _, err := c.of(); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// Zeta and eta are YCSB's own to the last digits.
func TestZipfianConstantsAreYCSBs(t *testing.T) {
	text, err := os.ReadFile("testdata/zipf_constants.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		n, err := strconv.Atoi(columns[0])
		if err != nil {
			continue // the line of names
		}
		rows++
		z := zipfian(t, 0, n-1).law.(*zipfianLength)
		for i, got := range []float64{z.zeta, z.eta, 100, zeta2} {
			want, err := strconv.ParseFloat(columns[1+i], 64)
			if err != nil || math.Abs(got/want-1) > 1e-11 {
				t.Errorf("%d items, column %d: %v, want %v", n, 1+i, got, want)
			}
		}
	}
	if rows != 5 {
		t.Errorf("%d rows, want 5", rows)
	}
}

// The ranks that YCSB's formula gives for these u, as its own code prints them.
func TestZipfianRanksAreYCSBs(t *testing.T) {
	us := []float64{0, .05, .1, .2, .25, .3, .4, .5, .6, .7, .8, .9, .99, .999999}
	for n, ranks := range map[int][]int{
		100:     {0, 0, 0, 1, 1, 2, 3, 6, 11, 19, 34, 58, 94, 99},
		1000:    {0, 0, 0, 2, 3, 4, 10, 22, 47, 103, 221, 471, 927, 999},
		10000:   {0, 0, 1, 3, 5, 9, 26, 74, 201, 542, 1447, 3821, 9086, 9999},
		100000:  {0, 0, 1, 5, 10, 20, 72, 251, 856, 2875, 9518, 31066, 89021, 99998},
		1000000: {0, 0, 2, 9, 20, 44, 197, 860, 3676, 15380, 63060, 253526, 872507, 999986},
	} {
		l := zipfian(t, 7, n+6)
		for i, u := range us {
			if got := l.law.of(uint64(u * (1 << 63) * 2)); got != 7+ranks[i] {
				t.Errorf("%d lengths, u = %v: rank %d, want %d", n, u, got-7, ranks[i])
			}
		}
	}
}

func TestZipfianLengthsAtTheEnds(t *testing.T) {
	for _, n := range []int{2, 3, 4, 100, MaxValueBytes} {
		l := zipfian(t, 1, n)
		if first, last := l.law.of(0), l.law.of(math.MaxUint64); first != 1 || last > n || last < n-n/1000 {
			t.Errorf("1 to %d: from %d to %d", n, first, last)
		}
	}
}

// chiSquare draws lengths of values and holds their numbers to the shares that
// the law states. Both ends of 10^-9 are refused.
func chiSquare(t *testing.T, l Length, share func(length int) float64) {
	t.Helper()
	const draws = 400_000
	count := map[int]int{}
	f := Fields{Count: 10, Length: l}
	for i := range uint64(draws) {
		count[f.ValueBytes(1, i>>3, int(i&3), i)]++
	}
	sum, cells, rest := 0.0, 0, 1.0
	seen := 0
	for n := l.Min(); n <= l.Max(); n++ {
		seen += count[n]
		want := share(n)
		rest -= want
		if want == 0 {
			if count[n] > 0 {
				t.Errorf("%v gives %d, which it must not", l, n)
			}
			continue
		}
		d := float64(count[n]) - want*draws
		sum += d * d / (want * draws)
		cells++
	}
	if seen != draws || math.Abs(rest) > 1e-9 {
		t.Errorf("%v: %d of %d draws in range, shares short of 1 by %v", l, seen, draws, rest)
	}
	// Wilson and Hilferty: the cube root of chi-square over its freedom is normal.
	k := float64(cells - 1)
	z := (math.Cbrt(sum/k) - (1 - 2/(9*k))) / math.Sqrt(2/(9*k))
	if math.Abs(z) > 6 {
		t.Errorf("%v: chi-square %.1f over %v degrees of freedom, %.1f standard deviations away", l, sum, k, z)
	}
}

func TestLengthsFollowTheirLaws(t *testing.T) {
	chiSquare(t, uniform(t, 3, 57), func(int) float64 { return 1.0 / 55 })
	chiSquare(t, histogram(t, 7, 5, 0, 3, 2), func(n int) float64 {
		return map[int]float64{7: .5, 21: .3, 28: .2}[n]
	})
	// The shares of Gray's formula, inverted: u(k) is where rank k begins.
	for _, n := range []int{2, 3, 100} {
		z := zetaExactly(n)
		eta := 1.0
		if n > 2 {
			eta = (1 - math.Pow(2/float64(n), .01)) / (1 - zeta2/z)
		}
		begin := func(k int) float64 {
			switch {
			case k <= 0:
				return 0
			case k == 1:
				return 1 / z
			case k >= n:
				return 1
			}
			return max(zeta2/z, 1-(1-math.Pow(float64(k)/float64(n), .01))/eta)
		}
		chiSquare(t, zipfian(t, 20, 19+n), func(length int) float64 { return begin(length-19) - begin(length-20) })
	}
}

func zetaExactly(n int) float64 {
	sum := new(big.Float)
	for i := 1; i <= n; i++ {
		sum.Add(sum, big.NewFloat(math.Pow(float64(i), -.99)))
	}
	z, _ := sum.Float64()
	return z
}

// A length depends on each of the four numbers that name a value.
func TestLengthsDependOnWhatNamesTheValue(t *testing.T) {
	f := Fields{Count: 100, Length: uniform(t, 0, 1<<20)}
	base := f.ValueBytes(1, 2, 3, 4)
	for _, other := range []int{f.ValueBytes(2, 2, 3, 4), f.ValueBytes(1, 3, 3, 4), f.ValueBytes(1, 2, 4, 4), f.ValueBytes(1, 2, 3, 5)} {
		if other == base {
			t.Errorf("two values are both %d bytes long", base)
		}
	}
	if again := f.ValueBytes(1, 2, 3, 4); again != base {
		t.Errorf("%d bytes, then %d", base, again)
	}
}

func FuzzParseLength(f *testing.F) {
	for _, s := range []string{"constant 100", "constant 0x10", "uniform 1 100", "zipfian 1 100", "histogram 10 5 3 2", "histogram 10 0 0 1 0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseLength(s)
		if err != nil {
			return
		}
		if l.String() != s || l.check() != nil || l.Min() < 0 || l.Min() > l.Max() || l.Max() > MaxValueBytes {
			t.Errorf("ParseLength(%q) = %v from %d to %d", s, l, l.Min(), l.Max())
		}
		for _, word := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
			if n := l.of(word); n < l.Min() || n > l.Max() {
				t.Errorf("%v gives %d", l, n)
			}
		}
	})
}
