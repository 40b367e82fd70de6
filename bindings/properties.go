package bindings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseProperties reads a list of settings, each as name=value, split at the
// first equals sign. A name given twice has its last value.
func ParseProperties(list []string) (Properties, error) {
	p := make(Properties, len(list))
	for _, item := range list {
		name, value, found := strings.Cut(item, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("property %q is not of the form name=value", item)
		}
		p[name] = value
	}
	return p, nil
}

// Duration returns the value of a property that is a span of time, 0 or more.
func (p Properties) Duration(name string) (time.Duration, error) {
	d, err := time.ParseDuration(p[name])
	if err != nil || d < 0 {
		return 0, p.Unfit(name, "a duration such as 5ms or 1.5s")
	}
	return d, nil
}

// Bool returns the value of a property that is true or false, in any case.
func (p Properties) Bool(name string) (bool, error) {
	switch {
	case strings.EqualFold(p[name], "true"):
		return true, nil
	case strings.EqualFold(p[name], "false"):
		return false, nil
	}
	return false, p.Unfit(name, "true or false")
}

// Int returns the value of a property that is a whole number from least to
// greatest.
func (p Properties) Int(name string, least, greatest int64) (int64, error) {
	n, err := strconv.ParseInt(p[name], 10, 64)
	if err != nil || n < least || n > greatest {
		return 0, p.Unfit(name, fmt.Sprintf("a whole number from %d to %d", least, greatest))
	}
	return n, nil
}

// Float returns the value of a property that is a decimal number from least to
// greatest.
func (p Properties) Float(name string, least, greatest float64) (float64, error) {
	f, ok := parseDecimal(p[name])
	if !ok || f < least || f > greatest {
		return 0, p.Unfit(name, fmt.Sprintf("a number from %v to %v", least, greatest))
	}
	return f, nil
}

// Share returns the value of a property that is a share of a whole: from 0 to
// 1, or a number from 0 to 100 with a percent sign.
func (p Properties) Share(name string) (float64, error) {
	digits, percent := strings.CutSuffix(p[name], "%")
	share, ok := parseDecimal(digits)
	if percent {
		share /= 100
	}
	if !ok || share < 0 || share > 1 {
		return 0, p.Unfit(name, "a share such as 0.25 or 25%")
	}
	return share, nil
}

// parseDecimal reads a finite decimal number. The words and the hexadecimal
// form that strconv takes too are no settings anybody means to write.
func parseDecimal(s string) (float64, bool) {
	if strings.Trim(s, "+-.0123456789eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

var byteUnits = []struct {
	name  string
	bytes int64
}{
	// "B" ends the others, so it is tried last.
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// Bytes returns the value of a property that is a size from least to greatest
// bytes: a whole number, alone or with a unit behind it. KiB, MiB, GiB and TiB
// are powers of 1024; KB, MB, GB and TB of 1000.
func (p Properties) Bytes(name string, least, greatest int64) (int64, error) {
	digits, unit := p[name], int64(1)
	for _, u := range byteUnits {
		if d, found := strings.CutSuffix(digits, u.name); found {
			digits, unit = d, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit || n*unit < least || n*unit > greatest {
		return 0, p.Unfit(name, fmt.Sprintf("a size such as 65536, 64KiB or 64MB, from %d to %d bytes", least, greatest))
	}
	return n * unit, nil
}

// Word returns the value of a property that is one of the given words.
func (p Properties) Word(name string, words ...string) (string, error) {
	for _, w := range words {
		if p[name] == w {
			return w, nil
		}
	}
	return "", p.Unfit(name, "one of "+strings.Join(words, ", "))
}

// Unfit returns the error that the value of a property is not what it should
// be. A binding uses it for forms that have no method here; it is not for
// secrets, as it shows the value.
func (p Properties) Unfit(name, expected string) error {
	return fmt.Errorf("property %s is %q, not %s", name, p[name], expected)
}
