package tracegen

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"pianola/traces"
	"pianola/traces/payload"
)

// Canonical returns the spec as sorted lines "name=value" in the format of
// properties: every property that has an effect on the operations, with the
// value that holds, default or not. Equal texts and seeds make equal traces.
// Parse makes the same spec of it, but for what it does not hold: the seed, the
// hints, and whether the rate was stated or is the default.
//
// A spec that Parse returned is written exactly. In one made by hand, rates and
// weights must be decimals with at most 9 and 18 digits behind the point.
func (s *Spec) Canonical() string {
	lines := []string{
		"workload=" + coreWorkload[0],
		"table=" + propertyText(s.Table),
		"keyprefix=" + propertyText(s.Keys.Prefix),
		"insertorder=" + s.Keys.Order.String(),
		"zeropadding=" + strconv.Itoa(s.Keys.Padding),
		"fieldcount=" + strconv.Itoa(s.Fields.Count),
		"fieldnameprefix=" + propertyText(s.Fields.Prefix),
		"recordcount=" + strconv.FormatUint(s.FirstKey+s.Records, 10),
		"operationcount=" + strconv.FormatUint(s.Ops, 10),
		"maxexecutiontime=" + decimalText(big.NewRat(int64(s.Duration), 1e9)),
		"target=" + rateText(s.Rate),
		"load.rate=" + rateText(s.LoadRate),
		"arrivals=" + string(s.Arrivals),
	}
	lines = append(lines, s.sliceLines()...)
	lines = append(lines, s.valueLines()...)
	if s.WarmupOps > 0 {
		lines = append(lines, "warmup="+strconv.FormatUint(s.WarmupOps, 10))
	} else if s.WarmupDuration > 0 {
		lines = append(lines, "warmup="+s.WarmupDuration.String())
	}
	for _, p := range proportions {
		if p.kind == traces.Delete && !s.picks(traces.Delete) {
			continue // YCSB has no such property
		}
		lines = append(lines, p.name+"="+decimalText(s.Weights[p.kind]))
	}
	if s.picks(traces.Read, traces.Scan, traces.ReadModifyWrite) {
		lines = append(lines, "readallfields="+strconv.FormatBool(s.ReadAllFields))
	}
	if s.picks(traces.Update, traces.ReadModifyWrite) {
		lines = append(lines, "writeallfields="+strconv.FormatBool(s.WriteAllFields))
	}
	if s.picks(traces.Scan) {
		lines = append(lines,
			"minscanlength="+strconv.FormatUint(uint64(s.ScanMin), 10),
			"maxscanlength="+strconv.FormatUint(uint64(s.ScanMax), 10))
		if s.ScanLaw == ScanZipfian {
			lines = append(lines, "scanlengthdistribution="+string(s.ScanLaw))
		}
	}
	if s.picksKeys() {
		lines = append(lines, s.lawLines()...)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// sliceLines are the properties that say which key numbers are loaded and
// inserted, where they are no matter of course.
func (s *Spec) sliceLines() []string {
	var lines []string
	if s.FirstKey > 0 {
		lines = append(lines, "insertstart="+strconv.FormatUint(s.FirstKey, 10), "insertcount="+strconv.FormatUint(s.Records, 10))
	}
	if s.InsertFrom > s.FirstKey+s.Records {
		lines = append(lines, "insert.from="+strconv.FormatUint(s.InsertFrom, 10))
	}
	return lines
}

// valueLines are the properties that say how long values are and of what.
func (s *Spec) valueLines() []string {
	var lines []string
	word, numbers, _ := strings.Cut(s.Fields.Length.String(), " ")
	least, most, _ := strings.Cut(numbers, " ")
	switch word {
	case "constant":
		lines = append(lines, "fieldlength="+numbers)
	case "histogram":
		lines = append(lines, "fieldlengthdistribution=histogram", "fieldlength.histogram="+numbers)
	default:
		lines = append(lines, "fieldlengthdistribution="+word, "minfieldlength="+least, "fieldlength="+most)
	}
	switch s.Fields.Values.Scheme {
	case payload.YCSBIntegrity:
		lines = append(lines, "dataintegrity=true")
	case payload.Compressible:
		lines = append(lines, "value.compressibility="+decimalText(big.NewRat(int64(s.Fields.Values.Saving), 1000)))
	}
	return lines
}

// lawLines are the properties that say which keys are drawn.
func (s *Spec) lawLines() []string {
	var lines []string
	if s.picks(traces.Insert) {
		lines = append(lines, "insert.visibility="+s.Visibility.String())
	}
	theta := "zipfian.theta=" + strconv.FormatFloat(s.Theta, 'f', -1, 64)
	switch s.KeyLaw {
	case ZipfianYCSB:
		lines = append(lines, "requestdistribution=zipfian", "zipfian.range=ycsb", theta)
	case ZipfianExact:
		lines = append(lines, "requestdistribution=zipfian", "zipfian.range=exact", theta)
	case Latest:
		lines = append(lines, "requestdistribution=latest", theta)
	case Hotspot:
		lines = append(lines, "requestdistribution=hotspot",
			"hotspotdatafraction="+decimalText(s.HotData), "hotspotopnfraction="+decimalText(s.HotOps))
	case Exponential:
		lines = append(lines, "requestdistribution=exponential", "exponential.frac="+decimalText(s.NewestData),
			"exponential.percentile="+decimalText(new(big.Rat).Mul(s.NewestOps, big.NewRat(100, 1))))
	default:
		lines = append(lines, "requestdistribution="+string(s.KeyLaw))
	}
	return lines
}

func rateText(rate traces.Rate) string {
	if rate.Numerator == 0 {
		return "0"
	}
	n := new(big.Rat).SetFrac(new(big.Int).SetUint64(rate.Numerator), new(big.Int).SetUint64(rate.Denominator))
	return decimalText(n)
}

// decimalText prints a number that is an exact decimal without needless zeros.
func decimalText(n *big.Rat) string {
	digits, _ := n.FloatPrec()
	return n.FloatString(digits)
}

// propertyText escapes a value so that Java reads it as well, whose files are
// Latin-1: everything but printable ASCII is written as \uXXXX.
func propertyText(value string) string {
	var out strings.Builder
	for i, r := range value {
		switch {
		case r == '\\' || r == ' ' && i == 0:
			out.WriteByte('\\')
			out.WriteRune(r)
		case r >= ' ' && r <= '~':
			out.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&out, `\u%04X`, unit)
			}
		}
	}
	return out.String()
}
