package tracegen

import (
	"math/big"

	"pianola/traces"
)

// mix draws kinds with exact shares: the thresholds are the sums of the weights
// over their total, in units of 2^-64, rounded down.
type mix struct {
	kinds      []traces.Kind
	thresholds []uint64
	inserts    bool
}

func weightSum(spec *Spec) *big.Rat {
	sum := new(big.Rat)
	for k := range traces.KindLimit {
		if w := spec.Weights[k]; w != nil {
			sum.Add(sum, w)
		}
	}
	return sum
}

// shares returns the share of each kind that occurs, in the order of kinds.
func shares(spec *Spec) (kinds []traces.Kind, out []*big.Rat) {
	sum := weightSum(spec)
	for k := range traces.KindLimit {
		if w := spec.Weights[k]; w != nil && w.Sign() > 0 {
			kinds = append(kinds, k)
			out = append(out, new(big.Rat).Quo(w, sum))
		}
	}
	return kinds, out
}

func newMix(spec *Spec) *mix {
	m := &mix{}
	var parts []*big.Rat
	m.kinds, parts = shares(spec)
	whole := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64))
	sum := new(big.Rat)
	for i, share := range parts {
		m.inserts = m.inserts || m.kinds[i] == traces.Insert
		sum.Add(sum, share)
		if i < len(parts)-1 { // the last kind takes what is left
			t := new(big.Rat).Mul(sum, whole)
			m.thresholds = append(m.thresholds, new(big.Int).Quo(t.Num(), t.Denom()).Uint64())
		}
	}
	return m
}

// pick returns the kind that a uniform 64-bit word stands for.
func (m *mix) pick(word uint64) traces.Kind {
	for i, t := range m.thresholds {
		if word < t {
			return m.kinds[i]
		}
	}
	return m.kinds[len(m.kinds)-1]
}
