package arrival

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pianola/tracegen/random"
	"pianola/traces"
)

func mustConstant(t testing.TB, num, den uint64) Constant {
	t.Helper()
	c, err := NewConstant(traces.Rate{Numerator: num, Denominator: den})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// integer returns x as a big integer.
func integer(x uint64) *big.Int { return new(big.Int).SetUint64(x) }

// exactDue is min(MaxDue, floor(n·10^9·den/num)).
func exactDue(n, num, den uint64) uint64 {
	due := new(big.Int).Mul(integer(n), integer(nsPerSecond))
	due.Div(due.Mul(due, integer(den)), integer(num))
	if due.Cmp(integer(MaxDue)) > 0 {
		return MaxDue
	}
	return due.Uint64()
}

// exactCount is ceil(d·num/(10^9·den)), the number of n with floor(n·gap) < d.
func exactCount(d, num, den uint64) uint64 {
	gap := new(big.Int).Mul(integer(nsPerSecond), integer(den))
	count := new(big.Int).Mul(integer(d), integer(num))
	count.Add(count, gap).Sub(count, big.NewInt(1))
	return count.Div(count, gap).Uint64()
}

func TestDue(t *testing.T) {
	for _, c := range []struct {
		num, den, n, want uint64
	}{
		{1000, 1, 0, 0},
		{1000, 1, 1, 1_000_000},
		{3, 1, 1, 333_333_333},
		{3, 1, 2, 666_666_666},
		{3, 1, 3, 1_000_000_000},
		// A gap cut to 3333 ns would be 0.01 % fast: 100 s after 10^6 s.
		{300_000, 1, 300_000_000_000, 1_000_000_000_000_000},
		{1_500_000, 1, 1_500_001, 1_000_000_666},
		{1, 10, 7, 70_000_000_000},
		{1_000_000_000, 1, 12345, 12345},
		{1_000_000, 1, 10_000_000_000, 10_000_000_000_000},
		{1, 1, 9_223_372_036, 9_223_372_036_000_000_000},
		{1, 1, 9_223_372_037, MaxDue},
		{1, 1, math.MaxUint64, MaxDue},
		{1_000_000_000, 1, MaxDue, MaxDue},
		{1_000_000_000, 1, MaxDue + 1, MaxDue},
		{math.MaxUint64, math.MaxUint64 / nsPerSecond * 2, 3, exactDue(3, math.MaxUint64, math.MaxUint64/nsPerSecond*2)},
	} {
		if got := mustConstant(t, c.num, c.den).Due(c.n); got != c.want {
			t.Errorf("rate %d/%d: operation %d is due at %d, want %d", c.num, c.den, c.n, got, c.want)
		}
	}
}

// checkConstant compares with integers of any size, for one rate, one operation
// and one duration.
func checkConstant(t *testing.T, num, den, n, d uint64) {
	t.Helper()
	c, err := NewConstant(traces.Rate{Numerator: num, Denominator: den})
	gap := new(big.Int).Mul(integer(nsPerSecond), integer(den))
	fits := num > 0 && den > 0 && gap.Cmp(integer(num)) >= 0 &&
		new(big.Int).Div(gap, integer(max(num, 1))).Cmp(integer(MaxDue)) <= 0
	if (err == nil) != fits {
		t.Fatalf("rate %d/%d: %v", num, den, err)
	}
	if err != nil {
		return
	}
	if got, want := c.Due(n), exactDue(n, num, den); got != want {
		t.Fatalf("rate %d/%d: operation %d is due at %d, want %d", num, den, n, got, want)
	}
	d = min(d, MaxDue)
	if got, want := c.Count(time.Duration(d)), exactCount(d, num, den); got != want {
		t.Fatalf("rate %d/%d: %d operations due before %d, want %d", num, den, got, d, want)
	}
}

func TestConstantAgainstBigIntegers(t *testing.T) {
	src := random.NewStream(1, "constant").At(0)
	any64 := func() uint64 { return src.Uint64() >> src.Below(64) }
	for range 20_000 {
		checkConstant(t, any64(), any64(), any64(), any64())
	}
}

func FuzzConstant(f *testing.F) {
	f.Add(uint64(1000), uint64(1), uint64(1), uint64(1))
	f.Add(uint64(300_000), uint64(1), uint64(300_000_000_000), uint64(1e15))
	f.Add(uint64(math.MaxUint64), uint64(math.MaxUint64), uint64(math.MaxUint64), uint64(math.MaxUint64))
	f.Add(uint64(1), uint64(9_223_372_036), uint64(1), uint64(MaxDue))
	f.Add(uint64(1_000_000_001), uint64(1), uint64(5), uint64(5))
	f.Fuzz(checkConstant)
}

// TestCountMatchesDue walks along operations: each one is counted from 1 ns
// after it is due, and not before.
func TestCountMatchesDue(t *testing.T) {
	for _, rate := range []traces.Rate{{Numerator: 3, Denominator: 1}, {Numerator: 1, Denominator: 10}, {Numerator: 300_000, Denominator: 7},
		{Numerator: 999_999_999, Denominator: 1}, {Numerator: 1_000_000_000, Denominator: 1}} {
		c := mustConstant(t, rate.Numerator, rate.Denominator)
		for n := range uint64(2000) {
			due := c.Due(n)
			if got := c.Count(time.Duration(due)); got > n {
				t.Errorf("rate %v: %d operations due before %d ns, when operation %d is", rate, got, due, n)
			}
			if got := c.Count(time.Duration(due + 1)); got <= n {
				t.Errorf("rate %v: %d operations due before %d ns, 1 ns after operation %d", rate, got, due+1, n)
			}
		}
	}
	c := mustConstant(t, 1000, 1)
	for d, want := range map[time.Duration]uint64{
		math.MinInt64: 0, -1: 0, 0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Second: 1000,
		24 * time.Hour: 86_400_000, math.MaxInt64: 9_223_372_036_855,
	} {
		if got := c.Count(d); got != want {
			t.Errorf("1000 per second: %d operations due before %d ns, want %d", got, d, want)
		}
	}
}

func TestNewConstantRefuses(t *testing.T) {
	for _, rate := range []traces.Rate{
		{}, {Numerator: 1}, {Denominator: 1},
		{Numerator: 1_000_000_001, Denominator: 1},
		{Numerator: math.MaxUint64, Denominator: 1},
		{Numerator: 1, Denominator: 9_223_372_037},
		{Numerator: 1, Denominator: math.MaxUint64},
	} {
		if c, err := NewConstant(rate); err == nil {
			t.Errorf("rate %+v is taken: %+v", rate, c)
		}
		if _, err := NewPoisson(rate, 1); err == nil {
			t.Errorf("rate %+v is taken for a Poisson process", rate)
		}
	}
}

func TestConstantAllocatesNothing(t *testing.T) {
	c := mustConstant(t, 300_000, 7)
	var n, sum uint64
	if allocations := testing.AllocsPerRun(1000, func() {
		sum += c.Due(n) + c.Count(time.Duration(n))
		n++
	}); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

var sink uint64

func BenchmarkDue(b *testing.B) {
	c := mustConstant(b, 300_000, 7)
	for n := range b.N {
		sink += c.Due(uint64(n))
	}
}
