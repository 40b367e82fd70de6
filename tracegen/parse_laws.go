package tracegen

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"pianola/traces"
)

// lawParameters are the parameters of the laws of keys, and the words of
// requestdistribution that have them.
var lawParameters = []struct {
	name string
	laws []string
}{
	{"zipfian.range", []string{"zipfian"}},
	{"zipfian.theta", []string{"zipfian", "latest"}},
	{"hotspotdatafraction", []string{"hotspot"}},
	{"hotspotopnfraction", []string{"hotspot"}},
	{"exponential.percentile", []string{"exponential"}},
	{"exponential.frac", []string{"exponential"}},
}

// keyLaw reads which law keys are drawn by. A law that has no use, as in a mix
// of nothing but inserts, stays at its default, and so do parameters.
func (r *specReader) keyLaw(s *Spec) {
	s.KeyLaw, s.Theta = Uniform, defaultTheta
	s.HotData, s.HotOps = r.defaultDecimal("hotspotdatafraction"), r.defaultDecimal("hotspotopnfraction")
	s.NewestOps, s.NewestData = hundredth(r.defaultDecimal("exponential.percentile")), r.defaultDecimal("exponential.frac")

	word, ok1 := r.word(r.get("requestdistribution"), []string{"uniform", "zipfian", "latest", "hotspot", "sequential", "exponential"}, nil)
	theta, ok2 := r.theta()
	span, ok3 := r.word(r.get("zipfian.range"), []string{"ycsb", "exact"}, nil)
	hotData, ok4 := r.share(r.get("hotspotdatafraction"))
	hotOps, ok5 := r.share(r.get("hotspotopnfraction"))
	newestOps, ok6 := r.percentile(r.get("exponential.percentile"))
	newestData, ok7 := r.newest(r.get("exponential.frac"))
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !ok7 || !r.sound(mixName) {
		return
	}
	if !s.picksKeys() {
		r.noteWithout("operations that choose a key", "requestdistribution")
	}
	r.noteParameters(word, s.picksKeys())
	switch {
	case !s.picksKeys() || word == "uniform":
	case word == "zipfian":
		s.KeyLaw, s.Theta = ZipfianYCSB, theta
		if span == "exact" {
			s.KeyLaw = ZipfianExact
		}
	case word == "latest":
		s.KeyLaw, s.Theta = Latest, theta
	case word == "hotspot":
		s.KeyLaw, s.HotData, s.HotOps = Hotspot, hotData, hotOps
	case word == "exponential":
		s.KeyLaw, s.NewestOps, s.NewestData = Exponential, newestOps, newestData
	default:
		s.KeyLaw = Sequential
	}
}

// noteParameters notes the parameters of laws that don't run.
func (r *specReader) noteParameters(law string, picksKeys bool) {
	for _, p := range lawParameters {
		missing := "requestdistribution=" + strings.Join(p.laws, " or ")
		switch {
		case !picksKeys:
			missing = "operations that choose a key"
		case slices.Contains(p.laws, law):
			continue
		}
		if k, _ := lookUp(p.name); k.own {
			r.noteWithout(missing, p.name)
		} else {
			r.noteUnlessDefault(missing, p.name)
		}
	}
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

// share reads a decimal from 0 to 1.
func (r *specReader) share(g givenProperty) (*big.Rat, bool) {
	n, ok := r.decimal(g, maxDigits)
	if ok && n.Cmp(big.NewRat(1, 1)) > 0 {
		r.fail(g, "out of range, possible are numbers from 0 to 1")
		return nil, false
	}
	return n, ok
}

// percentile reads a share above 0 and below 1, written in percent.
func (r *specReader) percentile(g givenProperty) (*big.Rat, bool) {
	n, ok := r.decimal(g, maxDigits)
	if ok && (n.Sign() == 0 || n.Cmp(big.NewRat(100, 1)) >= 0) {
		r.fail(g, "out of range, possible are numbers above 0 and below 100")
		return nil, false
	}
	return hundredth(n), ok
}

// maxNewest bounds exponential.frac: at a hundred times the records the law is
// nearly even.
const maxNewest = 100

func (r *specReader) newest(g givenProperty) (*big.Rat, bool) {
	n, ok := r.decimal(g, maxDigits)
	if ok && (n.Sign() == 0 || n.Cmp(big.NewRat(maxNewest, 1)) > 0) {
		r.fail(g, "out of range, possible are numbers above 0 and up to %d", maxNewest)
		return nil, false
	}
	return n, ok
}

func hundredth(n *big.Rat) *big.Rat {
	if n == nil {
		return nil
	}
	return new(big.Rat).Quo(n, big.NewRat(100, 1))
}

// defaultDecimal returns the default of a property that is a decimal.
func (r *specReader) defaultDecimal(name string) *big.Rat {
	n, _ := new(big.Rat).SetString(fallbackOf(name)) // a default of the table
	return n
}

// noteHotspot tells of a hotspot that is all records or none.
func (r *specReader) noteHotspot(s *Spec) {
	if s.KeyLaw != Hotspot || !r.sound("recordcount", "insertstart", "insertcount", "hotspotdatafraction") {
		return
	}
	hot := new(big.Rat).Mul(s.HotData, new(big.Rat).SetInt(new(big.Int).SetUint64(s.Records)))
	n := new(big.Int).Quo(hot.Num(), hot.Denom()).Uint64()
	g := r.get("hotspotdatafraction")
	switch {
	case n == 0 && s.HotOps.Sign() > 0:
		r.note(g, fmt.Sprintf("none of %d records is hot: all are drawn equally often", s.Records))
	case n == s.Records && s.HotOps.Cmp(big.NewRat(1, 1)) < 0:
		r.note(g, fmt.Sprintf("all of %d records are hot: all are drawn equally often", s.Records))
	}
}

const (
	defaultScanMin = 1
	defaultScanMax = 1000
	// maxScanLength is what fits in the 31 bits of every client's limit.
	maxScanLength = 1<<31 - 1
)

func (r *specReader) scans(s *Spec) {
	s.ScanLaw, s.ScanMin, s.ScanMax = ScanUniform, defaultScanMin, defaultScanMax
	low, high := r.get("minscanlength"), r.get("maxscanlength")
	least, ok1 := r.whole(low, 1, maxScanLength)
	most, ok2 := r.whole(high, 1, maxScanLength)
	law, ok3 := r.word(r.get("scanlengthdistribution"), []string{string(ScanUniform), string(ScanZipfian)}, nil)
	if !ok1 || !ok2 || !ok3 || !r.sound(mixName) {
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
		r.noteUnlessDefault("scans", "scanlengthdistribution")
		return
	}
	s.ScanLaw, s.ScanMin, s.ScanMax = ScanLaw(law), uint32(least), uint32(most)
}
