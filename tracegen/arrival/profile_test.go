package arrival

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pianola/tracegen/random"
	"pianola/traces"
)

func mustProfile(t testing.TB, text string) Profile {
	t.Helper()
	p, err := ParseProfile(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

var profiles = []string{
	"step:10s@1000,20s@5000", "step:1s@0,1s@0.5,3s@0,1ns@1000000000,7s@3", "step:1h@123456.789",
	"ramp:1000..5000/60s", "ramp:5000..1/60s", "ramp:0..1000000000/1h", "ramp:0.000000001..7/3ns", "ramp:999999999.999999999..1/8760h",
	"burst:1000,2s@10000/60s", "burst:0,1ms@3/1s", "burst:7,333ms@0/1s", "burst:0.3,1ns@1000000000/2ns", "burst:1000000000,24h@999999999.999999999/2400h",
}

// plan is a profile of parts in numbers of any size.
type plan struct {
	parts   []part
	repeats bool
}

func planOf(p *Parts) plan { return plan{p.parts, p.length > 0} }

// upTo is N(t), exactly.
func (p plan) upTo(t *big.Int) *big.Rat {
	if !p.repeats {
		return p.once(t)
	}
	length := new(big.Int)
	for _, at := range p.parts {
		length.Add(length, integer(at.length))
	}
	cycles, rest := new(big.Int).QuoRem(t, length, new(big.Int))
	n := p.once(length)
	return n.Mul(n, new(big.Rat).SetInt(cycles)).Add(n, p.once(rest))
}

// once is N(t) without repetition.
func (p plan) once(t *big.Int) *big.Rat {
	n, left := new(big.Rat), new(big.Int).Set(t)
	for i, at := range p.parts {
		span, length := new(big.Int).Set(left), integer(at.length)
		if (i < len(p.parts)-1 || p.repeats) && span.Cmp(length) > 0 {
			span.Set(length)
		}
		left.Sub(left, span)
		s, rise := new(big.Rat).SetInt(span), new(big.Rat)
		if at.length > 0 {
			rise.SetFrac(new(big.Int).Sub(integer(at.to), integer(at.from)), integer(at.length))
		}
		rise.Mul(rise, s).Quo(rise, big.NewRat(2, 1)).Add(rise, new(big.Rat).SetInt(integer(at.from)))
		n.Add(n, rise.Mul(rise, s))
	}
	return n.Quo(n, new(big.Rat).SetInt(integer(nsPerSecond*nsPerSecond)))
}

// checkDue checks that N(due) <= n < N(due+1).
func checkDue(t *testing.T, text string, p Profile, n uint64) {
	t.Helper()
	due := p.Due(n)
	exact := planOf(p.(*Parts))
	want := new(big.Rat).SetInt(integer(n))
	if exact.upTo(integer(due)).Cmp(want) > 0 {
		t.Fatalf("%s: operation %d is due at %d, later than its time", text, n, due)
	}
	if due < MaxDue && exact.upTo(integer(due+1)).Cmp(want) <= 0 {
		t.Fatalf("%s: operation %d is due at %d, sooner than its time", text, n, due)
	}
}

func TestPartsAgainstRationals(t *testing.T) {
	src := random.NewStream(1, "profile").At(0)
	for _, text := range profiles {
		p := mustProfile(t, text)
		for n := range uint64(300) {
			checkDue(t, text, p, n)
		}
		for range 300 {
			n := src.Uint64() >> src.Below(64)
			checkDue(t, text, p, n)
			checkDue(t, text, p, n+1)
		}
	}
}

// TestProfilesCount compares Count with Due, and both with Fill.
func TestProfilesCount(t *testing.T) {
	src := random.NewStream(2, "profile").At(0)
	for _, text := range append(sines, profiles...) {
		p := mustProfile(t, text)
		first := uint64(0)
		for range 200 {
			due := p.Due(first)
			if due < MaxDue {
				if c := p.Count(time.Duration(due)); c > first {
					t.Fatalf("%s: %d operations are due before %d, when number %d is", text, c, due, first)
				}
				if c := p.Count(time.Duration(due + 1)); c <= first {
					t.Fatalf("%s: %d operations are due before %d, 1 ns after number %d", text, c, due+1, first)
				}
			}
			column := make([]uint64, 20)
			p.Fill(column, first)
			for j, got := range column {
				if want := p.Due(first + uint64(j)); got != want || j > 0 && got < column[j-1] {
					t.Fatalf("%s: column from %d on: operation %d is due at %d, want %d", text, first, j, got, want)
				}
			}
			first = src.Uint64() >> (20 + src.Below(44))
		}
		for _, d := range []time.Duration{math.MinInt64, -1, 0} {
			if n := p.Count(d); n != 0 {
				t.Errorf("%s: %d operations before %d", text, n, d)
			}
		}
		if p.Random() || p.Due(math.MaxUint64) != MaxDue {
			t.Errorf("%s: random %v, last operation due at %d", text, p.Random(), p.Due(math.MaxUint64))
		}
	}
}

// TestEqualRatesAreConstant compares flat profiles with Constant.
func TestEqualRatesAreConstant(t *testing.T) {
	c := mustConstant(t, 12345678, 1000)
	for _, text := range []string{"step:10s@12345.678,1s@12345.678", "ramp:12345.678..12345.678/60s", "burst:12345.678,1s@12345.678/3s"} {
		p := mustProfile(t, text)
		for _, n := range []uint64{0, 1, 2, 12345, 12346, 1_000_000, 1 << 40} {
			if got, want := p.Due(n), c.Due(n); got != want {
				t.Errorf("%s: operation %d is due at %d, want %d", text, n, got, want)
			}
		}
	}
}

var sines = []string{
	"sine:1000+-500/60s", "sine:1000+-1000/60s", "sine:1000000000+-0/10ms", "sine:500000000+-500000000/168h",
	"sine:0.5+-0.25/24h", "sine:3+-3/30ms",
}

// TestSineAgainstFloats compares nodes with the integral of the rate, and looks
// for one that falls.
func TestSineAgainstFloats(t *testing.T) {
	for _, text := range sines {
		s := mustProfile(t, text).(*Sine)
		mean, swing, turn := float64(s.mean)/1e9, float64(s.swing)/1e9, 2*math.Pi/(float64(s.period)*0.01)
		check := func(step uint64) {
			at := float64(step) * 0.01
			want := mean*at + swing/turn*2*math.Pow(math.Sin(turn*float64(step%s.period)*0.01/2), 2)
			if got := float64(s.node(step)); got > want+1e-12*want+1e-6 || got < want-1e-12*want-1-1e-6 {
				t.Fatalf("%s: %v operations by %v s, want %v rounded down", text, got, at, want)
			}
			if s.node(step+1) < s.node(step) {
				t.Fatalf("%s: fewer operations by step %d than by the one before", text, step+1)
			}
		}
		for step := range uint64(3000) {
			check(step)
			check(s.period*3/4 - min(s.period*3/4, 1500) + step) // the lowest rate
		}
		src := random.NewStream(3, "sine").At(0)
		for range 3000 {
			check(src.Below(100 * s.period))
		}
		if got := s.node(5 * s.period); math.Abs(float64(got)-5*mean*float64(s.period)*0.01) > 1 {
			t.Errorf("%s: %d operations in five periods", text, got)
		}
	}
}

// TestVersine compares with the Taylor series in rationals.
func TestVersine(t *testing.T) {
	one := new(big.Int).Lsh(big.NewInt(1), 126)
	for _, y := range []wide{{}, {0, 1}, {1, 1}, {1 << 60, 12345}, {1 << 62, 0}, {0x6487ed5110b4611a, 0}, halfPi} {
		x := new(big.Rat).SetFrac(y.big(), one)
		term, sum := big.NewRat(1, 1), new(big.Rat)
		for k := int64(2); k < 50; k += 2 {
			term.Mul(term, x).Mul(term, x).Quo(term, big.NewRat(-k*(k-1), 1))
			sum.Sub(sum, term)
		}
		got := new(big.Rat).SetFrac(versineOf(y).big(), one)
		if off, _ := got.Sub(got, sum).Float64(); math.Abs(off) > math.Ldexp(1, -112) {
			t.Errorf("versine of %v is off by %v", y, off)
		}
	}
}

// TestSineStays holds due times, the same on every architecture.
func TestSineStays(t *testing.T) {
	p := mustProfile(t, "sine:300000+-299999.5/86400s")
	for n, want := range map[uint64]uint64{1: 3333, 1_000_000_007: 3006066307860, 20_000_000_003: 39626465841951, 1_000_000_000_000: 3312380251076313} {
		if got := p.Due(n); got != want {
			t.Errorf("operation %d is due at %d, want %d", n, got, want)
		}
	}
}

func TestMeanAndPeak(t *testing.T) {
	for _, c := range []struct {
		text string
		d    time.Duration
		mean traces.Rate
		peak float64
	}{
		{"step:10s@1000,20s@5000", 30 * time.Second, traces.Rate{Numerator: 11000, Denominator: 3}, 5000},
		{"step:10s@1000,20s@5000", 10 * time.Second, traces.Rate{Numerator: 1000, Denominator: 1}, 5000},
		{"ramp:1000..5000/60s", time.Minute, traces.Rate{Numerator: 3000, Denominator: 1}, 5000},
		{"ramp:1000..5000/60s", 2 * time.Minute, traces.Rate{Numerator: 4000, Denominator: 1}, 5000},
		{"ramp:5000..0.5/60s", time.Minute, traces.Rate{Numerator: 10001, Denominator: 4}, 5000},
		{"sine:1000+-500/60s", time.Minute, traces.Rate{Numerator: 1000, Denominator: 1}, 1500},
		{"burst:1000,2s@10000/60s", time.Hour, traces.Rate{Numerator: 1300, Denominator: 1}, 10000},
	} {
		p := mustProfile(t, c.text)
		if got := p.Mean(c.d); math.Abs(got.PerSecond()-c.mean.PerSecond()) > 1e-9 {
			t.Errorf("%s: mean %v, want %v", c.text, got, c.mean)
		}
		if got := p.Peak().PerSecond(); got != c.peak {
			t.Errorf("%s: peak %v, want %v", c.text, got, c.peak)
		}
	}
}

func TestParseProfile(t *testing.T) {
	for text, want := range map[string]string{
		"step:10s@1000,20s@5000":     "step:10s@1000,20s@5000",
		"step:60000ms@01000.50,1s@5": "step:1m0s@1000.5,1s@5",
		"ramp:0..5/1m":               "ramp:0..5/1m0s",
		"sine:1000±500/60s":          "sine:1000+-500/1m0s",
		"burst:1000,2s@10000/60s":    "burst:1000,2s@10000/1m0s",
	} {
		p := mustProfile(t, text)
		if p.String() != want || mustProfile(t, want).String() != want {
			t.Errorf("%s: %s, want %s", text, p, want)
		}
	}
	for text, want := range map[string]string{
		"step":                      "no colon",
		"stepp:1s@1":                "unknown word",
		"step:":                     "not DURATION@RATE",
		"step:1s@1,":                "not DURATION@RATE",
		"step:1@1":                  "not a duration",
		"step:0s@1":                 "not a duration above 0",
		"step:1s@1,1s@0":            "the last step",
		"step:1s@-1":                "not a rate",
		"step:1s@1e3":               "not a rate",
		"step:1s@1.":                "not a rate",
		"step:1s@0.0000000001":      "not a rate",
		"step:1s@1000000000.000001": "more than 10^9",
		"step:2562047h@1,2h@1,1s@1": "longer than",
		"step:" + strings.Repeat("1s@1,", 1000) + "1s@1": "1001 steps",
		"ramp:1..2":                    "not RATE..RATE/DURATION",
		"ramp:1..0/1s":                 "ends without operations",
		"ramp:1.2/1s":                  "not RATE..RATE/DURATION",
		"sine:1+-2/1s":                 "a swing of 2",
		"sine:0+-0/1s":                 "a swing of 0",
		"sine:1+-1/15ms":               "a period of 15ms",
		"sine:1+-1/169h":               "a period of 169h",
		"sine:600000000+-500000000/1s": "more than 10^9",
		"sine:1-1/1s":                  "not RATE+-SWING/PERIOD",
		"burst:1,2s@3/2s":              "a burst of 2s",
		"burst:0,2s@0/3s":              "no operations",
		"burst:1/2s":                   "not RATE,DURATION@RATE/PERIOD",
	} {
		if p, err := ParseProfile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %v, want an error with %q", text, p, err, want)
		}
	}
}

func FuzzParseProfile(f *testing.F) {
	for _, text := range append(sines, profiles...) {
		f.Add(text, uint64(12345))
	}
	f.Fuzz(func(t *testing.T, text string, n uint64) {
		p, err := ParseProfile(text)
		if err != nil {
			return
		}
		again, err := ParseProfile(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q: %q is read as %v, %v", text, p, again, err)
		}
		due := p.Due(n)
		if due > MaxDue || again.Due(n) != due {
			t.Fatalf("%q: operation %d is due at %d and %d", text, n, due, again.Due(n))
		}
		if next := p.Due(n + 1); n+1 > n && next < due {
			t.Fatalf("%q: operation %d is due at %d, the next at %d", text, n, due, next)
		}
		if due < MaxDue && (p.Count(time.Duration(due)) > n || p.Count(time.Duration(due+1)) <= n) {
			t.Fatalf("%q: operation %d is due at %d; before it %d, 1 ns later %d", text, n, due, p.Count(time.Duration(due)), p.Count(time.Duration(due+1)))
		}
	})
}

func TestWide(t *testing.T) {
	src := random.NewStream(4, "wide").At(0)
	any64 := func() uint64 { return src.Uint64() >> src.Below(65) }
	for range 100_000 {
		a, b, n, d := wide{any64(), any64()}, wide{any64(), any64()}, any64(), any64()|1
		if b != (wide{}) {
			want := new(big.Int).Quo(a.big(), b.big())
			if want.IsUint64() && a.overWide(b) != want.Uint64() {
				t.Fatalf("%v / %v is %d, want %v", a, b, a.overWide(b), want)
			}
		}
		exact := new(big.Int).Mul(a.big(), integer(n))
		down, rest := exact.QuoRem(exact, integer(d), new(big.Int))
		if down.BitLen() > 127 {
			continue
		}
		if got := a.scaled(n, d, false); got.big().Cmp(down) != 0 {
			t.Fatalf("%v·%d/%d is %v, want %v", a, n, d, got, down)
		}
		if rest.Sign() > 0 {
			down.Add(down, big.NewInt(1))
		}
		if got := a.scaled(n, d, true); got.big().Cmp(down) != 0 {
			t.Fatalf("%v·%d/%d rounded up is %v, want %v", a, n, d, got, down)
		}
		high := new(big.Int).Mul(a.big(), b.big())
		high.Rsh(high, 128)
		if high.Sub(high, a.high128(b).big()); !high.IsUint64() || high.Uint64() > 2 {
			t.Fatalf("%v·%v/2^128 is off by %v", a, b, high)
		}
	}
}

func TestProfilesAllocateNothing(t *testing.T) {
	for _, text := range []string{"step:10s@1000,20s@5000", "ramp:1000..5000/60s", "sine:1000+-500/60s", "burst:1000,2s@10000/60s"} {
		p, due := mustProfile(t, text), make([]uint64, 1000)
		if n := testing.AllocsPerRun(10, func() { p.Fill(due, 1<<30) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkProfiles(b *testing.B) {
	for _, text := range []string{"step:10s@1000,20s@5000", "ramp:1000..5000/60s", "sine:1000+-500/60s", "burst:1000,2s@10000/60s"} {
		p, due := mustProfile(b, text), make([]uint64, 65536)
		b.Run(text, func(b *testing.B) {
			for n := 0; n < b.N; n += len(due) {
				p.Fill(due, uint64(n))
			}
		})
	}
}
