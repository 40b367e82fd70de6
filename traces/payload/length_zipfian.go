package payload

import "fmt"

// ZipfianLength is YCSB's zipfian law of lengths, least the most popular one: the
// method of Gray et al. ("Quickly Generating Billion-Record Synthetic Databases",
// 1994) with exponent 0.99, as YCSB's ZipfianGenerator uses it. With u uniform in
// [0, 1) and n lengths, of which zeta is the sum of i^-0.99 over 1..n, the place
// of the length among them is
//
//	0                               if u·zeta < 1,
//	1                               if u·zeta < zeta(2), else
//	floor(n · (eta·u - eta + 1)^100),
//	eta = (1 - (2/n)^0.01) / (1 - zeta(2)/zeta).
//
// All of it is done by additions, multiplications, divisions of doubles, each
// rounded, so that every machine gives the same lengths. YCSB takes
// 99.99999999999991 for 100.
func ZipfianLength(least, most int) (Length, error) {
	if err := checkRange(least, most); err != nil {
		return Length{}, err
	}
	if least == most {
		return Length{Constant: least}, nil
	}
	z := &zipfianLength{least: least, most: most, items: float64(most - least + 1)}
	z.zeta = zeta(most - least + 1)
	if z.items > 2 { // two lengths are given by the first two lines
		z.eta = float64(1-hundredthRoot(2)/hundredthRoot(z.items)) / float64(1-zeta2/z.zeta)
	}
	return Length{law: z}, nil
}

type zipfianLength struct {
	least, most      int
	items, zeta, eta float64
}

// zeta2 is 1 + 2^-0.99.
const zeta2 = 1.5034777750283594

func (z *zipfianLength) of(word uint64) int {
	u := float64(word>>11) * 0x1p-53
	switch w := u * z.zeta; {
	case w < 1:
		return z.least
	case w < zeta2 || z.items == 2:
		return z.least + 1
	}
	x := float64(z.eta*u) - z.eta + 1
	return min(z.least+int(float64(z.items*hundredthPower(x))), z.most)
}

func (z *zipfianLength) min() int { return z.least }
func (z *zipfianLength) max() int { return z.most }

func (z *zipfianLength) text() string { return fmt.Sprintf("%s %d %d", zipfianWord, z.least, z.most) }

// hundredthPower returns x^100 as x^64 · x^32 · x^4.
func hundredthPower(x float64) float64 {
	x4 := x * x
	x4 *= x4
	x32 := x4 * x4
	x32 *= x32
	x32 *= x32
	x64 := x32 * x32
	return x64 * x32 * x4
}

// hundredthRoot returns x^0.01 for 1 <= x <= 2^29 by Newton's method, from above
// until it falls no more.
func hundredthRoot(x float64) float64 {
	const start = 1.25 // start^100 is more than 2^32
	root := start
	for {
		step := root * float64(1-x/hundredthPower(root)) / 100
		next := root - float64(step)
		if next >= root {
			return root
		}
		root = next
	}
}

// zeta returns the sum of i^-0.99 over 1..n: the first terms themselves, the rest
// by the formula of Euler and Maclaurin.
func zeta(n int) float64 {
	const direct = 1000
	sum := 0.0
	for i := 1; i <= min(n, direct); i++ {
		sum += power(float64(i))
	}
	if n <= direct {
		return sum
	}
	a, b := float64(direct), float64(n)
	integral := float64(100 * (hundredthRoot(b) - hundredthRoot(a)))
	ends := (power(b) - power(a)) / 2
	slopes := float64(0.99*(power(a)/a-power(b)/b)) / 12
	return sum + integral + ends + slopes
}

// power returns x^-0.99.
func power(x float64) float64 { return hundredthRoot(x) / x }
