package tracegen

import (
	"fmt"
	"math/big"
	"strconv"

	"pianola/tracegen/dist"
	"pianola/traces"
	"pianola/traces/keymap"
)

// newHeader says in words what the generator does.
func (g *Generator) newHeader(toolVersion string) *traces.Header {
	s := g.spec
	load := traces.Phase{
		Name: traces.LoadPhase, Mix: []traces.Share{{Kind: traces.Insert, Share: "1"}},
		KeyLaw: fmt.Sprintf("every record once, in the order of key numbers %d to %d", s.FirstKey, s.FirstKey+s.Records-1),
	}
	if s.LoadRate.Numerator > 0 {
		load.Paced, load.Rate, load.Arrivals = true, s.LoadRate, "constant "+rateText(s.LoadRate)+" op/s"
	}
	phases := []traces.Phase{load}
	for _, p := range g.phases[1:] {
		phases = append(phases, g.headerPhase(p))
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
		FirstKey:      s.FirstKey,
		Records:       s.Records,
		InsertFrom:    g.slice().insertFrom,
		Victims:       g.victimKeys(),
		Phases:        phases,
		Hints:         s.Hints,
	}
}

// headerPhase describes a phase behind the load.
func (g *Generator) headerPhase(p *phaseSource) traces.Phase {
	s := g.spec
	phase := traces.Phase{
		Name: p.name, Paced: true, Rate: p.rate, VisibilityOps: p.visibility,
		KeyLaw:   g.keyLawText(),
		KeyMap:   p.law.keyMap(),
		Arrivals: g.arrivalsText(),
	}
	kinds, parts := shares(s)
	for i, k := range kinds {
		phase.Mix = append(phase.Mix, traces.Share{Kind: k, Share: shareText(parts[i])})
	}
	if s.picks(traces.Scan) {
		phase.ScanLaw = fmt.Sprintf("uniform %d to %d", s.ScanMin, s.ScanMax)
		if s.ScanLaw == ScanZipfian {
			phase.ScanLaw = fmt.Sprintf("zipfian: YCSB's formula of theta 0.99 over %d to %d, the shortest most often", s.ScanMin, s.ScanMax)
		}
	}
	return phase
}

// victimKeys are those of the order in which records are deleted, nil without
// deletes.
func (g *Generator) victimKeys() *[keymap.Rounds]uint64 {
	for _, p := range g.phases {
		if p.victims != nil {
			keys := p.victims.order.Keys()
			return &keys
		}
	}
	return nil
}

// arrivalsText names the law of the due times. A profile holds its rates.
func (g *Generator) arrivalsText() string {
	if s := g.spec; s.Rate.Numerator > 0 {
		return fmt.Sprintf("%s %s op/s", s.Arrivals, rateText(s.Rate))
	}
	return string(g.spec.Arrivals)
}

// keyLawText says how the keys of operations are chosen that need a record.
func (g *Generator) keyLawText() string {
	s := g.spec
	law := g.chosenText()
	if !s.picks(traces.Delete) {
		return law
	}
	deletes := "deletes take the records loaded in an order of their own, each once"
	if !s.picksKeys() {
		return deletes
	}
	return law + "; what is deleted is not chosen; " + deletes
}

func (g *Generator) chosenText() string {
	s := g.spec
	if !s.picksKeys() {
		return fmt.Sprintf("inserts alone, from key number %d on", g.slice().insertFrom)
	}
	theta := strconv.FormatFloat(s.Theta, 'g', -1, 64)
	switch s.KeyLaw {
	case Latest:
		return "latest: exact zipf of theta " + theta + " over the age of the visible records"
	case Exponential:
		return fmt.Sprintf("exponential over the age of the visible records: the newest %s of %d come in %s of the draws, what is beyond the oldest is redrawn",
			shareText(s.NewestData), s.Records, shareText(s.NewestOps))
	case ZipfianExact:
		return fmt.Sprintf("zipfian: exact zipf of theta %s over %d keys, scrambled%s", theta, s.Records+g.expectedInserts(), g.redrawnText())
	case ZipfianYCSB:
		law := "YCSB's formula of theta 0.99"
		if s.Theta != dist.YCSBTheta {
			law = "exact zipf of theta " + theta
		}
		redrawn := g.redrawnText()
		if redrawn == "" {
			redrawn = ", redrawn beyond the records"
		}
		return fmt.Sprintf("zipfian: %s over 10^10 + 1 ranks, folded by YCSB's hash modulo %d%s", law, g.modulus(), redrawn)
	case Hotspot:
		return fmt.Sprintf("hotspot: the first %s of the %d records loaded in %s of the draws, the others in the rest, uniformly",
			shareText(s.HotData), s.Records, shareText(s.HotOps))
	case Sequential:
		return fmt.Sprintf("sequential: the %d records loaded in the order of key numbers, again and again", s.Records)
	default:
		return fmt.Sprintf("uniform over the %d records loaded", s.Records)
	}
}

// redrawnText says what becomes of a key that is drawn before its insert.
func (g *Generator) redrawnText() string {
	if g.spec.picks(traces.Insert) {
		return ", redrawn until visible"
	}
	return ""
}

// shareText writes a share as a decimal if it has few digits, else as a ratio.
func shareText(share *big.Rat) string {
	if digits, exact := share.FloatPrec(); exact && digits <= 18 {
		return share.FloatString(digits)
	}
	return share.RatString()
}
