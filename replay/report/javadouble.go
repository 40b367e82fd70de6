package report

import (
	"strconv"
	"strings"
)

// javaDouble prints x as Java's Double.toString does: the shortest digits that
// name x and no other, always with a point, in powers of ten below 10^-3 and
// from 10^7 on. x is finite.
func javaDouble(x float64) string {
	if abs := max(x, -x); x == 0 || abs >= 1e-3 && abs < 1e7 {
		return withPoint(strconv.FormatFloat(x, 'f', -1, 64))
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	return withPoint(mantissa) + "E" + sign + strings.TrimLeft(exponent, "+-0")
}

func withPoint(digits string) string {
	if strings.Contains(digits, ".") {
		return digits
	}
	return digits + ".0"
}
