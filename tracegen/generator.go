package tracegen

import (
	"fmt"
	"math/big"
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
// `warmup` if the spec has one, then a phase `run`. What operation i of a phase
// is depends on the spec and on i: every choice draws from a named stream of
// random numbers at index i. Only sums run along: due times, inserts, deletes,
// and which inserts are visible.
//
// A warmup draws from the same laws as the run, but from streams of its own, so
// that it shifts nothing in the run but what its inserts and deletes change.
type Generator struct {
	spec   *Spec
	header *traces.Header
	phases []*phaseSource
	// warmupOps and ops are the numbers of operations of the phases warmup and
	// run, at most: a duration may end them earlier.
	warmupOps, ops uint64
	// tick is the unit of the due times of all phases.
	tick time.Duration
}

// NewGenerator prepares the laws of a spec. toolVersion goes to the header. A
// spec whose phase run would have no operation is an error, and so is one that
// deletes more records than it loads.
func NewGenerator(spec *Spec, toolVersion string) (*Generator, error) {
	g := &Generator{spec: spec, tick: 1}
	// Constant arrivals are exact to 1 ns, and a trace has one tick: only where
	// all gaps are random may it be coarser.
	if spec.Arrivals == Poisson && spec.LoadRate.Numerator == 0 {
		g.tick = arrival.Tick(spec.Rate)
	}
	load, err := g.newLoad()
	if err != nil {
		return nil, err
	}
	g.phases = append(g.phases, load)
	behind := []*phaseSource{}
	if spec.hasWarmup() {
		warmup, err := g.newPhase("warmup", spec.WarmupOps, spec.WarmupDuration)
		if err != nil {
			return nil, err
		}
		g.warmupOps = warmup.ops
		behind = append(behind, warmup)
	}
	run, err := g.newPhase("run", spec.Ops, spec.Duration)
	if err != nil {
		return nil, err
	}
	g.ops = run.ops
	behind = append(behind, run)
	if err := g.addLaws(behind); err != nil {
		return nil, err
	}
	g.phases = append(g.phases, behind...)
	g.header = g.newHeader(toolVersion)
	return g, nil
}

func (s *Spec) hasWarmup() bool { return s.WarmupOps > 0 || s.WarmupDuration > 0 }

// timedOps is the mean rate times a duration, rounded, or of a profile the
// number of its operations.
func (g *Generator) timedOps(duration time.Duration) uint64 {
	if p, err := g.spec.profile(); p != nil && err == nil {
		return p.Count(duration)
	}
	n := new(big.Int).Mul(new(big.Int).SetUint64(g.spec.Rate.Numerator), big.NewInt(int64(duration)))
	d := new(big.Int).Mul(new(big.Int).SetUint64(g.spec.Rate.Denominator), big.NewInt(1e9))
	n.Add(n.Mul(n, big.NewInt(2)), d)
	return n.Div(n, d.Mul(d, big.NewInt(2))).Uint64()
}

// statedOps is the number of operations that YCSB's operationcount would be.
func (g *Generator) statedOps() uint64 {
	if g.spec.Ops > 0 {
		return g.spec.Ops
	}
	return g.timedOps(g.spec.Duration)
}

// meanOps is the mean number of operations of the phases warmup and run.
func (g *Generator) meanOps() uint64 {
	n := g.spec.Ops
	if g.spec.Duration > 0 {
		n = min(g.timedOps(g.spec.Duration), g.statedOps())
	}
	if g.spec.WarmupDuration > 0 {
		return n + g.timedOps(g.spec.WarmupDuration)
	}
	return n + g.spec.WarmupOps
}

// Header returns the header of the trace.
func (g *Generator) Header() *traces.Header { return g.header }

// DrawsDue reports whether due times depend on the seed.
func (g *Generator) DrawsDue() bool { return g.spec.Arrivals == Poisson }

func (g *Generator) newLoad() (*phaseSource, error) {
	spec := g.spec
	s := &phaseSource{
		name: traces.LoadPhase, ops: spec.Records, onlyInserts: true, slice: g.slice(),
		mix: &mix{kinds: []traces.Kind{traces.Insert}, inserts: true},
	}
	if spec.LoadRate.Numerator == 0 {
		return s, nil
	}
	c, err := arrival.NewConstant(spec.LoadRate)
	if err != nil {
		return nil, fmt.Errorf("load.rate: %w", err)
	}
	s.schedule = c
	s.endAt(0, g.tick)
	return s, nil
}

func (g *Generator) slice() slice {
	s := g.spec
	return slice{first: s.FirstKey, records: s.Records, insertFrom: max(s.InsertFrom, s.FirstKey+s.Records)}
}

// newPhase makes a phase behind the load, without its law, of so many
// operations, or of as many as a duration holds, or both.
func (g *Generator) newPhase(name string, ops uint64, duration time.Duration) (*phaseSource, error) {
	spec := g.spec
	if ops == 0 && duration == 0 {
		return nil, fmt.Errorf("generate phase %s: it has neither a number of operations nor a duration", name)
	}
	stream := func(choice string) random.Stream { return random.NewStream(spec.Seed, name, choice) }
	s := &phaseSource{
		name: name, slice: g.slice(), mix: newMix(spec),
		kinds: stream("kinds"), keys: stream("keys"),
		reads: fieldChoice{stream: stream("read fields")}, writes: fieldChoice{stream: stream("written fields")},
	}
	var err error
	if s.schedule, err = g.newSchedule(stream("gaps")); err != nil {
		return nil, err
	}
	s.rate = spec.meanRate(ops, duration)
	s.visibility = visibilityOps(spec.Visibility, s.schedule.Peak())
	if s.ops = ops; duration > 0 {
		if most := s.schedule.Count(duration); ops == 0 || most < ops {
			s.ops = most
		}
	}
	s.endAt(duration, g.tick)
	if s.isEmpty() {
		return nil, fmt.Errorf("generate phase %s: no operation is due within its duration of %v: at %s op/s and seed %d the first one is due later",
			name, duration, rateText(spec.Rate), spec.Seed)
	}
	for k := range traces.KindLimit {
		if k.Reads() {
			s.reads.masks[k] = 1<<32 - 1
		}
		if k.Writes() && k != traces.Insert {
			s.writes.masks[k] = 1<<32 - 1
		}
	}
	if !spec.ReadAllFields {
		s.reads.oneOf = uint64(spec.Fields.Count)
	}
	if !spec.WriteAllFields && spec.picks(traces.Update, traces.ReadModifyWrite) {
		s.writes.oneOf = uint64(spec.Fields.Count)
	}
	if spec.picks(traces.Scan) {
		s.lengths, err = newScanLengths(spec, stream("scan lengths"))
	}
	return s, err
}

// newSchedule makes the arrivals of a phase behind the load.
func (g *Generator) newSchedule(gaps random.Stream) (arrival.Schedule, error) {
	if g.spec.Arrivals == Poisson {
		p, err := arrival.NewPoisson(g.spec.Rate, g.tick)
		if err != nil {
			return nil, err
		}
		return p.Draw(gaps), nil
	}
	p, err := g.spec.profile()
	if p != nil || err != nil {
		return p, err
	}
	return arrival.NewConstant(g.spec.Rate)
}

// visibilityOps is ceil(visibility · rate), between 1 and maxVisibilityOps.
func visibilityOps(visibility time.Duration, rate traces.Rate) uint64 {
	n := countIn(visibility, rate)
	if !n.IsUint64() {
		return maxVisibilityOps
	}
	return min(max(n.Uint64(), 1), maxVisibilityOps)
}

// addLaws gives the phases the law of keys, and what deletes take.
func (g *Generator) addLaws(phases []*phaseSource) error {
	law, err := g.newKeyLaw()
	if err != nil {
		return fmt.Errorf("requestdistribution: %w", err)
	}
	for _, s := range phases {
		s.law = law
	}
	if !g.spec.picks(traces.Delete) {
		return nil
	}
	if err := g.checkDeletes(phases); err != nil {
		return err
	}
	v, err := newVictims(g.spec.Records, g.spec.Seed)
	if err != nil {
		return err
	}
	for _, s := range phases {
		s.victims = v
	}
	return nil
}

// checkDeletes refuses a spec that deletes more records than it loads. Unless
// the mean number of deletes is so far from it that chance can't matter, they
// are counted. An operation that is due behind the end of a phase with random
// gaps counts too.
func (g *Generator) checkDeletes(phases []*phaseSource) error {
	ops := g.warmupOps + g.ops
	share := new(big.Rat).Quo(g.spec.Weights[traces.Delete], weightSum(g.spec))
	mean := share.Mul(share, new(big.Rat).SetInt(new(big.Int).SetUint64(ops)))
	// 16 standard deviations, which are below the square root of the mean.
	most := new(big.Int).Quo(mean.Num(), mean.Denom())
	most.Add(most, new(big.Int).Mul(big.NewInt(16), new(big.Int).Sqrt(most))).Add(most, big.NewInt(17))
	records := new(big.Int).SetUint64(g.spec.Records)
	if most.Cmp(records) <= 0 {
		return nil
	}
	deletes := uint64(0)
	kinds := make([]traces.Kind, traces.BlockOps)
	for _, s := range phases {
		for first := uint64(0); first < s.ops; first += traces.BlockOps {
			part := kinds[:min(traces.BlockOps, s.ops-first)]
			s.mix.fill(part, s.kinds, first)
			if deletes += countKind(part, traces.Delete); deletes > g.spec.Records {
				return fmt.Errorf("deleteproportion: more deletes than the %d records loaded: %d of the first %d operations of phase %s and before",
					g.spec.Records, deletes, first+uint64(len(part)), s.name)
			}
		}
	}
	return nil
}

// expectedInserts is the mean number of inserts behind the load, rounded down.
func (g *Generator) expectedInserts() uint64 {
	n := new(big.Rat).SetInt(new(big.Int).SetUint64(g.meanOps()))
	n.Mul(n, g.spec.Weights[traces.Insert]).Quo(n, weightSum(g.spec))
	return new(big.Int).Quo(n.Num(), n.Denom()).Uint64()
}

// modulus is that of YCSB's scrambled zipfian law: its range ends at the
// records plus twice the expected inserts, inclusive. The hot keys depend on
// it, so it is reckoned as YCSB does: with the operations of phase run alone,
// the weight of inserts as it is written for their share, and in doubles.
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
			most += g.warmupOps + g.ops // every op may be an insert
		}
		growing, err := dist.NewGrowing(spec.Records, most, spec.Theta)
		return &latestLaw{growing}, err
	case ZipfianExact:
		// The hot records of a warmup are those of the run.
		return newExactLaw(spec.Records, g.expectedInserts(), spec.Theta, random.NewStream(spec.Seed, "run", "scramble"))
	case ZipfianYCSB:
		if spec.Theta == dist.YCSBTheta {
			return newFoldedLaw(spec.Records, g.modulus(), dist.NewYCSBZipf())
		}
		ranks, err := dist.NewZipf(dist.YCSBItems, spec.Theta)
		if err != nil {
			return nil, err
		}
		return newFoldedLaw(spec.Records, g.modulus(), ranks)
	case Hotspot:
		return newHotspotLaw(spec.Records, spec.HotData, spec.HotOps)
	case Sequential:
		return &sequentialLaw{spec.Records}, nil
	case Exponential:
		return newExponentialLaw(spec.Records, spec.NewestOps, spec.NewestData)
	default:
		return &uniformLaw{dist.NewUniform(spec.Records)}, nil
	}
}

func newScanLengths(spec *Spec, stream random.Stream) (scanLengths, error) {
	l := scanLengths{least: spec.ScanMin, stream: stream}
	span := uint64(spec.ScanMax-spec.ScanMin) + 1
	if spec.ScanLaw != ScanZipfian {
		l.law = dist.NewUniform(span)
		return l, nil
	}
	gray, err := dist.NewGray(span)
	if err != nil {
		return l, fmt.Errorf("scanlengthdistribution: %w", err)
	}
	l.law = gray
	return l, nil
}
