package tracegen

import (
	"fmt"
	"math/big"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/workloads"
	"pianola/traces"
)

// mixes are properties of mixSpec whose shares are not all short decimals.
var mixes = [][]string{
	{"readproportion=1"},
	{"insertproportion=1", "readproportion=0"},
	{"updateproportion=1", "scanproportion=1"},
	{"readproportion=0.000000000000000001", "readmodifywriteproportion=1"},
	{"readproportion=0.1", "updateproportion=0.2", "insertproportion=0.3", "scanproportion=0.15", "readmodifywriteproportion=0.25"},
	{"readproportion=7", "updateproportion=0", "insertproportion=3", "scanproportion=0", "readmodifywriteproportion=1000000"},
}

// words returns of how many of the 2^64 words each kind is picked, and checks
// the picks at the ends of each range.
func (m *mix) words(t *testing.T) [traces.KindLimit]*big.Int {
	t.Helper()
	var out [traces.KindLimit]*big.Int
	from := new(big.Int)
	for i, kind := range m.kinds {
		to := new(big.Int).Lsh(big.NewInt(1), 64)
		if i < len(m.thresholds) {
			to.SetUint64(m.thresholds[i])
		}
		out[kind] = new(big.Int).Sub(to, from)
		if out[kind].Sign() > 0 {
			last := new(big.Int).Sub(to, big.NewInt(1))
			if first, last := m.pick(from.Uint64()), m.pick(last.Uint64()); first != kind || last != kind {
				t.Errorf("words %v to %v pick %v to %v, want %v", from, to, first, last, kind)
			}
		}
		from = to
	}
	return out
}

// TestMixIsExact counts words: each kind has its share of the 2^64 words to the
// nearest word or so.
func TestMixIsExact(t *testing.T) {
	for _, properties := range mixes {
		spec := mixSpec(t, properties...)
		words := newMix(spec).words(t)
		sum := weightSum(spec)
		for kind, weight := range spec.Weights {
			if weight.Sign() == 0 {
				if words[kind] != nil {
					t.Errorf("%v: %v without weight has %v words", properties, traces.Kind(kind), words[kind])
				}
				continue
			}
			share := new(big.Rat).Quo(weight, sum)
			want := share.Mul(share, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64)))
			off := want.Sub(want, new(big.Rat).SetInt(words[kind]))
			if off.Abs(off).Cmp(big.NewRat(1, 1)) > 0 {
				t.Errorf("%v: %v has %v words, %v off its share", properties, traces.Kind(kind), words[kind], off.FloatString(3))
			}
		}
	}
}

// TestMixOfTraces counts the kinds of traces against the weights.
func TestMixOfTraces(t *testing.T) {
	specs := map[string]*Spec{}
	for _, name := range workloads.Names() {
		specs[name] = readySpec(t, name, "operationcount=100000", "arrivals=poisson")
	}
	for _, properties := range mixes {
		specs[fmt.Sprint(properties)] = mixSpec(t, append(properties, "operationcount=100000")...)
	}
	for name, spec := range specs {
		f := write(t, mustGenerator(t, spec))
		var total float64
		shares := make([]float64, traces.KindLimit)
		for kind, weight := range spec.Weights {
			shares[kind], _ = weight.Float64()
			total += shares[kind]
		}
		for kind := range shares {
			shares[kind] /= total
		}
		counts := f.totals.Phases[1].Ops
		if stat, df, p := chisquare.Fit(counts[:], shares); p < chisquare.MinP {
			t.Errorf("%s: kinds %v against %.3v: chi-square %.1f on %d, p = %.3g", name, counts, shares, stat, df, p)
		}
		if load := f.totals.Phases[0].Ops; load[traces.Insert] != spec.Records || f.totals.Phases[0].Count() != spec.Records {
			t.Errorf("%s: a load of %v, want %d inserts", name, load, spec.Records)
		}
	}
}

// TestKindsAreIndependent counts pairs of neighbours, and of operations that
// are as far apart as chunks and blocks are.
func TestKindsAreIndependent(t *testing.T) {
	spec := mixSpec(t, mixes[4]...)
	spec.Ops = 200_000
	ops := write(t, mustGenerator(t, spec)).all(t, "run")
	share := map[traces.Kind]float64{
		traces.Read: 0.1, traces.Update: 0.2, traces.Insert: 0.3, traces.Scan: 0.15, traces.ReadModifyWrite: 0.25,
	}
	for _, apart := range []int{1, 2, traces.BlockOps} {
		counts := make([]uint64, traces.KindLimit*traces.KindLimit)
		shares := make([]float64, len(counts))
		for i := range ops[apart:] {
			counts[ops[i].Kind*traces.KindLimit+ops[i+apart].Kind]++
		}
		for a := range traces.KindLimit {
			for b := range traces.KindLimit {
				shares[a*traces.KindLimit+b] = share[a] * share[b]
			}
		}
		if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
			t.Errorf("%d apart: chi-square %.1f on %d, p = %.3g", apart, stat, df, p)
		}
	}
}
