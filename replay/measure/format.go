package measure

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// durationUnits are the units of FormatDuration. A value that would print as
// limit or more takes the next one.
var durationUnits = []struct {
	name  string
	size  float64
	limit float64
}{
	{"ns", 1, 1000},
	{"µs", 1e3, 1000},
	{"ms", 1e6, 1000},
	{"s", 1e9, 1000},
	{"min", 60e9, 100},
	{"h", 3600e9, math.Inf(1)},
}

// FormatDuration returns d with its unit and three significant digits, as
// 840 ns, 12.3 µs, 1.00 s or 2.50 h. Only a duration of 0 prints as 0.
func FormatDuration(d time.Duration) string {
	sign, ns := "", float64(d)
	if ns < 0 {
		sign, ns = "-", -ns
	}
	for _, unit := range durationUnits {
		// Rounding comes first, so that 999.9 µs is 1.00 ms and not 1000 µs.
		rounded, err := strconv.ParseFloat(strconv.FormatFloat(ns/unit.size, 'e', 2, 64), 64)
		if err != nil || rounded >= unit.limit {
			continue
		}
		decimals := 0
		switch {
		case unit.size == 1 || rounded >= 100:
		case rounded >= 10:
			decimals = 1
		default:
			decimals = 2
		}
		return sign + strconv.FormatFloat(rounded, 'f', decimals, 64) + " " + unit.name
	}
	return d.String()
}

// FormatNumber returns x in plain digits: all of them before the point, and
// behind it as many as make four significant ones, without trailing zeros.
// Only 0 prints as 0.
func FormatNumber(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "n/a"
	}
	decimals := 0
	if x != 0 {
		// 3 decimals for 1 to 10; the exponent is that of the rounded number.
		mantissa := strconv.FormatFloat(math.Abs(x), 'e', 3, 64)
		exponent, err := strconv.Atoi(mantissa[strings.IndexByte(mantissa, 'e')+1:])
		if err == nil {
			decimals = max(3-exponent, 0)
		}
	}
	out := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Contains(out, ".") {
		out = strings.TrimRight(strings.TrimRight(out, "0"), ".")
	}
	return out
}
