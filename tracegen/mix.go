package tracegen

import (
	"math/big"
	"math/bits"

	"pianola/tracegen/random"
	"pianola/traces"
)

// mix draws kinds with exact shares: the thresholds are the sums of the weights
// over their total, in units of 2^-64, rounded down.
type mix struct {
	kinds      []traces.Kind
	thresholds []uint64
	// inserts and deletes report whether the mix holds such operations, chooses
	// whether it holds operations that choose a key by the law.
	inserts, deletes, chooses bool
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
		m.deletes = m.deletes || m.kinds[i] == traces.Delete
		m.chooses = m.chooses || chooses(m.kinds[i])
		sum.Add(sum, share)
		if i < len(parts)-1 { // the last kind takes what is left
			t := new(big.Rat).Mul(sum, whole)
			m.thresholds = append(m.thresholds, new(big.Int).Quo(t.Num(), t.Denom()).Uint64())
		}
	}
	return m
}

// chooses reports whether an operation of kind k draws its key by the law:
// inserts take the next number, deletes the next victim.
func chooses(k traces.Kind) bool { return k != traces.Insert && k != traces.Delete }

// pick returns the kind that a uniform 64-bit word stands for: each threshold
// that the word reaches leads one kind further, without a branch.
func (m *mix) pick(word uint64) traces.Kind {
	at := uint64(0)
	for _, t := range m.thresholds {
		_, below := bits.Sub64(word, t, 0)
		at += 1 - below
	}
	return m.kinds[at]
}

// fill sets kinds[j] to the kind of operation first+j.
func (m *mix) fill(kinds []traces.Kind, stream random.Stream, first uint64) {
	if len(m.thresholds) == 0 {
		for j := range kinds {
			kinds[j] = m.kinds[0]
		}
		return
	}
	var words [random.Part]uint64
	for len(kinds) > 0 {
		n := min(len(kinds), len(words))
		stream.Words(words[:n], first)
		m.pickAll(kinds[:n], words[:n])
		kinds, first = kinds[n:], first+uint64(n)
	}
}

// pickAll sets kinds[j] to the kind that words[j] stands for.
func (m *mix) pickAll(kinds []traces.Kind, words []uint64) {
	kinds = kinds[:len(words)] // no bounds to check below
	if len(m.thresholds) > 1 {
		for j, word := range words {
			kinds[j] = m.pick(word)
		}
		return
	}
	t, low, high := m.thresholds[0], m.kinds[0], m.kinds[1]
	for j, word := range words {
		_, below := bits.Sub64(word, t, 0)
		kinds[j] = high ^ (low^high)&-traces.Kind(below)
	}
}

// countKind returns how many of the kinds are k.
func countKind(kinds []traces.Kind, k traces.Kind) (n uint64) {
	for _, kind := range kinds {
		n += (uint64(kind^k) - 1) >> 63
	}
	return n
}
