package tracegen

import (
	"fmt"
	"math/big"
	"strconv"

	"pianola/tracegen/dist"
	"pianola/traces"
)

// newHeader says in words what the generator does.
func (g *Generator) newHeader(toolVersion string) *traces.Header {
	s := g.spec
	load := traces.Phase{
		Name: traces.LoadPhase, Mix: []traces.Share{{Kind: traces.Insert, Share: "1"}},
		KeyLaw: fmt.Sprintf("every record once, in the order of key numbers 0 to %d", s.Records-1),
	}
	if s.LoadRate.Numerator > 0 {
		load.Paced, load.Rate, load.Arrivals = true, s.LoadRate, "constant "+rateText(s.LoadRate)+" op/s"
	}
	run := traces.Phase{
		Name: "run", Paced: true, Rate: s.Rate, VisibilityOps: g.run.visibility,
		KeyLaw:   g.keyLawText(),
		Arrivals: fmt.Sprintf("%s %s op/s", s.Arrivals, rateText(s.Rate)),
	}
	kinds, parts := shares(s)
	for i, k := range kinds {
		run.Mix = append(run.Mix, traces.Share{Kind: k, Share: shareText(parts[i])})
		if k == traces.Scan {
			run.ScanLaw = fmt.Sprintf("uniform %d to %d", s.ScanMin, s.ScanMax)
		}
	}
	return &traces.Header{
		FormatVersion: traces.FormatVersion,
		ToolVersion:   toolVersion,
		Spec:          s.Canonical(),
		Seed:          s.Seed,
		Generator:     Version,
		Tick:          g.tick,
		Keys:          s.Keys,
		Fields:        s.Fields,
		Table:         s.Table,
		Records:       s.Records,
		Phases:        []traces.Phase{load, run},
		Hints:         s.Hints,
	}
}

// keyLawText says how the keys of operations are chosen that need a record.
func (g *Generator) keyLawText() string {
	s := g.spec
	if !s.picksKeys() {
		return fmt.Sprintf("inserts alone, from key number %d on", s.Records)
	}
	theta := strconv.FormatFloat(s.Theta, 'g', -1, 64)
	redrawn := ""
	if s.picks(traces.Insert) {
		redrawn = fmt.Sprintf(", redrawn until visible, after %d draws uniformly", redrawMax)
	}
	switch s.KeyLaw {
	case Latest:
		return "latest: exact zipf of theta " + theta + " over the age of the visible records"
	case ZipfianExact:
		return fmt.Sprintf("zipfian: exact zipf of theta %s over %d keys, scrambled%s", theta, s.Records+g.expectedInserts(), redrawn)
	case ZipfianYCSB:
		law := "YCSB's formula of theta 0.99"
		if s.Theta != dist.YCSBTheta {
			law = "exact zipf of theta " + theta
		}
		if redrawn == "" {
			redrawn = ", redrawn beyond the records"
		}
		return fmt.Sprintf("zipfian: %s over 10^10 + 1 ranks, folded by YCSB's hash modulo %d%s", law, g.modulus(), redrawn)
	default:
		return fmt.Sprintf("uniform over the %d records loaded", s.Records)
	}
}

// shareText writes a share as a decimal if it has few digits, else as a ratio.
func shareText(share *big.Rat) string {
	if digits, exact := share.FloatPrec(); exact && digits <= 18 {
		return share.FloatString(digits)
	}
	return share.RatString()
}
