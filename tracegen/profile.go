package tracegen

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"pianola/tracegen/arrival"
	"pianola/traces"
)

// profile returns the profile of the arrivals, nil if they are Constant or
// Poisson.
func (s *Spec) profile() (arrival.Profile, error) {
	if s.Arrivals == Constant || s.Arrivals == Poisson {
		return nil, nil
	}
	p, err := arrival.ParseProfile(string(s.Arrivals))
	if err != nil {
		return nil, fmt.Errorf("arrivals %q: %w", s.Arrivals, err)
	}
	return p, nil
}

// peak returns the highest rate of the phases behind the load.
func (s *Spec) peak() traces.Rate {
	if p, err := s.profile(); p != nil && err == nil {
		return p.Peak()
	}
	return s.Rate
}

// lengthOf returns how long the first n operations take, in ns, rounded down.
func (s *Spec) lengthOf(n uint64) *big.Int {
	if p, err := s.profile(); p != nil && err == nil {
		return new(big.Int).SetUint64(p.Due(n))
	}
	return lengthOf(n, s.Rate)
}

// countIn returns how many operations are due in a time, rounded up.
func (s *Spec) countIn(d time.Duration) *big.Int {
	if p, err := s.profile(); p != nil && err == nil {
		return new(big.Int).SetUint64(p.Count(d))
	}
	return countIn(d, s.Rate)
}

// meanRate returns the stated mean rate of a phase of so many operations, or
// of as many as a duration holds, or both.
func (s *Spec) meanRate(ops uint64, duration time.Duration) traces.Rate {
	p, err := s.profile()
	if p == nil || err != nil {
		return s.Rate
	}
	end := uint64(duration)
	if due := p.Due(ops); ops > 0 && (end == 0 || due < end) {
		end = due
	}
	return p.Mean(time.Duration(max(end, 1)))
}

// arrivals reads the law of the due times.
func (r *specReader) arrivals(g givenProperty) (Arrivals, bool) {
	word, _, _ := strings.Cut(strings.TrimSpace(g.Value), ":")
	if !slices.Contains(arrival.Words, word) {
		known, _ := r.word(g, slices.Concat([]string{string(Constant), string(Poisson)}, arrival.Words), nil)
		return Arrivals(known), known != ""
	}
	text, ok := r.scalar(g, "an arrival law")
	if !ok {
		return "", false
	}
	p, err := arrival.ParseProfile(text)
	if err != nil {
		r.failWith(g, err.Error(), "for example "+profileExamples[word])
		return "", false
	}
	return Arrivals(p.String()), true
}

// profileExamples are by the first word.
var profileExamples = map[string]string{
	"step":  "step:10s@1000,20s@5000",
	"ramp":  "ramp:1000..5000/60s",
	"sine":  "sine:1000+-500/60s",
	"burst": "burst:1000,2s@10000/60s",
}

// pace reads the rate and the law of the due times, and reports whether both
// are sound. A profile states its rates: another one beside it would contradict.
func (r *specReader) pace(s *Spec) bool {
	rate, at, ok := settle(r, "target", r.rate, r.positiveRate)
	s.RateStated = ok && rate.Numerator > 0
	arrivals, _, ok2 := settle(r, "arrivals", r.arrivals, r.arrivals)
	s.Arrivals, s.Rate = arrivals, rate
	p, err := s.profile()
	profiled := p != nil && err == nil
	switch {
	case profiled && s.RateStated:
		r.failWith(at, "contradicts arrivals="+string(arrivals)+", which states its rates", "leave one of them out")
		ok = false
	case profiled:
		s.Rate = traces.Rate{}
	case ok && !s.RateStated:
		s.Rate = defaultRate
		if ok2 {
			r.noteAll("no rate given: %d op/s", defaultRate.Numerator)
		}
	}
	return ok && ok2
}
