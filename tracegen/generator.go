package tracegen

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"pianola/tracegen/arrival"
	"pianola/tracegen/dist"
	"pianola/tracegen/random"
	"pianola/traces"
)

// Version names the streams and samplers that a Generator uses, as trace
// headers hold it. A change of any of them changes the stream of operations
// and needs a new version.
const Version = "generator/0 " + random.Version + " " + dist.Version

// Generator turns a spec into operations: a load of the records, then a phase
// `run`. What operation i of a phase is depends on the spec and on i alone:
// every choice draws from a named stream of random numbers at index i. Only
// sums run along: due times, and the inserts that are visible.
type Generator struct {
	spec   *Spec
	header *traces.Header
	// ops is the number of operations of phase run, at most: with a duration
	// the last one due before its end is the last.
	ops    uint64
	load   *phaseSource
	run    *phaseSource
	tickNs uint64
}

// NewGenerator prepares the laws of a spec. toolVersion goes to the header.
func NewGenerator(spec *Spec, toolVersion string) (*Generator, error) {
	g := &Generator{spec: spec}
	if err := g.countOps(); err != nil {
		return nil, err
	}
	g.tickNs = 1
	if spec.Arrivals == Poisson {
		g.tickNs = uint64(arrival.Tick(spec.Rate))
	}
	var err error
	if g.load, err = g.newLoad(); err != nil {
		return nil, err
	}
	if g.run, err = g.newRun(); err != nil {
		return nil, err
	}
	g.header = g.newHeader(toolVersion)
	return g, nil
}

// countOps sets ops: what --ops says, or as many as the duration may hold.
func (g *Generator) countOps() error {
	s := g.spec
	g.ops = s.Ops
	if s.Duration == 0 {
		return nil
	}
	var most uint64
	switch s.Arrivals {
	case Poisson:
		// The number of arrivals has the mean and the variance m; 20 standard
		// deviations are never reached.
		m := s.Rate.PerSecond() * s.Duration.Seconds()
		most = uint64(m + 20*math.Sqrt(m) + 100)
	default:
		c, err := arrival.NewConstant(s.Rate)
		if err != nil {
			return fmt.Errorf("arrivals: %w", err)
		}
		most = c.Count(s.Duration)
	}
	if g.ops == 0 || most < g.ops {
		g.ops = most
	}
	return nil
}

// statedOps is the number of operations that YCSB's operationcount would be:
// Ops, else the mean rate times the duration, rounded.
func (g *Generator) statedOps() uint64 {
	if g.spec.Ops > 0 {
		return g.spec.Ops
	}
	n := new(big.Int).Mul(new(big.Int).SetUint64(g.spec.Rate.Numerator), big.NewInt(int64(g.spec.Duration)))
	d := new(big.Int).Mul(new(big.Int).SetUint64(g.spec.Rate.Denominator), big.NewInt(1e9))
	n.Add(n.Mul(n, big.NewInt(2)), d)
	return n.Div(n, d.Mul(d, big.NewInt(2))).Uint64()
}

// visibilityMax bounds the number of operations for which an insert stays
// unread.
const visibilityMax = 1 << 24

// visibilityOps is ceil(visibility · rate), between 1 and visibilityMax.
func (g *Generator) visibilityOps() uint64 {
	n := new(big.Int).Mul(new(big.Int).SetUint64(g.spec.Rate.Numerator), big.NewInt(int64(g.spec.Visibility)))
	d := new(big.Int).Mul(new(big.Int).SetUint64(g.spec.Rate.Denominator), big.NewInt(1e9))
	n.Add(n, d).Sub(n, big.NewInt(1)).Div(n, d)
	if !n.IsUint64() {
		return visibilityMax
	}
	return min(max(n.Uint64(), 1), visibilityMax)
}

// Header returns the header of the trace.
func (g *Generator) Header() *traces.Header { return g.header }

// Progress is how far a Generator has come, in operations.
type Progress struct {
	Phase string
	// Done of the phase; Of is the number it will have, at most.
	Done, Of uint64
}

// Write writes all operations to w and reports each block to progress, if it
// is not nil. It ends early with ctx's error.
func (g *Generator) Write(ctx context.Context, w *traces.Writer, progress func(Progress)) error {
	var b traces.Block
	first := uint64(0)
	for i, src := range []*phaseSource{g.load, g.run} {
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			b.Reset()
			b.First, b.Phase = first, i
			if err := src.fill(&b); err != nil {
				return fmt.Errorf("generate phase %s: %w", g.header.Phases[i].Name, err)
			}
			if b.Len() == 0 {
				break
			}
			if err := w.WriteBlock(&b); err != nil {
				return err
			}
			first += uint64(b.Len())
			if progress != nil {
				progress(Progress{g.header.Phases[i].Name, src.next, src.ops})
			}
		}
		if src.next == 0 {
			return fmt.Errorf("generate phase %s: it has no operation: none is due within %v", g.header.Phases[i].Name, g.spec.Duration)
		}
	}
	return nil
}

func (g *Generator) newLoad() (*phaseSource, error) {
	s := &phaseSource{ops: g.spec.Records, onlyInserts: true}
	if g.spec.LoadRate.Numerator == 0 {
		return s, nil
	}
	c, err := arrival.NewConstant(g.spec.LoadRate)
	if err != nil {
		return nil, fmt.Errorf("load.rate: %w", err)
	}
	s.constant, s.tickNs = &c, g.tickNs
	return s, nil
}

func (g *Generator) newRun() (*phaseSource, error) {
	spec := g.spec
	stream := func(name string) random.Stream { return random.NewStream(spec.Seed, "run", name) }
	s := &phaseSource{
		ops: g.ops, records: spec.Records, insert: spec.Records, mix: newMix(spec),
		visibility: g.visibilityOps(), tickNs: g.tickNs, duration: uint64(spec.Duration),
		kinds: stream("kinds"), gaps: stream("gaps"), keyDraws: stream("keys"), scans: stream("scan lengths"),
		reads: stream("read fields"), writes: stream("written fields"),
		scanMin: spec.ScanMin, scanSpan: uint64(spec.ScanMax-spec.ScanMin) + 1,
	}
	if !spec.ReadAllFields {
		s.readOneOf = uint64(spec.Fields.Count)
	}
	if !spec.WriteAllFields {
		s.writeOneOf = uint64(spec.Fields.Count)
	}
	var err error
	if spec.Arrivals == Poisson {
		s.poisson, err = arrival.NewPoisson(spec.Rate, arrival.Tick(spec.Rate))
	} else {
		var c arrival.Constant
		c, err = arrival.NewConstant(spec.Rate)
		s.constant = &c
	}
	if err != nil {
		return nil, fmt.Errorf("arrivals: %w", err)
	}
	s.law, err = g.newKeyLaw()
	if err != nil {
		return nil, fmt.Errorf("requestdistribution: %w", err)
	}
	return s, nil
}

// inserts returns weight · the stated number of ops, rounded down.
func (g *Generator) inserts(weight *big.Rat) uint64 {
	n := new(big.Rat).Mul(weight, new(big.Rat).SetInt(new(big.Int).SetUint64(g.statedOps())))
	return new(big.Int).Quo(n.Num(), n.Denom()).Uint64()
}

// expectedInserts is the mean number of inserts of phase run, rounded down.
func (g *Generator) expectedInserts() uint64 {
	return g.inserts(new(big.Rat).Quo(g.spec.Weights[traces.Insert], weightSum(g.spec)))
}

// modulus is that of YCSB's scrambled zipfian law: its range ends at the
// records plus twice the expected inserts, inclusive. YCSB takes the weight of
// inserts as it is written for their share, and the hot keys depend on it.
func (g *Generator) modulus() uint64 {
	doubled := new(big.Rat).Mul(g.spec.Weights[traces.Insert], big.NewRat(2, 1))
	return g.spec.Records + g.inserts(doubled) + 1
}

func (g *Generator) newKeyLaw() (keyLaw, error) {
	spec := g.spec
	switch spec.KeyLaw {
	case Latest:
		// Every op may be an insert.
		growing, err := dist.NewGrowing(spec.Records, spec.Records+g.ops, spec.Theta)
		return &latestLaw{growing}, err
	case ZipfianExact:
		n := spec.Records + g.expectedInserts()
		zipf, err := dist.NewZipf(n, spec.Theta)
		if err != nil {
			return nil, err
		}
		scramble, err := dist.NewScramble(n, random.NewStream(spec.Seed, "run", "scramble"))
		return &exactLaw{zipf, scramble}, err
	case ZipfianYCSB:
		fold, err := dist.NewFold(g.modulus())
		if err != nil {
			return nil, err
		}
		var ranks rankLaw = dist.NewYCSBZipf()
		if spec.Theta != dist.YCSBTheta {
			ranks, err = dist.NewZipf(dist.YCSBItems, spec.Theta)
		}
		return &foldedLaw{ranks, fold}, err
	default:
		return &uniformLaw{spec.Records}, nil
	}
}
