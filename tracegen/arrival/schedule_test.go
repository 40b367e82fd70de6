package arrival

import (
	"math"
	"testing"
	"time"

	"pianola/tracegen/random"
	"pianola/traces"
)

// TestConstantFill compares columns with the due time of each index.
func TestConstantFill(t *testing.T) {
	for _, rate := range []traces.Rate{
		{Numerator: 1000, Denominator: 1}, {Numerator: 300_000, Denominator: 1}, {Numerator: 7, Denominator: 3},
		{Numerator: 999_999_937, Denominator: 1}, {Numerator: 1_000_000_000, Denominator: 1}, {Numerator: 1, Denominator: 1_000_000_000},
		{Numerator: 1<<63 - 1, Denominator: 1<<63 - 25}, {Numerator: math.MaxUint64, Denominator: math.MaxUint64 - 58},
	} {
		c, err := NewConstant(rate)
		if err != nil {
			t.Fatal(err)
		}
		if c.Random() || c.Peak() != rate {
			t.Errorf("%v: random %v, at most %v", rate, c.Random(), c.Peak())
		}
		due := make([]uint64, 1000)
		for _, first := range []uint64{0, 1, 65536, 9_223_372_036 - 500, 1 << 40, math.MaxUint64 - 999} {
			c.Fill(due, first)
			for j, got := range due {
				if want := c.Due(first + uint64(j)); got != want {
					t.Fatalf("%v: op %d is due at %d, want %d", rate, first+uint64(j), got, want)
				}
			}
		}
		c.Fill(nil, 5)
	}
}

// TestDrawnFill sums the gaps of each index.
func TestDrawnFill(t *testing.T) {
	stream := random.NewStream(1, "gaps")
	for _, rate := range append(rates, traces.Rate{Numerator: 1, Denominator: 1_000_000_000}) {
		p := mustPoisson(t, rate)
		d := p.Draw(stream)
		if !d.Random() || d.Peak() != rate {
			t.Errorf("%v: random %v, at most %v", rate, d.Random(), d.Peak())
		}
		due := make([]uint64, 70_000)
		for _, first := range []uint64{0, 65536, 1 << 47} {
			var s Schedule = d
			s.Fill(due, first)
			sum := uint64(0)
			for j, got := range due {
				src := stream.At(first + uint64(j))
				if sum = min(sum+p.Gap(&src), MaxDue); got != sum {
					t.Fatalf("%v from %d on: op %d is due at %d, want %d", rate, first, j, got, sum)
				}
			}
		}
	}
}

func TestDrawnCount(t *testing.T) {
	d := mustPoisson(t, traces.Rate{Numerator: 1000, Denominator: 1}).Draw(random.NewStream(1))
	for _, c := range []struct {
		duration time.Duration
		want     uint64
	}{
		{-1, 0}, {0, 0}, {1, 1 + 16*2}, {time.Millisecond, 1 + 16*2}, {70 * time.Second, 70_000 + 16*512},
	} {
		if got := d.Count(c.duration); got != c.want {
			t.Errorf("%v: %d operations at most, want %d", c.duration, got, c.want)
		}
	}
}

func TestFillAllocatesNothing(t *testing.T) {
	rate := traces.Rate{Numerator: 1000, Denominator: 1}
	c, err := NewConstant(rate)
	if err != nil {
		t.Fatal(err)
	}
	due := make([]uint64, 1000)
	for _, s := range []Schedule{c, mustPoisson(t, rate).Draw(random.NewStream(1))} {
		if n := testing.AllocsPerRun(10, func() { s.Fill(due, 0) }); n != 0 {
			t.Errorf("%T: %v allocations", s, n)
		}
	}
}

func BenchmarkFill(b *testing.B) {
	rate := traces.Rate{Numerator: 1000, Denominator: 1}
	c, err := NewConstant(rate)
	if err != nil {
		b.Fatal(err)
	}
	due := make([]uint64, 65536)
	for name, s := range map[string]Schedule{"constant": c, "poisson": mustPoisson(b, rate).Draw(random.NewStream(1))} {
		b.Run(name, func(b *testing.B) {
			for n := 0; n < b.N; n += len(due) {
				s.Fill(due, uint64(n))
			}
		})
	}
}
