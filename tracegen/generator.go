package tracegen

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"time"

	"pianola/tracegen/arrival"
	"pianola/tracegen/dist"
	"pianola/tracegen/random"
	"pianola/traces"
)

// Version names the streams and samplers that a Generator uses, as trace
// headers hold it. A change of any of them changes the stream of operations
// and needs a new version.
const Version = "generator/1 " + random.Version + " " + dist.Version

// Generator turns a spec into operations: a load of the records, then a phase
// `run`. What operation i of a phase is depends on the spec and on i alone:
// every choice draws from a named stream of random numbers at index i. Only
// sums run along: due times, and the inserts that are visible.
type Generator struct {
	spec   *Spec
	header *traces.Header
	// ops is the number of operations of phase run, at most: its duration may
	// end it earlier.
	ops  uint64
	load *phaseSource
	run  *phaseSource
	// tick is the unit of the due times of both phases.
	tick time.Duration
}

// NewGenerator prepares the laws of a spec. toolVersion goes to the header. A
// spec whose phase run would have no operation is an error.
func NewGenerator(spec *Spec, toolVersion string) (*Generator, error) {
	g := &Generator{spec: spec, tick: 1}
	// Constant arrivals are exact to 1 ns, and a trace has one tick: only where
	// all gaps are random may it be coarser.
	if spec.Arrivals == Poisson && spec.LoadRate.Numerator == 0 {
		g.tick = arrival.Tick(spec.Rate)
	}
	if err := g.countOps(); err != nil {
		return nil, err
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
		if s.Ops == 0 {
			return errors.New("generate phase run: it has neither a number of operations nor a duration")
		}
		return nil
	}
	var most uint64
	switch s.Arrivals {
	case Poisson:
		// The number of arrivals has the mean and the variance m; 16 standard
		// deviations are never reached. root is at least the square root of m.
		m := countIn(s.Duration, s.Rate).Uint64()
		root := uint64(1) << ((bits.Len64(m) + 1) / 2)
		most = m + 16*root
	default:
		c, err := arrival.NewConstant(s.Rate)
		if err != nil {
			return err
		}
		most = c.Count(s.Duration)
	}
	if g.ops == 0 || most < g.ops {
		g.ops = most
	}
	return nil
}

// timedOps is the mean rate times the duration, rounded.
func (g *Generator) timedOps() uint64 {
	n := new(big.Int).Mul(new(big.Int).SetUint64(g.spec.Rate.Numerator), big.NewInt(int64(g.spec.Duration)))
	d := new(big.Int).Mul(new(big.Int).SetUint64(g.spec.Rate.Denominator), big.NewInt(1e9))
	n.Add(n.Mul(n, big.NewInt(2)), d)
	return n.Div(n, d.Mul(d, big.NewInt(2))).Uint64()
}

// statedOps is the number of operations that YCSB's operationcount would be.
func (g *Generator) statedOps() uint64 {
	if g.spec.Ops > 0 {
		return g.spec.Ops
	}
	return g.timedOps()
}

// meanOps is the mean number of operations of phase run.
func (g *Generator) meanOps() uint64 {
	if g.spec.Duration == 0 {
		return g.spec.Ops
	}
	return min(g.timedOps(), g.statedOps())
}

// visibilityOps is ceil(visibility · rate), between 1 and maxVisibilityOps.
func (g *Generator) visibilityOps() uint64 {
	n := countIn(g.spec.Visibility, g.spec.Rate)
	if !n.IsUint64() {
		return maxVisibilityOps
	}
	return min(max(n.Uint64(), 1), maxVisibilityOps)
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
// is not nil. It ends early with ctx's error. Each call writes the same.
func (g *Generator) Write(ctx context.Context, w *traces.Writer, progress func(Progress)) error {
	var b traces.Block
	first := uint64(0)
	for i, start := range []*phaseSource{g.load, g.run} {
		src, name := *start, g.header.Phases[i].Name
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			b.Reset()
			b.First, b.Phase = first, i
			if err := src.fill(&b); err != nil {
				return fmt.Errorf("generate phase %s: %w", name, err)
			}
			if b.Len() == 0 {
				break
			}
			if err := w.WriteBlock(&b); err != nil {
				return err
			}
			first += uint64(b.Len())
			if progress != nil {
				progress(Progress{name, src.next, src.ops})
			}
		}
	}
	return nil
}

func (g *Generator) newLoad() (*phaseSource, error) {
	s := &phaseSource{ops: g.spec.Records, blockOps: traces.BlockOps, onlyInserts: true}
	if g.spec.LoadRate.Numerator == 0 {
		return s, nil
	}
	c, err := arrival.NewConstant(g.spec.LoadRate)
	if err != nil {
		return nil, fmt.Errorf("load.rate: %w", err)
	}
	s.constant = &c
	s.endAt(0, g.tick)
	return s, nil
}

func (g *Generator) newRun() (*phaseSource, error) {
	spec := g.spec
	stream := func(name string) random.Stream { return random.NewStream(spec.Seed, "run", name) }
	s := &phaseSource{
		ops: g.ops, blockOps: traces.BlockOps,
		records: spec.Records, insert: spec.Records, mix: newMix(spec), visibility: g.visibilityOps(),
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
		s.poisson, err = arrival.NewPoisson(spec.Rate, g.tick)
	} else {
		var c arrival.Constant
		c, err = arrival.NewConstant(spec.Rate)
		s.constant = &c
	}
	if err != nil {
		return nil, err
	}
	s.endAt(spec.Duration, g.tick)
	if s.isEmpty() {
		return nil, fmt.Errorf("generate phase run: no operation is due within its duration of %v: at %s op/s and seed %d the first one is due later",
			spec.Duration, rateText(spec.Rate), spec.Seed)
	}
	s.law, err = g.newKeyLaw()
	if err != nil {
		return nil, fmt.Errorf("requestdistribution: %w", err)
	}
	return s, nil
}

// expectedInserts is the mean number of inserts of phase run, rounded down.
func (g *Generator) expectedInserts() uint64 {
	n := new(big.Rat).SetInt(new(big.Int).SetUint64(g.meanOps()))
	n.Mul(n, g.spec.Weights[traces.Insert]).Quo(n, weightSum(g.spec))
	return new(big.Int).Quo(n.Num(), n.Denom()).Uint64()
}

// modulus is that of YCSB's scrambled zipfian law: its range ends at the
// records plus twice the expected inserts, inclusive. The hot keys depend on
// it, so it is reckoned as YCSB does: with the weight of inserts as it is
// written for their share, and in doubles.
func (g *Generator) modulus() uint64 {
	share, _ := g.spec.Weights[traces.Insert].Float64()
	return g.spec.Records + uint64(float64(g.statedOps())*share*2) + 1
}

func (g *Generator) newKeyLaw() (keyLaw, error) {
	spec := g.spec
	switch spec.KeyLaw {
	case Latest:
		most := spec.Records
		if spec.picks(traces.Insert) {
			most += g.ops // every op may be an insert
		}
		growing, err := dist.NewGrowing(spec.Records, most, spec.Theta)
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
