package arrival

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
	"pianola/traces"
)

func TestTick(t *testing.T) {
	for _, c := range []struct {
		num, den uint64
		want     time.Duration
	}{
		{1, 10, time.Microsecond},
		{1, 1, time.Microsecond},
		{10_000, 1, time.Microsecond}, // a hundredth of 100 µs
		{10_001, 1, 100},
		{100_000, 1, 100},
		{100_001, 1, 10},
		{300_000, 1, 10},
		{1_000_000, 1, 10},
		{1_000_001, 1, 1},
		{10_000_000, 1, 1},
		{1_000_000_000, 1, 1},
		{20_001, 2, 100},
		{math.MaxUint64, math.MaxUint64, time.Microsecond},
		{math.MaxUint64, 1, 1},
		{1, math.MaxUint64, time.Microsecond},
		{0, 1, time.Microsecond},
	} {
		if got := Tick(traces.Rate{Numerator: c.num, Denominator: c.den}); got != c.want {
			t.Errorf("rate %d/%d: tick %v, want %v", c.num, c.den, got, c.want)
		}
	}
}

// rates are those of the tests, in operations per second: from 0.1 to the rate
// above which a gap is no longer 100 ticks.
var rates = []traces.Rate{
	{Numerator: 1, Denominator: 10}, {Numerator: 1, Denominator: 1}, {Numerator: 1000, Denominator: 1},
	{Numerator: 300_000, Denominator: 1}, {Numerator: 1_000_000, Denominator: 1}, {Numerator: 10_000_000, Denominator: 1},
}

func mustPoisson(t testing.TB, rate traces.Rate) *Poisson {
	t.Helper()
	p, err := NewPoisson(rate, Tick(rate))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGaps draws 10^7 gaps at each rate. Their mean must be within 4 standard
// errors of the stated gap, their variance within 5 of that of a rounded
// exponential, and their distribution pass a chi-square test. For gaps
// x = m·E in ticks, floor(x + u) keeps the mean m, and its second moment is
// m²·(1/m)·coth(1/(2m)).
func TestGaps(t *testing.T) {
	const draws = 10_000_000
	for r, rate := range rates {
		t.Run(fmt.Sprint(rate.PerSecond()), func(t *testing.T) {
			p := mustPoisson(t, rate)
			m := 1e9 / float64(p.Tick()) / rate.PerSecond()
			const cells = 100
			counts := make([]uint64, cells+1)
			src := random.NewStream(1, "gaps").At(uint64(r))
			var sum uint64
			var squares float64
			for range draws {
				gap := p.Gap(&src)
				sum += gap
				d := float64(gap) - m
				squares += d * d
				counts[min(gap/uint64(m/20), cells)]++
			}
			variance := m/math.Tanh(1/(2*m)) - m*m
			if m > 1000 { // the same without cancellation
				variance = m*m + 1./6
			}
			if z := (float64(sum)/draws - m) / math.Sqrt(variance/draws); math.Abs(z) > 4 {
				t.Errorf("mean gap %v ticks, want %v: %.1f standard errors off", float64(sum)/draws, m, z)
			}
			// The variance of the squares of an exponential's deviations is 8·m⁴.
			if z := (squares/draws - variance) / (m * m * math.Sqrt(8./draws)); math.Abs(z) > 5 {
				t.Errorf("variance %v, want %v: %.1f standard errors off", squares/draws, variance, z)
			}
			if stat, df, p := chisquare.Fit(counts, gapShares(m, uint64(m/20), cells)); p < chisquare.MinP {
				t.Errorf("chi-square %.1f on %d, p = %.3g", stat, df, p)
			}
		})
	}
}

// gapShares returns the probabilities of gaps in cells of the given width, and
// of those beyond: P(gap >= k) = m·(1-q)·q^(k-1) for k >= 1, q = exp(-1/m).
func gapShares(m float64, width uint64, cells int) []float64 {
	atLeast := func(k uint64) float64 {
		if k == 0 {
			return 1
		}
		return -m * math.Expm1(-1/m) * math.Exp(-float64(k-1)/m)
	}
	shares := make([]float64, cells+1)
	for i := range shares {
		shares[i] = atLeast(uint64(i) * width)
		if i < cells {
			shares[i] -= atLeast(uint64(i+1) * width)
		}
	}
	return shares
}

// TestGapsAreAProcess counts arrivals in windows of ten mean gaps: the counts
// must be Poisson with the mean 10, which neither a wrong law of the gaps nor
// gaps that hang together would give.
func TestGapsAreAProcess(t *testing.T) {
	for r, rate := range rates {
		p := mustPoisson(t, rate)
		window := uint64(10*1e9/float64(p.Tick())/rate.PerSecond() + 0.5)
		counts, shares := make([]uint64, 60), make([]float64, 60)
		for k := range shares {
			lgamma, _ := math.Lgamma(float64(k) + 1)
			shares[k] = math.Exp(float64(k)*math.Log(10) - 10 - lgamma)
		}
		src := random.NewStream(2, "gaps").At(uint64(r))
		var now, arrivals uint64
		for end := window; end <= 50_000*window; {
			now += p.Gap(&src)
			for now >= end {
				counts[min(arrivals, 59)]++
				arrivals = 0
				end += window
			}
			arrivals++
		}
		if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
			t.Errorf("rate %v: chi-square %.1f on %d, p = %.3g", rate.PerSecond(), stat, df, p)
		}
	}
}

// TestBlocksSumUp generates gaps by blocks as the package comment says, in both
// orders, and compares the due times with those of one pass.
func TestBlocksSumUp(t *testing.T) {
	const blocks, perBlock = 20, 1000
	p := mustPoisson(t, traces.Rate{Numerator: 300_000, Denominator: 1})
	stream := random.NewStream(3, "gaps")
	var onePass []uint64
	var now uint64
	for block := range uint64(blocks) {
		src := stream.At(block)
		for range perBlock {
			now += p.Gap(&src)
			onePass = append(onePass, now)
		}
	}
	var gaps [blocks][perBlock]uint64
	var start [blocks + 1]uint64
	for block := blocks - 1; block >= 0; block-- {
		src := stream.At(uint64(block))
		for i := range gaps[block] {
			gaps[block][i] = p.Gap(&src)
			start[block+1] += gaps[block][i]
		}
	}
	for block := range gaps {
		start[block+1] += start[block]
		due := start[block]
		for i, gap := range gaps[block] {
			due += gap
			if due != onePass[block*perBlock+i] {
				t.Fatalf("block %d, operation %d is due at %d, in one pass at %d", block, i, due, onePass[block*perBlock+i])
			}
		}
	}
}

// TestGapsStay holds the first gaps of some rates, the same on every
// architecture. If one has to change, so has dist.Version.
func TestGapsStay(t *testing.T) {
	for i, want := range [][4]uint64{
		{9530949, 24494244, 13028846, 3529108},
		{161224, 1934766, 140237, 611111},
		{339, 1649, 198, 1870},
		{30, 64, 1488, 148},
		{52, 112, 27, 57},
		{39, 175, 4, 20},
	} {
		p := mustPoisson(t, rates[i])
		src := random.NewStream(4, "gaps").At(uint64(i))
		var got [4]uint64
		for j := range got {
			got[j] = p.Gap(&src)
		}
		if got != want {
			t.Errorf("rate %v: gaps %d, want %d", rates[i].PerSecond(), got, want)
		}
	}
}

func TestNewPoissonRefuses(t *testing.T) {
	for _, c := range []struct {
		rate traces.Rate
		tick time.Duration
	}{
		{traces.Rate{Numerator: 1, Denominator: 1}, 0},
		{traces.Rate{Numerator: 1, Denominator: 1}, -1},
		{traces.Rate{Numerator: 1, Denominator: 1}, time.Second + 1},
		{traces.Rate{Numerator: 1_000_000_000, Denominator: 1}, time.Second}, // 10^9 in a tick
		{traces.Rate{Numerator: 1, Denominator: 9_200_000_000}, 1},           // more than 2^53 ticks
	} {
		if _, err := NewPoisson(c.rate, c.tick); err == nil {
			t.Errorf("rate %+v in ticks of %v is taken", c.rate, c.tick)
		}
	}
}

func TestGapAllocatesNothing(t *testing.T) {
	p := mustPoisson(t, rates[3])
	stream := random.NewStream(5, "gaps")
	var index, sum uint64
	if n := testing.AllocsPerRun(10_000, func() {
		src := stream.At(index)
		sum += p.Gap(&src)
		index++
	}); n != 0 {
		t.Errorf("%v allocations per gap", n)
	}
}

func BenchmarkGap(b *testing.B) {
	p := mustPoisson(b, rates[3])
	src := random.NewStream(6, "gaps").At(0)
	for range b.N {
		sink += p.Gap(&src)
	}
}
