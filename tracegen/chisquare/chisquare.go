// Package chisquare holds the statistics by which draws are compared with
// the law they should follow.
package chisquare

import "math"

// MinP is the least p-value that the tests of this module accept. The seeds
// are fixed, so a test that passes once passes always; what the threshold says
// is how unlikely the accepted draws may be under the right law.
const MinP = 1e-6

// minExpected is the least expected count of a cell of a chi-square test;
// smaller cells are merged with their successors.
const minExpected = 10

// Fit compares counts with the probabilities that they should have, by
// Pearson's test. The probabilities must sum to 1; neighbouring cells are
// merged until each expects 10 draws. It returns the statistic, the degrees of
// freedom and the probability of a statistic at least as large. A draw in a
// cell of probability 0 gives p = 0.
func Fit(counts []uint64, probability []float64) (statistic float64, freedom int, p float64) {
	var total uint64
	for i, c := range counts {
		if c > 0 && probability[i] == 0 {
			return math.Inf(1), 0, 0
		}
		total += c
	}
	observed, expected := merge(counts, probability, float64(total))
	for i := range observed {
		d := observed[i] - expected[i]
		statistic += d * d / expected[i]
	}
	freedom = len(observed) - 1
	return statistic, freedom, tail(statistic, freedom)
}

// TwoSamples compares two sets of counts over the same cells and tests that
// both follow one law, by Pearson's test of homogeneity. Cells must not be
// empty in both sets.
func TwoSamples(a, b []uint64) (statistic float64, freedom int, p float64) {
	var sumA, sumB float64
	for i := range a {
		sumA += float64(a[i])
		sumB += float64(b[i])
	}
	for i := range a {
		share := float64(a[i]+b[i]) / (sumA + sumB)
		d := float64(a[i]) - share*sumA
		statistic += d * d * (1/(share*sumA) + 1/(share*sumB))
	}
	freedom = len(a) - 1
	return statistic, freedom, tail(statistic, freedom)
}

// merge joins neighbouring cells until each expects minExpected draws; what
// remains at the end joins the last cell.
func merge(counts []uint64, probability []float64, total float64) (observed, expected []float64) {
	var o, e float64
	for i, c := range counts {
		o += float64(c)
		e += probability[i] * total
		if e >= minExpected {
			observed, expected = append(observed, o), append(expected, e)
			o, e = 0, 0
		}
	}
	if last := len(observed) - 1; last >= 0 {
		observed[last] += o
		expected[last] += e
	}
	return observed, expected
}

// tail is the probability that a chi-square variable exceeds the statistic.
func tail(statistic float64, freedom int) float64 {
	if freedom < 1 {
		return 1
	}
	return UpperGamma(float64(freedom)/2, statistic/2)
}

// UpperGamma is the regularized upper incomplete gamma function Q(a, x), for
// a > 0 and x >= 0: by its power series below a+1, by Lentz's evaluation of its
// continued fraction above.
func UpperGamma(a, x float64) float64 {
	if x <= 0 {
		return 1
	}
	lgamma, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lgamma)
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := 1.0; math.Abs(term) > math.Abs(sum)*1e-16; n++ {
			term *= x / (a + n)
			sum += term
		}
		return 1 - front*sum
	}
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for i := 1.0; i < 1e6; i++ {
		an := -i * (i - a)
		b += 2
		d = 1 / nonzero(an*d+b, tiny)
		c = nonzero(b+an/c, tiny)
		h *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return front * h
}

func nonzero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}
