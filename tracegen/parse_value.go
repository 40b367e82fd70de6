package tracegen

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"pianola/tracegen/spelling"
	"pianola/traces"
)

// The methods of this file read one value each. Where they return false they
// have reported why, and the value is that of no property.

var (
	placeholder = regexp.MustCompile(`\$\{[^}]*\}|\{\{.*?\}\}|<[^<>]+>|%[^%\s]+%`)
	// placeholderIn finds placeholders in texts that are not ours to
	// understand: there percent signs and angles may mean something.
	placeholderIn = regexp.MustCompile(`\$\{[^}]*\}|\{\{.*?\}\}|^\s*(<[^<>]+>|%[A-Za-z_][A-Za-z0-9_]*%)\s*$`)
	remarkBehind  = regexp.MustCompile(`#|//|/\*|;|[(\[{<]`)
	// remarkInText is stricter: a name may hold a number sign.
	remarkInText = regexp.MustCompile(`(^|\s)(#|//)`)
)

const (
	unexpanded   = "a placeholder left unexpanded"
	remarkReason = "a remark behind the value, known are remarks on lines of their own"
)

// scalar reads a value that is not free text; blanks around it are dropped
// with a note. What names what is expected.
func (r *specReader) scalar(g givenProperty, what string) (string, bool) {
	text := strings.TrimFunc(g.Value, unicode.IsSpace)
	if text != g.Value {
		r.note(g, "blanks around the value dropped")
	}
	switch {
	case text == "":
		r.fail(g, "empty, expected is %s", what)
	case placeholder.MatchString(text):
		r.fail(g, "%s, expected is %s", unexpanded, what)
	case remarkBehind.MatchString(text):
		r.fail(g, "%s", remarkReason)
	default:
		return text, true
	}
	return "", false
}

// freeText reads a name that ends up in keys, fields and statements; blanks
// belong to it.
func (r *specReader) freeText(g givenProperty) (string, bool) {
	text := g.Value
	switch {
	case len(text) > maxTextBytes:
		r.fail(g, "%d bytes long, at most %d are possible", len(text), maxTextBytes)
	case placeholder.MatchString(text):
		r.fail(g, "%s", unexpanded)
	case remarkInText.MatchString(text):
		r.fail(g, "%s", remarkReason)
	case strings.ContainsFunc(text, unicode.IsControl):
		r.fail(g, "holds a control character")
	default:
		if strings.TrimRightFunc(text, unicode.IsSpace) != text {
			r.note(g, "ends in a blank, which is kept")
		}
		return text, true
	}
	return "", false
}

// maxTextBytes bounds the table's name and the prefixes of keys and fields.
const maxTextBytes = 1 << 10

var wholeNumber = regexp.MustCompile(`^[+-]?[0-9]+$`)

// whole reads a whole number between least and most.
func (r *specReader) whole(g givenProperty, least, most uint64) (uint64, bool) {
	text, ok := r.scalar(g, "a whole number")
	if !ok {
		return 0, false
	}
	if !wholeNumber.MatchString(text) {
		r.fail(g, "not a whole number, known are digits alone")
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimLeft(text, "+-"), 10, 64)
	if err != nil || n < least || n > most || text[0] == '-' && n > 0 {
		r.fail(g, "out of range, possible are %d to %d", least, most)
		return 0, false
	}
	return n, true
}

// maxDigits bounds the digits of a decimal before and behind the point.
const maxDigits = 18

var decimalNumber = regexp.MustCompile(`^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?$`)

// decimal reads an exact decimal that is not negative, with at most fraction
// digits behind the point.
func (r *specReader) decimal(g givenProperty, fraction int) (*big.Rat, bool) {
	text, ok := r.scalar(g, "a decimal number")
	if !ok {
		return nil, false
	}
	m := decimalNumber.FindStringSubmatch(text)
	if m == nil || m[2]+m[3] == "" {
		r.fail(g, "not a decimal number, known are digits with a point among them")
		return nil, false
	}
	digits := strings.TrimLeft(m[2]+m[3], "0")
	exponent, _ := strconv.Atoi(m[4]) // at most three digits
	behind := len(m[3]) - exponent
	for ; behind > 0 && strings.HasSuffix(digits, "0"); behind-- {
		digits = digits[:len(digits)-1]
	}
	switch {
	case digits == "":
		return new(big.Rat), true
	case m[1] == "-":
		r.fail(g, "negative, known are numbers from 0 on")
		return nil, false
	case max(len(digits), behind, len(digits)-behind) > maxDigits:
		r.fail(g, "more than %d digits", maxDigits)
		return nil, false
	case behind > fraction:
		r.fail(g, "more than %d digits behind the point", fraction)
		return nil, false
	}
	n, _ := new(big.Int).SetString(digits, 10) // digits alone
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(behind, -behind))), nil)
	if behind < 0 {
		return new(big.Rat).SetInt(n.Mul(n, power)), true
	}
	return new(big.Rat).SetFrac(n, power), true
}

// boolean reads true or false in any case.
func (r *specReader) boolean(g givenProperty) (value, ok bool) {
	text, ok := r.scalar(g, "true or false")
	switch {
	case !ok:
		return false, false
	case strings.EqualFold(text, "true"):
		return true, true
	case strings.EqualFold(text, "false"):
		return false, true
	}
	r.fail(g, "neither true nor false")
	return false, false
}

// word reads one of the known words. Those of later are refused, as not
// supported yet.
func (r *specReader) word(g givenProperty, known, later []string) (string, bool) {
	text, ok := r.scalar(g, "one of "+strings.Join(known, ", "))
	switch {
	case !ok:
		return "", false
	case slices.Contains(known, text):
		return text, true
	case slices.Contains(later, text):
		r.fail(g, "%s, supported %s", notSupported, listed(known))
		return "", false
	}
	reason := "unknown, known " + listed(slices.Concat(known, later))
	if near, ok := spelling.Nearest(text, slices.Concat(known, later)); ok {
		reason += ", the nearest is " + near
	}
	if len(later) > 0 {
		reason += "; supported " + listed(known)
	}
	r.fail(g, "%s", reason)
	return "", false
}

// listed ends a sentence with a list of words.
func listed(words []string) string {
	if len(words) == 1 {
		return "is " + words[0]
	}
	return "are " + strings.Join(words, ", ")
}

const notSupported = "not supported by this version yet"

const (
	// maxRate is the greatest rate in operations per second: one each ns.
	maxRate = 1_000_000_000
	// rateFraction is the number of digits behind the point of a rate, and of
	// seconds.
	rateFraction = 9
)

// rate reads a number of operations per second; the zero Rate is that of 0.
func (r *specReader) rate(g givenProperty) (traces.Rate, bool) {
	n, ok := r.decimal(g, rateFraction)
	if !ok || n.Sign() == 0 {
		return traces.Rate{}, ok
	}
	if n.Cmp(big.NewRat(maxRate, 1)) > 0 {
		r.fail(g, "out of range, at most %d operations per second are possible", maxRate)
		return traces.Rate{}, false
	}
	return traces.Rate{Numerator: n.Num().Uint64(), Denominator: n.Denom().Uint64()}, true
}

// maxPhase is the longest that a phase may last: half of what 63 bits of
// nanoseconds hold.
const (
	maxPhase     = time.Duration(1 << 62)
	maxPhaseText = "146 years"
)

// seconds reads a number of seconds.
func (r *specReader) seconds(g givenProperty) (time.Duration, bool) {
	n, ok := r.decimal(g, rateFraction)
	if !ok {
		return 0, false
	}
	n.Mul(n, big.NewRat(int64(time.Second), 1))
	if n.Cmp(big.NewRat(int64(maxPhase), 1)) > 0 {
		r.fail(g, "out of range, at most %d seconds are possible", maxPhase/time.Second)
		return 0, false
	}
	return time.Duration(n.Num().Int64()), true
}

// span reads a duration as Go writes them.
func (r *specReader) span(g givenProperty) (time.Duration, bool) {
	text, ok := r.scalar(g, "a duration")
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && wholeNumber.MatchString(text):
		r.failWith(g, "a duration without its unit, known are ns, us, ms, s, m, h", fmt.Sprintf("write %sms or %ss", text, text))
	case err != nil:
		r.fail(g, "not a duration, known are numbers with a unit like 100ms, 1.5s or 1h30m")
	case d < 0:
		r.fail(g, "negative, known are durations from 0 on")
	case d > maxPhase:
		r.fail(g, "out of range, at most %s are possible", maxPhaseText)
	default:
		return d, true
	}
	return 0, false
}

// settle reads a property that a flag may stand for. The flag wins over
// sources and must agree with an override. It returns what the value was taken
// from as well, and keeps it for blame.
func settle[T comparable](r *specReader, name string, property, flag func(givenProperty) (T, bool)) (T, givenProperty, bool) {
	given := r.get(name)
	flagged, ok := r.flags[name]
	if !ok {
		r.settled[name] = given
		v, ok := property(given)
		return v, given, ok
	}
	r.settled[name] = flagged
	v, ok := flag(flagged)
	if given.File != overrideFile {
		return v, flagged, ok
	}
	if other, sound := property(given); ok && sound && other != v {
		r.fail(flagged, "disagrees with -p %s=%s", name, quoted(given.Value))
		ok = false
	}
	return v, flagged, ok
}
