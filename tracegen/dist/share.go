package dist

// zetaApart is the number of terms of a zeta sum that are added one by one.
const zetaApart = 64

// zetaSum returns the sum of k^-theta over 1 <= k <= n: the first terms one by
// one, the others by the formula of Euler and Maclaurin up to the third
// derivative. The next term is below 10^-12.
func zetaSum(n, theta float64) float64 {
	var sum float64
	for k := 1.0; k <= min(n, zetaApart); k++ {
		sum += pow(k, -theta)
	}
	if n <= zetaApart {
		return sum
	}
	// The integral of x^-theta from a to n, a^(1-theta)·(e^(s·log(n/a)) - 1)/s
	// for s = 1-theta.
	const a = float64(zetaApart)
	s, span := 1-theta, log(n/a)
	integral := span
	if s != 0 {
		integral = expm1(float64(s*span)) / s
	}
	sum += float64(integral * pow(a, s))
	// Half of the last term less half of the first, and theta/12 of the fall of
	// the next power.
	low, high := pow(a, -theta), pow(n, -theta)
	sum += float64((high - low) / 2)
	sum += float64(theta / 12 * (low/a - high/n))
	third := float64(theta * float64((theta+1)*(theta+2)) / 720)
	return sum - float64(third*(low/(a*a*a)-high/float64(n*float64(n*n))))
}

// Share returns the probability of a rank.
func (z *Zipf) Share(rank uint64) float64 {
	return pow(float64(rank+1), -z.theta) / z.sum
}

// From returns the probability of a rank >= rank.
func (z *Zipf) From(rank uint64) float64 {
	return max(0, 1-zetaSum(float64(rank), z.theta)/z.sum)
}

// Share returns the probability of a rank.
func (z *YCSBZipf) Share(rank uint64) float64 {
	return ycsbFormula.below(rank+1) - ycsbFormula.below(rank)
}

// From returns the probability of a rank >= rank.
func (z *YCSBZipf) From(rank uint64) float64 { return 1 - ycsbFormula.below(rank) }
