package fit

import (
	"fmt"
	"math/big"
	"slices"

	"pianola/tracegen/chisquare"
	"pianola/traces"
)

// Result is the test of one law.
type Result struct {
	// Law names what was tested.
	Law       string
	Statistic float64
	Freedom   int
	// P is the probability of so great a difference if the law holds.
	P float64
	// Exact says that every operation was compared, as the law leaves nothing to
	// chance: P is 1 if all agree, else 0, and there is no statistic.
	Exact bool
	// Untested says why there is no test; nothing else is set then.
	Untested string
}

// untestable says why the keys of a phase can't be compared with those of
// another seed, or "" if they can.
func untestable(s *Sample) string {
	inserts := s.kinds[traces.Insert] > 0
	switch {
	case s.header.Victims != nil && s.deletes > 0:
		return "which records are deleted depends on the seed, and which keys come on that"
	case s.phase.KeyMap.Code == traces.CodeScrambled && inserts:
		return "which ranks have no record yet depends on the seed"
	}
	return ""
}

// Compare tests a sample against the mix that its header states, and against
// mix and sample of a stream that the same spec made of another seed. drawn says
// whether due times depend on the seed. What has one class only is not tested.
func Compare(got, other *Sample, drawn bool) ([]Result, error) {
	out, err := compareKinds(got, other)
	if err != nil {
		return nil, err
	}
	if other.ops == 0 {
		return append(out, Result{Law: "the rest", Untested: "the spec makes no operations of this phase"}), nil
	}
	exact := got.phase.Paced && !drawn && got.ops == other.ops
	if exact {
		out = append(out, compareDue(got, other))
	}
	for _, c := range []struct {
		law        string
		got, other *[classes]uint64
	}{
		{"gaps", &got.gaps, &other.gaps},
		{"keys", &got.keys, &other.keys},
		{"scan lengths", &got.lengths, &other.lengths},
		{"fields read", &got.reads, &other.reads},
		{"fields written", &got.written, &other.written},
	} {
		if exact && c.law == "gaps" {
			continue
		}
		a, b := joined(c.got[:], c.other[:])
		if sumA, sumB := sum(a), sum(b); (sumA == 0) != (sumB == 0) {
			a, b = []uint64{sumA, got.ops - sumA}, []uint64{sumB, other.ops - sumB}
		}
		if len(a) < 2 {
			continue
		}
		if why := untestable(got); c.law == "keys" && why != "" {
			out = append(out, Result{Law: c.law, Untested: why})
			continue
		}
		statistic, freedom, p := chisquare.TwoSamples(a, b)
		out = append(out, Result{Law: c.law, Statistic: statistic, Freedom: freedom, P: p})
	}
	return out, nil
}

// compareKinds tests the kinds against the mix that the header states, and
// against that of the spec if it is another one.
func compareKinds(got, other *Sample) (out []Result, err error) {
	stated, err := mixOf(got.phase)
	if err != nil {
		return nil, err
	}
	specified, err := mixOf(other.phase)
	if err != nil {
		return nil, err
	}
	mixes := []struct {
		law    string
		shares []float64
	}{{"kinds", stated}, {"kinds by the spec", specified}}
	if slices.Equal(stated, specified) {
		mixes = mixes[:1]
	}
	for _, mix := range mixes {
		if mix.shares == nil {
			continue
		}
		statistic, freedom, p := chisquare.Fit(got.kinds[:], mix.shares)
		if freedom > 0 || p < 1 {
			out = append(out, Result{Law: mix.law, Statistic: statistic, Freedom: freedom, P: p})
		}
	}
	return out, nil
}

// compareDue compares the due times of as many operations, which don't depend on
// the seed.
func compareDue(got, other *Sample) Result {
	r := Result{Law: "due times", Exact: true}
	if got.due == other.due && got.last*uint64(got.header.Tick) == other.last*uint64(other.header.Tick) {
		r.P = 1
	}
	return r
}

func sum(counts []uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// mixOf returns the stated share of each kind, nil if none is stated.
func mixOf(p *traces.Phase) ([]float64, error) {
	if len(p.Mix) == 0 {
		return nil, nil
	}
	out := make([]float64, traces.KindLimit)
	for _, s := range p.Mix {
		share, ok := new(big.Rat).SetString(s.Share)
		if !ok {
			return nil, fmt.Errorf("share %q of %v in phase %s is no number", s.Share, s.Kind, p.Name)
		}
		out[s.Kind], _ = share.Float64()
	}
	return out, nil
}

// leastCell is the least sum of a cell in both samples: smaller ones join their
// neighbours.
const leastCell = 40

// joined returns the cells of both samples that are great enough for the test.
func joined(a, b []uint64) (x, y []uint64) {
	var sumA, sumB uint64
	for i := range a {
		sumA, sumB = sumA+a[i], sumB+b[i]
		if sumA+sumB >= leastCell {
			x, y = append(x, sumA), append(y, sumB)
			sumA, sumB = 0, 0
		}
	}
	if n := len(x); n > 0 {
		x[n-1] += sumA
		y[n-1] += sumB
	}
	return x, y
}
