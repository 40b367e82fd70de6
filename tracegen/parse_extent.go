package tracegen

import (
	"fmt"
	"math/big"
	"time"

	"pianola/traces"
	"pianola/traces/payload"
)

const (
	// maxKeys keeps key numbers, those of inserts included, below 2^62.
	maxKeys = 1 << 62
	// maxOps keeps 1 + the index of an operation a version of a value.
	maxOps = payload.MaxVersion
	// poissonSpread is more than ten standard deviations of the number of
	// arrivals, of which there are at most maxOps on average.
	poissonSpread = 1 << 28
	// maxVisibilityOps is the greatest age of an insert, in operations, that
	// a trace states.
	maxVisibilityOps = 1 << 24
)

var defaultRate = traces.Rate{Numerator: 1000, Denominator: 1}

// extent reads how much is generated and how fast.
func (r *specReader) extent(s *Spec) {
	r.slice(s)

	ops, at, ok1 := settle(r, "operationcount", r.ops, r.ops)
	duration, until, ok2 := settle(r, "maxexecutiontime", r.seconds, r.positiveSpan)
	if ok1 && ok2 && ops == 0 && duration == 0 {
		reason := "phase run has no end"
		if !at.isGiven() {
			reason = "not given, " + reason
		}
		r.failWith(at, reason, "give operationcount=N or --ops N, or maxexecutiontime=SECONDS or --duration D")
	}
	s.Ops, s.Duration = ops, duration

	ok3 := r.pace(s)
	s.LoadRate, _ = r.rate(r.get("load.rate"))
	if ok1 && ok2 && ok3 && ops > 0 && duration > 0 {
		r.noteEnd(s, at, until)
	}
}

func (r *specReader) records(g givenProperty) (uint64, bool) { return r.whole(g, 0, maxKeys-1) }

func (r *specReader) ops(g givenProperty) (uint64, bool) { return r.whole(g, 0, maxOps) }

func (r *specReader) positiveSpan(g givenProperty) (time.Duration, bool) {
	d, ok := r.span(g)
	if ok && d == 0 {
		r.fail(g, "must be more than 0")
	}
	return d, ok && d > 0
}

func (r *specReader) positiveRate(g givenProperty) (traces.Rate, bool) {
	rate, ok := r.rate(g)
	if ok && rate.Numerator == 0 {
		r.fail(g, "must be more than 0")
	}
	return rate, ok && rate.Numerator > 0
}

// noteEnd tells which of two ends of phase run comes first.
func (r *specReader) noteEnd(s *Spec, ops, duration givenProperty) {
	length := s.lengthOf(s.Ops)
	switch length.Cmp(new(big.Int).SetUint64(uint64(s.Duration))) {
	case -1:
		r.note(ops, fmt.Sprintf("phase run ends after %d operations, about %v, before its duration of %v",
			s.Ops, roughly(time.Duration(length.Int64())), s.Duration))
	case +1:
		r.note(duration, fmt.Sprintf("phase run ends after its duration of %v, before its %d operations", s.Duration, s.Ops))
	}
}

// roughly rounds a duration to some three digits.
func roughly(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// lengthOf returns how long n operations take at a rate, in ns, rounded down.
func lengthOf(n uint64, rate traces.Rate) *big.Int {
	length := new(big.Int).SetUint64(n)
	length.Mul(length, new(big.Int).SetUint64(rate.Denominator))
	length.Mul(length, big.NewInt(int64(time.Second)))
	return length.Quo(length, new(big.Int).SetUint64(rate.Numerator))
}

// countIn returns how many operations a rate gives in a time, rounded up.
func countIn(d time.Duration, rate traces.Rate) *big.Int {
	n := new(big.Int).SetUint64(rate.Numerator)
	n.Mul(n, big.NewInt(int64(d)))
	per := new(big.Int).SetUint64(rate.Denominator)
	per.Mul(per, big.NewInt(int64(time.Second)))
	return n.Add(n, per).Sub(n, big.NewInt(1)).Quo(n, per)
}

// visibility reads how old an insert must be to be read.
func (r *specReader) visibility(s *Spec) {
	s.Visibility = defaultVisibility
	g := r.get("insert.visibility")
	d, ok := r.span(g)
	if !ok || !r.sound(mixName) {
		return
	}
	if !s.picks(traces.Insert) || !s.picksKeys() {
		r.noteWithout("inserts and operations that choose a key", "insert.visibility")
		return
	}
	s.Visibility = d
	if r.sound("target", "arrivals") && countIn(d, s.peak()).Cmp(big.NewInt(maxVisibilityOps)) > 0 {
		r.note(g, fmt.Sprintf("%v are more than %d operations at the highest rate; an insert of that many operations ago is visible", d, maxVisibilityOps))
	}
}

const defaultVisibility = 100 * time.Millisecond

// limits refuses what no 64-bit number can hold.
func (r *specReader) limits(s *Spec) {
	r.noteHotspot(s)
	if r.sound("recordcount", "load.rate") && s.LoadRate.Numerator > 0 && tooLong(lengthOf(s.Records, s.LoadRate)) {
		r.fail(r.get("load.rate"), "phase load would last longer than %s", maxPhaseText)
	}
	if !r.sound("operationcount", "maxexecutiontime", "target", "arrivals") {
		return
	}
	count := mostOps(s, s.Ops, s.Duration)
	warm := mostOps(s, s.WarmupOps, s.WarmupDuration)
	all := new(big.Int).Add(count, warm)
	switch {
	case s.Duration == 0 && tooLong(s.lengthOf(s.Ops)):
		pace := "target"
		if s.Rate.Numerator == 0 {
			pace = "operationcount" // a profile states its rates
		}
		r.fail(r.blame(pace, "operationcount"), "phase run would last longer than %s", maxPhaseText)
	case count.Cmp(big.NewInt(maxOps)) > 0:
		r.fail(r.blame("maxexecutiontime"), "phase run would have more than %d operations", uint64(maxOps))
	case r.sound("warmup", "warmuptime") && tooLong(s.lengthOf(s.WarmupOps)):
		r.fail(r.get("warmup"), "phase warmup would last longer than %s", maxPhaseText)
	case r.sound("warmup", "warmuptime") && all.Cmp(big.NewInt(maxOps)) > 0:
		g := r.get("warmup")
		if !g.isGiven() {
			g = r.get("warmuptime")
		}
		r.fail(g, "phases warmup and run would have more than %d operations together", uint64(maxOps))
	case r.sound("recordcount", "insert.from", mixName) && keysOf(s, all).Cmp(big.NewInt(maxKeys)) >= 0:
		g := r.get("insert.from")
		if !g.isGiven() {
			g = r.blame("recordcount")
		}
		r.fail(g, "records and inserts together could be 2^62 keys or more")
	}
}

// mostOps returns the most operations that a phase may have that ends after a
// number or a time, whichever is not 0 and comes first.
func mostOps(s *Spec, ops uint64, d time.Duration) *big.Int {
	count := new(big.Int).SetUint64(ops)
	if d == 0 {
		return count
	}
	inTime := s.countIn(d)
	if s.Arrivals == Poisson {
		inTime.Add(inTime, big.NewInt(poissonSpread))
	}
	if ops == 0 || inTime.Cmp(count) < 0 {
		return inTime
	}
	return count
}

func tooLong(ns *big.Int) bool { return ns.Cmp(big.NewInt(int64(maxPhase))) > 0 }

// keysOf returns an upper bound of the keys that ops operations may draw from:
// the records and all inserts. YCSB's folded law reckons with twice the inserts,
// and takes the proportion for a share even if it is more than 1.
func keysOf(s *Spec, ops *big.Int) *big.Int {
	keys := new(big.Int).SetUint64(max(s.InsertFrom, s.FirstKey+s.Records))
	if !s.picks(traces.Insert) {
		return keys
	}
	if s.KeyLaw != ZipfianYCSB {
		return keys.Add(keys, ops)
	}
	inserts := new(big.Rat).SetInt(ops)
	inserts.Mul(inserts, big.NewRat(2, 1))
	if share := s.Weights[traces.Insert]; share.Cmp(big.NewRat(1, 1)) > 0 {
		inserts.Mul(inserts, share)
	}
	return keys.Add(keys, new(big.Int).Quo(inserts.Num(), inserts.Denom()))
}

// blame returns the first of the properties that somebody gave.
func (r *specReader) blame(names ...string) givenProperty {
	for _, name := range names {
		if g := r.settled[name]; g.isGiven() {
			return g
		}
	}
	return r.settled[names[0]]
}
