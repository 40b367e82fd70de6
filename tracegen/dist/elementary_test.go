package dist

import (
	"hash/fnv"
	"math"
	"math/big"
	"testing"

	"pianola/tracegen/random"
)

// precision of the references, in bits.
const precision = 160

func wide(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// wideLog is log(x) for x > 0, by the series of log(m) = 2·artanh((m-1)/(m+1))
// for the mantissa m in [1/2, 1) and for 2.
func wideLog(x *big.Float) *big.Float {
	m := new(big.Float).SetPrec(precision)
	exponent := x.MantExp(m)
	series := func(m *big.Float) *big.Float {
		one := wide(1)
		s := new(big.Float).Quo(new(big.Float).Sub(m, one), new(big.Float).Add(m, one))
		z, power, sum := new(big.Float).Mul(s, s), new(big.Float).Set(s), wide(0)
		for k := 1.0; k < 120; k += 2 {
			sum.Add(sum, new(big.Float).Quo(power, wide(k)))
			power = new(big.Float).Mul(power, z)
		}
		return sum.Mul(sum, wide(2))
	}
	return new(big.Float).Add(series(m), new(big.Float).Mul(wide(float64(exponent)), series(wide(2))))
}

// wideExp is e^x, by its series for x/2^20 and squaring.
func wideExp(x *big.Float) *big.Float {
	small := new(big.Float).SetMantExp(x, -20)
	term, sum := wide(1).SetPrec(2*precision), wide(1).SetPrec(2*precision)
	for k := 1.0; k < 40; k++ {
		term = new(big.Float).SetPrec(2*precision).Quo(new(big.Float).SetPrec(2*precision).Mul(term, small), wide(k))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// ulps is the distance of got from want in units in the last place of want.
func ulps(got float64, want *big.Float) float64 {
	near, _ := want.Float64()
	_, exponent := math.Frexp(near)
	d, _ := new(big.Float).Sub(wide(got), want).Float64()
	return math.Abs(math.Ldexp(d, 53-exponent))
}

// TestElementaryAgainstWide holds the stated error bounds against references of
// 160 bits.
func TestElementaryAgainstWide(t *testing.T) {
	src := random.NewStream(1, "elementary").At(0)
	between := func(a, b float64) float64 { return a + (b-a)*src.Float64() }
	worst := map[string]float64{}
	check := func(name string, x, got float64, want *big.Float, bound float64) {
		t.Helper()
		e := ulps(got, want)
		worst[name] = max(worst[name], e)
		if !(e < bound) {
			t.Errorf("%s(%v) = %v: %.3f ulp off, bound %v", name, x, got, e, bound)
		}
	}
	one := wide(1)
	logs := []float64{1, 2, 0.5, math.Sqrt2, math.Sqrt2 / 2, 0x1p-1022, math.MaxFloat64, 1 + 0x1p-52, 1 - 0x1p-53, 3, 1e10 + 1}
	exps := []float64{0x1p-60, -0x1p-60, 0.35, -0.35, math.Ln2 / 2, -math.Ln2 / 2, 1, -1, 699, -699}
	for range 400 {
		logs = append(logs, math.Ldexp(between(0.5, 1), int(between(-60, 64))), between(0.6, 1.6), 1+between(-1, 1)*0x1p-20)
		exps = append(exps, between(-90, 3), between(-0.4, 0.4), between(-700, 700), between(-1, 1)*0x1p-30)
	}
	for _, x := range logs {
		if x == 1 {
			if log(x) != 0 {
				t.Errorf("log(1) = %v", log(x))
			}
			continue
		}
		want := wideLog(wide(x))
		check("log", x, log(x), want, 1)
		y := -2.0
		if z := math.Abs(y * math.Log(x)); z < 700 {
			check("pow", x, pow(x, y), wideExp(new(big.Float).Mul(wide(y), want)), 2+z)
		}
	}
	for _, x := range exps {
		want := wideExp(wide(x))
		check("exp", x, exp(x), want, 1)
		if less := new(big.Float).Sub(want, one); x < 0.35 {
			check("expm1 below 0.35", x, expm1(x), less, 2)
		} else {
			check("expm1", x, expm1(x), less, 4)
		}
		if f := math.Mod(x, 0.29); f != 0 {
			check("log1p", f, log1p(f), wideLog(new(big.Float).SetPrec(2*precision).Add(one, wide(f))), 1)
		}
	}
	if log1p(0) != 0 || expm1(0) != 0 || exp(0) != 1 || exp(-522240) != 0 {
		t.Errorf("log1p(0) = %v, expm1(0) = %v, exp(0) = %v, exp(-522240) = %v", log1p(0), expm1(0), exp(0), exp(-522240))
	}
	for name, e := range worst {
		t.Logf("%s: greatest error %.3f ulp", name, e)
	}
}

// TestElementaryAgainstMath compares many more values with package math, whose
// own error is below 1 ulp.
func TestElementaryAgainstMath(t *testing.T) {
	src := random.NewStream(2, "elementary").At(0)
	check := func(name string, x, got, want, bound float64) {
		t.Helper()
		if d := ulps(got, wide(want)); !(d <= bound) {
			t.Errorf("%s(%v) = %v, package math has %v: %v ulp apart", name, x, got, want, d)
		}
	}
	for range 50_000 {
		x := math.Ldexp(1+src.Float64(), int(src.Below(200))-100)
		check("log", x, log(x), math.Log(x), 2)
		x = 0.4*src.Float64() - 0.2
		check("log1p", x, log1p(x), math.Log1p(x), 2)
		x = 200*src.Float64() - 100
		check("exp", x, exp(x), math.Exp(x), 2)
		x = 2*src.Float64() - 1
		check("expm1", x, expm1(x), math.Expm1(x), 5)
	}
}

// TestElementaryBits holds every bit of many results. The sum was taken on amd64
// and must be the same on every architecture. A change needs a new Version.
func TestElementaryBits(t *testing.T) {
	src := random.NewStream(3, "elementary").At(0)
	sum := fnv.New64a()
	add := func(x float64) {
		var b [8]byte
		for i := range b {
			b[i] = byte(math.Float64bits(x) >> (8 * i))
		}
		sum.Write(b[:])
	}
	for range 20_000 {
		x := math.Ldexp(0.5+math.Ldexp(float64(src.Below(1<<53)), -54), int(src.Below(100)))
		small := math.Ldexp(float64(src.Below(1<<53)), -55)
		add(log(x))
		add(log1p(small))
		add(exp(-math.Ldexp(small, 8)))
		add(expm1(-math.Ldexp(small, 2)))
		add(pow(x, -0.99))
	}
	if got, want := sum.Sum64(), uint64(0x87defe92efac303c); got != want {
		t.Errorf("sum of the bits %#x, want %#x", got, want)
	}
}
