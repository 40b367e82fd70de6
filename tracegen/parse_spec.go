package tracegen

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"pianola/traces"
	"pianola/traces/payload"
)

// build reads every property that makes a Spec. The result is of use only if
// no error was found.
func (r *specReader) build() *Spec {
	s := &Spec{Hints: r.hints}
	r.seed(s)
	r.naming(s)
	r.fields(s)
	r.mix(s)
	r.keyLaw(s)
	r.scans(s)
	r.extent(s)
	r.visibility(s)
	r.limits(s)
	r.refuseLater(s)
	r.noteUnused(s)
	return s
}

func (r *specReader) seed(s *Spec) {
	s.Seed = 1
	if g, ok := r.flags["seed"]; ok {
		s.Seed, _ = r.whole(g, 0, 1<<64-1)
	}
}

func (r *specReader) naming(s *Spec) {
	table := r.get("table")
	s.Table, _ = r.freeText(table)
	if table.Value == "" {
		r.fail(table, "empty, expected is the name of a table")
	}
	s.Keys.Prefix, _ = r.freeText(r.get("keyprefix"))
	padding, _ := r.whole(r.get("zeropadding"), 0, payload.MaxPadding)
	s.Keys.Padding = max(1, int(padding)) // a number has a digit anyway
	order, _ := r.word(r.get("insertorder"), []string{payload.Hashed.String(), payload.Ordered.String()}, nil)
	if order == payload.Ordered.String() {
		s.Keys.Order = payload.Ordered
	}
}

func (r *specReader) fields(s *Spec) {
	count, _ := r.whole(r.get("fieldcount"), 1, payload.MaxFields)
	length, _ := r.whole(r.get("fieldlength"), 0, payload.MaxValueBytes)
	s.Fields.Count, s.Fields.Length.Constant = int(count), int(length)
	s.Fields.Prefix, _ = r.freeText(r.get("fieldnameprefix"))
	s.ReadAllFields, _ = r.boolean(r.get("readallfields"))
	s.WriteAllFields, _ = r.boolean(r.get("writeallfields"))
}

// proportions names the weights in the order of kinds.
var proportions = []struct {
	kind traces.Kind
	name string
}{
	{traces.Read, "readproportion"},
	{traces.Update, "updateproportion"},
	{traces.Insert, "insertproportion"},
	{traces.Scan, "scanproportion"},
	{traces.ReadModifyWrite, "readmodifywriteproportion"},
}

func (r *specReader) mix(s *Spec) {
	for kind := range s.Weights {
		s.Weights[kind] = new(big.Rat)
	}
	sum, sound := new(big.Rat), true
	var last givenProperty
	for _, p := range proportions {
		g := r.get(p.name)
		weight, ok := r.decimal(g, maxDigits)
		if !ok {
			sound = false
			continue
		}
		if g.isGiven() {
			last = g
		}
		s.Weights[p.kind] = weight
		sum.Add(sum, weight)
	}
	switch {
	case !sound:
		r.faulty[mixName] = true
	case sum.Sign() == 0:
		r.faulty[mixName] = true
		r.fail(last, "the proportions sum to 0, at least one must be more")
	case sum.Cmp(big.NewRat(1, 1)) != 0:
		r.noteAll("the proportions sum to %s: %s", decimalText(sum), sharesText(s, sum))
	}
}

// picks reports whether the mix holds one of the kinds.
func (s *Spec) picks(kinds ...traces.Kind) bool {
	return slices.ContainsFunc(kinds, func(k traces.Kind) bool { return s.Weights[k].Sign() > 0 })
}

// picksKeys reports whether the mix has operations on records that exist.
func (s *Spec) picksKeys() bool {
	return s.picks(traces.Read, traces.Update, traces.Scan, traces.ReadModifyWrite)
}

// sharesText prints the shares of a mix for people.
func sharesText(s *Spec, sum *big.Rat) string {
	var shares []string
	for _, p := range proportions {
		if s.picks(p.kind) {
			share, _ := new(big.Rat).Quo(s.Weights[p.kind], sum).Float64()
			shares = append(shares, fmt.Sprintf("%v %.4g %%", p.kind, 100*share))
		}
	}
	return strings.Join(shares, ", ")
}

// mixName stands for all proportions among the faulty properties.
const mixName = "proportions"

// keyLaw reads which law keys are drawn by. A law that has no use, as in a mix
// of nothing but inserts, stays at its default, and so do parameters.
func (r *specReader) keyLaw(s *Spec) {
	s.KeyLaw, s.Theta = Uniform, defaultTheta
	distribution, r1 := r.word(r.get("requestdistribution"),
		[]string{"uniform", "zipfian", "latest"}, []string{"hotspot", "sequential", "exponential"})
	theta, r2 := r.theta()
	span, r3 := r.word(r.get("zipfian.range"), []string{"ycsb", "exact"}, nil)
	if !r1 || !r2 || !r3 || !r.sound(mixName) {
		return
	}
	if !s.picksKeys() {
		r.noteWithout("operations that choose a key", "requestdistribution", "zipfian.theta", "zipfian.range")
		return
	}
	switch distribution {
	case "uniform":
		r.noteWithout("requestdistribution=zipfian", "zipfian.range")
		r.noteWithout("requestdistribution=zipfian or latest", "zipfian.theta")
		return
	case "latest":
		s.KeyLaw = Latest
		r.noteWithout("requestdistribution=zipfian", "zipfian.range")
	case "zipfian":
		s.KeyLaw = ZipfianYCSB
		if span == "exact" {
			s.KeyLaw = ZipfianExact
		}
	}
	s.Theta = theta
}

const (
	// defaultTheta is the exponent of YCSB's zipfian laws.
	defaultTheta = 0.99
	maxTheta     = 2
)

func (r *specReader) theta() (float64, bool) {
	g := r.get("zipfian.theta")
	n, ok := r.decimal(g, maxDigits)
	if !ok {
		return 0, false
	}
	if n.Sign() == 0 || n.Cmp(big.NewRat(maxTheta, 1)) > 0 {
		r.fail(g, "out of range, possible are numbers above 0 and up to %d", maxTheta)
		return 0, false
	}
	theta, _ := n.Float64()
	return theta, true
}

const (
	defaultScanMin = 1
	defaultScanMax = 1000
	// maxScanLength is what fits in the 31 bits of every client's limit.
	maxScanLength = 1<<31 - 1
)

func (r *specReader) scans(s *Spec) {
	s.ScanMin, s.ScanMax = defaultScanMin, defaultScanMax
	low, high := r.get("minscanlength"), r.get("maxscanlength")
	least, ok1 := r.whole(low, 1, maxScanLength)
	most, ok2 := r.whole(high, 1, maxScanLength)
	if !ok1 || !ok2 || !r.sound(mixName) {
		return
	}
	scans := s.picks(traces.Scan)
	if least > most && (scans || low.isGiven() && high.isGiven()) {
		if high.isGiven() {
			r.fail(high, "less than minscanlength=%d", least)
		} else {
			r.fail(low, "more than maxscanlength=%d, its default", most)
		}
		return
	}
	if !scans {
		r.noteWithout("scans", "minscanlength", "maxscanlength")
		return
	}
	s.ScanMin, s.ScanMax = uint32(least), uint32(most)
}
