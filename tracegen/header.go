package tracegen

import (
	"fmt"
	"math/big"
	"strconv"
	"time"

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
		Tick:          time.Duration(g.tickNs),
		Keys:          s.Keys,
		Fields:        s.Fields,
		Table:         s.Table,
		Records:       s.Records,
		Phases:        []traces.Phase{load, run},
		Hints:         s.Hints,
	}
}

func (g *Generator) keyLawText() string {
	s := g.spec
	theta := strconv.FormatFloat(s.Theta, 'g', -1, 64)
	switch s.KeyLaw {
	case Latest:
		return "latest: exact zipf of theta " + theta + " over the age of the records"
	case ZipfianExact:
		return fmt.Sprintf("zipfian: exact zipf of theta %s over %d keys, scrambled", theta, g.spec.Records+g.expectedInserts())
	case ZipfianYCSB:
		law := "YCSB's formula of theta 0.99"
		if s.Theta != dist.YCSBTheta {
			law = "exact zipf of theta " + theta
		}
		return fmt.Sprintf("zipfian: %s over 10^10 + 1 ranks, folded by YCSB's hash modulo %d", law, g.modulus())
	default:
		return fmt.Sprintf("uniform over %d records", s.Records)
	}
}

// shareText writes a share as a decimal if it has few digits, else as a ratio.
func shareText(share *big.Rat) string {
	if digits, exact := share.FloatPrec(); exact && digits <= 18 {
		return share.FloatString(digits)
	}
	return share.RatString()
}
