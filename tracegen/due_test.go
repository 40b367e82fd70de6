package tracegen

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pianola/tracegen/chisquare"
	"pianola/traces"
)

var dueRates = []traces.Rate{
	{Numerator: 1000, Denominator: 1}, {Numerator: 300_000, Denominator: 1}, {Numerator: 7, Denominator: 1},
	{Numerator: 1, Denominator: 3}, {Numerator: 999_999_999, Denominator: 1_000_000_000}, {Numerator: 1_000_000_000, Denominator: 1},
}

// TestConstantDue computes every due time in wide integers, for a phase that is
// longer than a block.
func TestConstantDue(t *testing.T) {
	for _, rate := range dueRates {
		spec := withRate(readySpec(t, "workloada", "operationcount=70000"), rate.Numerator, rate.Denominator)
		g := mustGenerator(t, spec)
		if h := g.Header(); h.Tick != time.Nanosecond || !h.Phases[1].Paced || h.Phases[1].Rate != rate {
			t.Errorf("%v: tick %v, phase %+v", rate, h.Tick, h.Phases[1])
		}
		count := uint64(0)
		write(t, g).ops(t, "run", func(i uint64, op *traces.Op) {
			if want := exactDue(i, rate); i != count || op.Due != want {
				t.Fatalf("%v: op %d (the %dth read) is due at %d, want %d", rate, i, count, op.Due, want)
			}
			count++
		})
		if count != 70_000 {
			t.Errorf("%v: %d operations", rate, count)
		}
	}
}

// gapShares are the probabilities of gaps by cells of the given width, the last
// one open, for an exponential law of mean m ticks that is rounded at random
// without bias: P(gap >= k) = m·(1-q)·q^(k-1) for k >= 1 with q = exp(-1/m).
func gapShares(m float64, width uint64, cells int) []float64 {
	atLeast := func(k float64) float64 {
		if k == 0 {
			return 1
		}
		return -m * math.Expm1(-1/m) * math.Exp(-(k-1)/m)
	}
	out := make([]float64, cells)
	for i := range out {
		out[i] = atLeast(float64(i) * float64(width))
		if i+1 < cells {
			out[i] -= atLeast(float64(i+1) * float64(width))
		}
	}
	return out
}

// TestPoissonDue compares the gaps of traces with the law. Their mean is to be
// within 4 standard errors, which are mean/sqrt(n).
func TestPoissonDue(t *testing.T) {
	const n = 400_000
	for _, c := range []struct {
		rate traces.Rate
		tick time.Duration
	}{
		{traces.Rate{Numerator: 1000, Denominator: 1}, time.Microsecond},
		{traces.Rate{Numerator: 300_000, Denominator: 1}, 10 * time.Nanosecond},
		{traces.Rate{Numerator: 10_000_000, Denominator: 1}, time.Nanosecond},
		{traces.Rate{Numerator: 1_000_000_000, Denominator: 1}, time.Nanosecond},
		{traces.Rate{Numerator: 1, Denominator: 3}, time.Microsecond},
	} {
		spec := withRate(readySpec(t, "workloadc", "arrivals=poisson", fmt.Sprintf("operationcount=%d", n)), c.rate.Numerator, c.rate.Denominator)
		g := mustGenerator(t, spec)
		if g.Header().Tick != c.tick {
			t.Errorf("%v: tick %v, want %v", c.rate, g.Header().Tick, c.tick)
		}
		m := 1e9 / c.rate.PerSecond() / float64(c.tick)
		width := uint64(max(1, m/20))
		counts := make([]uint64, 200)
		before := uint64(0)
		write(t, g).ops(t, "run", func(i uint64, op *traces.Op) {
			if op.Due < before {
				t.Fatalf("%v: op %d is due at %d, the one before at %d", c.rate, i, op.Due, before)
			}
			counts[min((op.Due-before)/width, uint64(len(counts))-1)]++
			before = op.Due
		})
		if z := (float64(before)/n - m) / (m / math.Sqrt(n)); math.Abs(z) > 4 {
			t.Errorf("%v: a mean gap of %.3f ticks, want %.3f: %.1f standard errors off", c.rate, float64(before)/n, m, z)
		}
		if stat, df, p := chisquare.Fit(counts, gapShares(m, width, len(counts))); p < chisquare.MinP {
			t.Errorf("%v: chi-square of gaps %.1f on %d, p = %.3g", c.rate, stat, df, p)
		}
	}
}

// TestConstantEnds counts the operations that are due before the end in wide
// integers: the least n with n·10^9·den >= duration·num.
func TestConstantEnds(t *testing.T) {
	for _, rate := range dueRates {
		for _, duration := range []time.Duration{1, 999, 142_857_142, 142_857_143, 142_857_144, time.Second, time.Second + 1, 7 * time.Second} {
			num := new(big.Int).Mul(new(big.Int).SetUint64(rate.Numerator), big.NewInt(int64(duration)))
			den := new(big.Int).Mul(new(big.Int).SetUint64(rate.Denominator), big.NewInt(1e9))
			want, rest := num.QuoRem(num, den, new(big.Int))
			if rest.Sign() > 0 {
				want.Add(want, big.NewInt(1))
			}
			if want.Cmp(big.NewInt(100_000)) > 0 {
				continue
			}
			spec := withRate(readySpec(t, "workloadc", "operationcount=0", "maxexecutiontime=1"), rate.Numerator, rate.Denominator)
			spec.Duration = duration
			ops := write(t, mustGenerator(t, spec)).all(t, "run")
			if uint64(len(ops)) != want.Uint64() || ops[len(ops)-1].Due >= uint64(duration) {
				t.Errorf("%v for %v: %d operations, want %v", rate, duration, len(ops), want)
			}
		}
	}
}

// TestTheEarlierEnds gives both a number and a duration.
func TestTheEarlierEnds(t *testing.T) {
	for _, c := range []struct {
		ops      string
		duration string
		want     int
	}{
		{"1000", "0", 1000}, {"1000", "1", 1000}, {"1000", "1.001", 1000}, {"1000", "0.999", 999}, {"1000", "0.9990001", 1000},
		{"1000", "0.5", 500}, {"500", "1", 500}, {"0", "0.5", 500}, {"1", "1000000", 1}, {"200000", "0.000000001", 1},
	} {
		spec := readySpec(t, "workloada", "operationcount="+c.ops, "maxexecutiontime="+c.duration)
		if got := len(write(t, mustGenerator(t, spec)).all(t, "run")); got != c.want {
			t.Errorf("%s operations or %s s: %d operations, want %d", c.ops, c.duration, got, c.want)
		}
	}
}

// TestPoissonEnds cuts the same gaps at several durations: each trace is the
// beginning of the longest, up to the last operation that is due in time.
func TestPoissonEnds(t *testing.T) {
	whole := write(t, mustGenerator(t, readySpec(t, "workloadc", "arrivals=poisson", "operationcount=150000"))).all(t, "run")
	for _, duration := range []time.Duration{time.Millisecond * 50, time.Second, time.Minute, 65 * time.Second, 140 * time.Second} {
		for _, most := range []int{0, 900, 70_000} {
			spec := readySpec(t, "workloadc", "arrivals=poisson", "maxexecutiontime=1")
			spec.Ops, spec.Duration = uint64(most), duration
			ops := write(t, mustGenerator(t, spec)).all(t, "run")
			want := 0
			for want < len(whole) && whole[want].Due*1000 < uint64(duration) && (most == 0 || want < most) {
				want++
			}
			if len(ops) != want {
				t.Fatalf("%d operations or %v: %d, want %d", most, duration, len(ops), want)
			}
			for i := range ops {
				if ops[i].Due != whole[i].Due || ops[i].Key != whole[i].Key {
					t.Fatalf("%d operations or %v: op %d is %+v, want %+v", most, duration, i, ops[i], whole[i])
				}
			}
		}
	}
}

// TestEndsToTheTick puts the end of a phase at, before and behind the due time
// of an operation.
func TestEndsToTheTick(t *testing.T) {
	spec := readySpec(t, "workloadc", "arrivals=poisson", "operationcount=10")
	due := write(t, mustGenerator(t, spec)).all(t, "run")[3].Due
	tick := time.Microsecond
	for _, c := range []struct {
		duration time.Duration
		want     int
	}{
		{time.Duration(due)*tick - 1, 3}, {time.Duration(due) * tick, 3}, {time.Duration(due)*tick + 1, 4}, {time.Duration(due+1) * tick, 4},
	} {
		spec.Ops, spec.Duration = 10, c.duration
		if got := len(write(t, mustGenerator(t, spec)).all(t, "run")); got != c.want {
			t.Errorf("op 3 is due at %v, in %v there are %d operations, want %d", time.Duration(due)*tick, c.duration, got, c.want)
		}
	}
}

func TestPhasesWithoutOperationsAreRefused(t *testing.T) {
	short := readySpec(t, "workloada", "arrivals=poisson", "target=2.5", "maxexecutiontime=0.000001")
	endless := readySpec(t, "workloada")
	endless.Ops = 0
	for _, c := range []struct {
		spec *Spec
		want string
	}{
		{short, "generate phase run: no operation is due within its duration of 1µs: at 2.5 op/s and seed 1 the first one is due later"},
		{endless, "generate phase run: it has neither a number of operations nor a duration"},
	} {
		if _, err := NewGenerator(c.spec, "test"); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestPhasesBeyondTheClock makes due times of more than 2^62 ns. A duration
// ends such a phase in time, even in the midst of a gap of decades.
func TestPhasesBeyondTheClock(t *testing.T) {
	for _, arrivals := range []string{"constant", "poisson"} {
		spec := readySpec(t, "workloada", "operationcount=1", "target=0.000000001", "arrivals="+arrivals)
		spec.Ops = 1000
		g := mustGenerator(t, spec)
		_, err := newMaker(g.phases[1]).next()
		if err == nil || !strings.HasSuffix(err.Error(), "would be due 146 years after the start or later") {
			t.Errorf("%s: %v", arrivals, err)
		}
	}
	ended := 0
	for seed := range uint64(2000) {
		spec := readySpec(t, "workloada", "operationcount=0", "target=0.000000001", "arrivals=poisson", "maxexecutiontime=1000000000")
		spec.Seed = seed
		g, err := NewGenerator(spec, "test")
		if err != nil { // the first gap is longer than 32 years
			continue
		}
		b, err := newMaker(g.phases[1]).next()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, due := range b.Due {
			if due >= 1e9*1e6 { // in µs
				t.Fatalf("seed %d: due at %d µs", seed, due)
			}
		}
		ended++
	}
	if ended < 1000 {
		t.Errorf("%d phases, want about 1264", ended)
	}
}

func TestPacedLoad(t *testing.T) {
	for _, c := range []struct {
		text string
		rate traces.Rate
	}{
		{"300000", traces.Rate{Numerator: 300_000, Denominator: 1}},
		{"12345.678", traces.Rate{Numerator: 6_172_839, Denominator: 500}},
		{"0.7", traces.Rate{Numerator: 7, Denominator: 10}},
	} {
		for _, arrivals := range []string{"constant", "poisson"} {
			spec := readySpec(t, "workloada", "load.rate="+c.text, "recordcount=70000", "arrivals="+arrivals)
			g := mustGenerator(t, spec)
			load := g.Header().Phases[0]
			// The load is exact to 1 ns whatever the run is.
			if g.Header().Tick != 1 || !load.Paced || load.Rate != c.rate || load.Arrivals != "constant "+c.text+" op/s" {
				t.Errorf("%s: tick %v, phase %+v", c.text, g.Header().Tick, load)
			}
			count := uint64(0)
			write(t, g).ops(t, "load", func(i uint64, op *traces.Op) {
				if op.Due != exactDue(i, c.rate) || op.Key != i || op.Kind != traces.Insert {
					t.Fatalf("%s: op %d is %+v, want due at %d", c.text, i, op, exactDue(i, c.rate))
				}
				count++
			})
			if count != 70_000 {
				t.Errorf("%s: %d operations", c.text, count)
			}
		}
	}
	plain := mustGenerator(t, readySpec(t, "workloada"))
	if load := plain.Header().Phases[0]; load.Paced || load.Rate != (traces.Rate{}) || load.Arrivals != "" {
		t.Errorf("without load.rate: %+v", load)
	}
	write(t, plain).blocks(t, "load", func(b *traces.Block) {
		if len(b.Due) > 0 {
			t.Error("an unpaced load has due times")
		}
	})
}
