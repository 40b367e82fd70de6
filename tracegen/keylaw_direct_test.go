package tracegen

import (
	"fmt"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/traces"
)

// TestDirectDraws begins with few records out of what the zipfian laws are
// over, so that they draw from what is visible.
func TestDirectDraws(t *testing.T) {
	for _, c := range []struct {
		records    uint64
		properties []string
	}{
		{1, nil}, {10, nil}, {1000, nil},
		{10, []string{"insert.visibility=1h"}}, // nothing more is ever seen
		{500, []string{"insert.visibility=1h", "zipfian.theta=1.3"}},
		{3, []string{"zipfian.theta=2"}}, {10, []string{"zipfian.theta=0.01"}},
	} {
		for _, span := range []string{"ycsb", "exact"} {
			properties := append([]string{"requestdistribution=zipfian", "zipfian.range=" + span, fmt.Sprintf("recordcount=%d", c.records),
				"insertproportion=1", "operationcount=400000"}, c.properties...)
			spec := mixSpec(t, properties...)
			g := mustGenerator(t, spec)
			f := write(t, g)
			// Only the choices of operations that see too little for the usual draws.
			limit := (spec.Records + 200_000) / directShare
			var weights []float64
			if span == "exact" {
				weights = scrambledWeights(spec.Records+200_000, spec.Theta, spec.Seed)
			} else {
				limit = (spec.Records + 800_000 + 1) / directShare
				below := grayBelow
				if spec.Theta != 0.99 {
					below = foldedZipf(spec.Theta)
				}
				weights = foldedWeights(spec.Records+800_000+1, foldApart, below)
			}
			counts, seen := make([]uint64, limit), sightings(nil)
			n, draws := spec.Records, 0
			inserts := []bool{}
			v := g.phases[1].visibility
			f.ops(t, "run", func(i uint64, op *traces.Op) {
				if i > v && inserts[i-v-1] {
					n++
				}
				inserts = append(inserts, op.Kind == traces.Insert)
				if op.Kind == traces.Insert || n > limit {
					return
				}
				draws++
				counts[op.Key]++
				seen.add(n)
			})
			shares := seen.shares(weights)
			if stat, df, p := chisquare.Fit(counts[:len(shares)], shares); p < chisquare.MinP || draws < 20_000 {
				t.Errorf("%v: %d draws, chi-square %.1f on %d, p = %.3g", properties, draws, stat, df, p)
			}
		}
	}
}

// TestDirectDrawsAreBounded holds what a law keeps to its limits.
func TestDirectDrawsAreBounded(t *testing.T) {
	for _, span := range []string{"ycsb", "exact"} {
		spec := mixSpec(t, "requestdistribution=zipfian", "zipfian.range="+span, "recordcount=1", "insertproportion=1", "operationcount=10000000000")
		switch law := runOf(t, spec).law.(type) {
		case *exactLaw:
			if n := len(law.direct.below); n != directMax+1 {
				t.Errorf("a table of %d records", n)
			}
		case *foldedLaw:
			if n := len(law.direct.ranks); n != foldApart {
				t.Errorf("a table of %d ranks", n)
			}
		}
		// A law whose range is there needs none.
		spec = mixSpec(t, "requestdistribution=zipfian", "zipfian.range="+span, "insertproportion=0.05")
		switch law := runOf(t, spec).law.(type) {
		case *exactLaw:
			if law.direct != nil {
				t.Error("a table though all is visible")
			}
		case *foldedLaw:
			if law.direct != nil {
				t.Error("a table though all is visible")
			}
		}
	}
}

// TestWeightTable draws at the ends of each outcome.
func TestWeightTable(t *testing.T) {
	table := newWeightTable(5, func(k int) float64 { return []float64{1, 0, 2, 0, 4}[k] })
	for _, c := range []struct {
		u       float64
		n, want int
	}{
		{0, 1, 0}, {0.999, 1, 0}, {0, 5, 0}, {1, 5, 2}, {2.999, 5, 2}, {3, 5, 4}, {6.999, 5, 4}, {7, 5, 4}, {1, 3, 2}, {1, 2, 1},
	} {
		if got := table.at(c.u, c.n); got != c.want {
			t.Errorf("%v of the first %d: %d, want %d", c.u, c.n, got, c.want)
		}
	}
}
