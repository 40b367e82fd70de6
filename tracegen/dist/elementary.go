package dist

import "math"

// The functions below stand in for those of package math, whose results differ
// between architectures in the last digits. They use the four operations of
// IEEE 754 and exact scaling only. Errors are in units in the last place (ulp)
// of the result.

// The natural logarithm of 2 in two parts: the first ends in 20 zero bits, so
// that its product with an exponent is exact.
const (
	ln2High = 0x1.62e42feep-1
	ln2Low  = math.Ln2 - ln2High
)

// log1pSeries holds the coefficients of the powers of z = s² in
// log((1+s)/(1-s)) = 2s + s·z·(2/3 + 2/5·z + 2/7·z² + …).
var log1pSeries = [...]float64{
	2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21,
}

// expSeries holds the coefficients of (exp(r) - 1 - r)/r²: 1/2!, 1/3!, …
var expSeries = [...]float64{
	1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880,
	1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800,
}

// polynomial evaluates the polynomial with the given coefficients, the constant
// one first, by Horner's rule.
func polynomial(x float64, coefficients []float64) float64 {
	var sum float64
	for i := len(coefficients) - 1; i >= 0; i-- {
		sum = float64(sum*x) + coefficients[i]
	}
	return sum
}

// log returns the natural logarithm of a finite x > 0, with an error below 1 ulp.
func log(x float64) float64 {
	m, exponent := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		exponent--
	}
	f, e := m-1, float64(exponent)
	half, rest := log1pParts(f)
	rest += float64(e * ln2Low)
	return float64(e*ln2High) - ((half - rest) - f)
}

// log1p returns log(1+x) for -0.29 < x < 0.41 with an error below 1 ulp. Near 0
// it is as exact as x is.
func log1p(x float64) float64 {
	half, rest := log1pParts(x)
	return x - (half - rest)
}

// log1pParts returns a = f²/2 and b with log(1+f) = f - (a - b).
//
// With s = f/(2+f), log(1+f) = log((1+s)/(1-s)) = 2s + s·R where R is the
// series in s². As 2s = f - s·f and s·f = f²/2 - s·f²/2, that is
// f - f²/2 + s·(f²/2 + R): the error of s counts only in the small terms.
func log1pParts(f float64) (half, rest float64) {
	s := f / (2 + f)
	z := float64(s * s)
	r := float64(z * polynomial(z, log1pSeries[:]))
	half = float64(0.5 * float64(f*f))
	return half, float64(s * (half + r))
}

// exp returns e^x with an error below 1 ulp for -700 < x < 700. Below -1000 it
// is 0.
func exp(x float64) float64 {
	k := math.Floor(float64(x*(1/math.Ln2)) + 0.5)
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	return math.Ldexp(1+expm1Near0(r), int(k))
}

// expm1 returns e^x - 1 for x < 700 with an error below 4 ulp, and below 2
// for x < 0.35. Near 0 it is as exact as x is.
func expm1(x float64) float64 {
	if -0.35 < x && x < 0.35 {
		return expm1Near0(x)
	}
	return exp(x) - 1
}

func expm1Near0(r float64) float64 {
	return r + float64(float64(r*r)*polynomial(r, expSeries[:]))
}

// pow returns x^y for a finite x > 0. The error is below 2 + |y·log x| ulp.
func pow(x, y float64) float64 {
	return exp(float64(y * log(x)))
}
