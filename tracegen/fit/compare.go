package fit

import (
	"fmt"
	"math/big"

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

// Compare tests a sample against the stated mix, and against a sample that the
// same spec made of another seed. What has one class only is not tested.
func Compare(got, other *Sample) ([]Result, error) {
	var out []Result
	mix, err := mixOf(got.phase)
	if err != nil {
		return nil, err
	}
	if mix != nil {
		statistic, freedom, p := chisquare.Fit(got.kinds[:], mix)
		out = append(out, Result{Law: "kinds", Statistic: statistic, Freedom: freedom, P: p})
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
		a, b := joined(c.got[:], c.other[:])
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

// mixOf returns the stated share of each kind, nil if there are fewer than two.
func mixOf(p *traces.Phase) ([]float64, error) {
	if len(p.Mix) < 2 {
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
