package arrival

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Words are the first words of the profiles.
var Words = []string{"step", "ramp", "sine", "burst"}

// Syntax has a line for each form of a profile.
const Syntax = `step:DURATION@RATE,DURATION@RATE,...   one rate after another; the last one stays
ramp:RATE..RATE/DURATION               from one rate evenly to another, which stays
sine:RATE+-SWING/PERIOD                about a mean, which it begins at, rising
burst:RATE,DURATION@RATE/PERIOD        a rate, and another at the end of every period`

// maxParts bounds the steps of a profile.
const maxParts = 1000

// ParseProfile reads a profile:
//
//	step:10s@1000,20s@5000    1000/s for 10 s, then 5000/s from there on
//	ramp:1000..5000/60s       from 1000/s to 5000/s in 60 s, then 5000/s
//	sine:1000+-500/60s        between 500/s and 1500/s, a period of 60 s
//	burst:1000,2s@10000/60s   1000/s, and in the last 2 s of every 60 s 10000/s
//
// Rates are decimals with at most 9 digits behind the point, up to 10^9 per
// second, durations Go's (time.ParseDuration). Steps and ramps may begin with a
// rate of 0 or have it between, but must not end with it. The error says what
// is wrong, without the text.
func ParseProfile(text string) (Profile, error) {
	word, rest, ok := strings.Cut(text, ":")
	if !ok {
		return nil, fmt.Errorf("no colon behind the word")
	}
	switch word {
	case "step":
		return parseSteps(rest)
	case "ramp":
		return parseRamp(rest)
	case "sine":
		return parseSine(rest)
	case "burst":
		return parseBurst(rest)
	}
	return nil, fmt.Errorf("unknown word %q, known are %s", word, strings.Join(Words, ", "))
}

func parseSteps(text string) (Profile, error) {
	texts := strings.Split(text, ",")
	if len(texts) > maxParts {
		return nil, fmt.Errorf("%d steps, at most %d are possible", len(texts), maxParts)
	}
	parts := make([]part, len(texts))
	canonical := make([]string, len(texts))
	for i, step := range texts {
		length, rate, err := parseStep(step)
		if err != nil {
			return nil, err
		}
		parts[i] = part{length: uint64(length), from: rate, to: rate}
		canonical[i] = length.String() + "@" + perSecond(rate)
	}
	last := &parts[len(parts)-1]
	if last.from == 0 {
		return nil, fmt.Errorf("the last step has no operations, and it stays")
	}
	last.length = 0
	return held("step:"+strings.Join(canonical, ","), parts)
}

// parseStep reads DURATION@RATE.
func parseStep(text string) (time.Duration, uint64, error) {
	span, speed, ok := strings.Cut(text, "@")
	if !ok {
		return 0, 0, fmt.Errorf("%q is not DURATION@RATE, as 10s@1000", text)
	}
	length, err := parseSpan(span)
	if err != nil {
		return 0, 0, err
	}
	rate, err := parseRate(speed)
	return length, rate, err
}

func parseRamp(text string) (Profile, error) {
	rates, span, ok := strings.Cut(text, "/")
	first, second, ok2 := strings.Cut(rates, "..")
	if !ok || !ok2 {
		return nil, fmt.Errorf("%q is not RATE..RATE/DURATION, as 1000..5000/60s", text)
	}
	from, err := parseRate(first)
	if err != nil {
		return nil, err
	}
	to, err := parseRate(second)
	if err != nil {
		return nil, err
	}
	length, err := parseSpan(span)
	if err != nil {
		return nil, err
	}
	if to == 0 {
		return nil, fmt.Errorf("the ramp ends without operations, and its last rate stays")
	}
	return held("ramp:"+perSecond(from)+".."+perSecond(to)+"/"+length.String(),
		[]part{{length: uint64(length), from: from, to: to}, {from: to, to: to}})
}

// held makes a profile whose last part has no end.
func held(text string, parts []part) (Profile, error) {
	sum := uint64(0)
	for _, p := range parts {
		if sum += p.length; sum > MaxDue {
			return nil, fmt.Errorf("longer than 2^63 ns in all")
		}
	}
	return newParts(text, parts, false), nil
}

func parseSine(text string) (Profile, error) {
	rates, span, ok := strings.Cut(text, "/")
	first, second, ok2 := strings.Cut(rates, "+-")
	if !ok2 {
		first, second, ok2 = strings.Cut(rates, "±")
	}
	if !ok || !ok2 {
		return nil, fmt.Errorf("%q is not RATE+-SWING/PERIOD, as 1000+-500/60s", text)
	}
	mean, err := parseRate(first)
	if err != nil {
		return nil, err
	}
	swing, err := parseRate(second)
	if err != nil {
		return nil, err
	}
	period, err := parseSpan(span)
	switch {
	case err != nil:
		return nil, err
	case mean == 0 || swing > mean:
		return nil, fmt.Errorf("a swing of %s about a mean of %s; the mean must be above 0 and the swing no more than it", second, first)
	case mean+swing > maxSpeed:
		return nil, fmt.Errorf("mean and swing are more than 10^9 operations per second")
	case period%sineStep != 0 || period > maxSine:
		return nil, fmt.Errorf("a period of %v, known are multiples of 10ms up to a week", period)
	}
	return newSine("sine:"+perSecond(mean)+"+-"+perSecond(swing)+"/"+period.String(), mean, swing, uint64(period)/sineStep), nil
}

func parseBurst(text string) (Profile, error) {
	rates, span, ok := strings.Cut(text, "/")
	first, second, ok2 := strings.Cut(rates, ",")
	if !ok || !ok2 {
		return nil, fmt.Errorf("%q is not RATE,DURATION@RATE/PERIOD, as 1000,2s@10000/60s", text)
	}
	base, err := parseRate(first)
	if err != nil {
		return nil, err
	}
	length, rate, err := parseStep(second)
	if err != nil {
		return nil, err
	}
	period, err := parseSpan(span)
	switch {
	case err != nil:
		return nil, err
	case length >= period:
		return nil, fmt.Errorf("a burst of %v in a period of %v, which must be longer", length, period)
	case base == 0 && rate == 0:
		return nil, fmt.Errorf("no operations")
	}
	canonical := "burst:" + perSecond(base) + "," + length.String() + "@" + perSecond(rate) + "/" + period.String()
	return newParts(canonical, []part{
		{length: uint64(period - length), from: base, to: base}, {length: uint64(length), from: rate, to: rate},
	}, true), nil
}

func parseSpan(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a duration above 0, as 500ms, 90s or 1h30m", text)
	}
	return d, nil
}

// maxSpeed is the greatest rate, in operations in 10^9 s.
const maxSpeed = nsPerSecond * nsPerSecond

// parseRate reads a decimal and returns operations in 10^9 s.
func parseRate(text string) (uint64, error) {
	whole, fraction, point := strings.Cut(text, ".")
	digits := whole + fraction
	if whole == "" || len(whole) > 10 || point && fraction == "" || len(fraction) > 9 || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not a rate in operations per second: a number with at most 9 digits behind the point, up to 10^9", text)
	}
	n, _ := new(big.Int).SetString(digits+strings.Repeat("0", 9-len(fraction)), 10) // digits alone
	if !n.IsUint64() || n.Uint64() > maxSpeed {
		return 0, fmt.Errorf("%q is more than 10^9 operations per second", text)
	}
	return n.Uint64(), nil
}

// perSecond writes a rate as parseRate reads it.
func perSecond(rate uint64) string {
	r := big.NewRat(int64(rate), nsPerSecond)
	digits, _ := r.FloatPrec()
	return r.FloatString(digits)
}
