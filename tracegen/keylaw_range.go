package tracegen

import (
	"fmt"
	"math/big"
	"math/bits"

	"pianola/tracegen/dist"
	"pianola/tracegen/random"
	"pianola/traces"
)

// The laws below are over the records loaded, as YCSB's are: they don't see
// inserts.

// uniformLaw takes each of the records loaded equally often.
type uniformLaw struct{ records dist.Uniform }

func (l *uniformLaw) ranked() bool          { return false }
func (l *uniformLaw) keyMap() traces.KeyMap { return traces.KeyMap{} }

func (l *uniformLaw) fill(c *choices) {
	l.records.Fill(c.keys, c.stream, c.first)
	if c.victims != nil {
		c.settle(l, 0, len(c.keys))
	}
}

func (l *uniformLaw) draw(src *random.Source, _ uint64) (rank, record uint64) {
	return 0, l.records.Sample(src)
}

func (l *uniformLaw) rankOf(uint64) uint64 { return 0 }
func (l *uniformLaw) reach() uint64        { return everyRecord }

// hotspotLaw takes a hot record or another one, and each of either equally
// often. The hot ones have the lowest key numbers.
type hotspotLaw struct {
	// hot of the 2^64 words stand for a hot record, or all if always is set.
	hot    uint64
	always bool
	// sides are the first record and the number of the others, and of the hot.
	sides [2]struct{ first, n uint64 }
}

// newHotspotLaw takes the shares of hot records and of the operations on them.
// Of n records floor(n·data) are hot. A side without records, or one that no
// operation goes to, leaves all to the other.
func newHotspotLaw(records uint64, data, ops *big.Rat) (*hotspotLaw, error) {
	one := big.NewRat(1, 1)
	for _, share := range []*big.Rat{data, ops} {
		if share == nil || share.Sign() < 0 || share.Cmp(one) > 0 {
			return nil, fmt.Errorf("make a hotspot law: share %v, want 0 to 1", share)
		}
	}
	size := new(big.Rat).Mul(data, new(big.Rat).SetInt(new(big.Int).SetUint64(records)))
	hot := new(big.Int).Quo(size.Num(), size.Denom()).Uint64()
	l := &hotspotLaw{}
	l.sides[0].first, l.sides[0].n = hot, records-hot
	l.sides[1].n = hot
	words := new(big.Rat).Mul(ops, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64)))
	switch {
	case hot == 0:
		l.hot = 0
	case hot == records || ops.Cmp(one) == 0:
		l.always = true
	default:
		l.hot = new(big.Int).Quo(words.Num(), words.Denom()).Uint64()
	}
	if l.always {
		l.sides[0] = l.sides[1]
	}
	return l, nil
}

func (l *hotspotLaw) ranked() bool          { return false }
func (l *hotspotLaw) keyMap() traces.KeyMap { return traces.KeyMap{} }

func (l *hotspotLaw) fill(c *choices) {
	for j := range c.keys {
		_, hot := bits.Sub64(c.stream.Word(c.first+uint64(j)), l.hot, 0)
		side := &l.sides[hot&1]
		high, low := bits.Mul64(c.stream.Second(c.first+uint64(j)), side.n)
		c.keys[j] = side.first + high
		if low < side.n {
			src := c.stream.At(c.first + uint64(j))
			_, c.keys[j] = l.draw(&src, 0)
		}
	}
	if c.victims != nil {
		c.settle(l, 0, len(c.keys))
	}
}

func (l *hotspotLaw) draw(src *random.Source, _ uint64) (rank, record uint64) {
	_, hot := bits.Sub64(src.Uint64(), l.hot, 0)
	side := &l.sides[hot]
	return 0, side.first + src.Below(side.n)
}

func (l *hotspotLaw) rankOf(uint64) uint64 { return 0 }
func (l *hotspotLaw) reach() uint64        { return everyRecord }

// sequentialLaw takes the records loaded in the order of their key numbers, one
// for each operation that chooses one, and begins again behind the last. Where
// a record is deleted, the next one that lives is taken instead; the operation
// behind goes on as if nothing were deleted.
type sequentialLaw struct{ records uint64 }

func (l *sequentialLaw) ranked() bool          { return false }
func (l *sequentialLaw) keyMap() traces.KeyMap { return traces.KeyMap{Code: traces.CodeSuccessor} }

func (l *sequentialLaw) fill(c *choices) {
	next := c.chosen % l.records
	for j, kind := range c.kinds {
		c.keys[j] = next
		if chooses(kind) {
			if next++; next == l.records {
				next = 0
			}
		}
	}
	if c.victims == nil {
		return
	}
	for j, kind := range c.kinds {
		if chooses(kind) && !c.lives(j, c.keys[j]) {
			l.skip(c, j)
		}
	}
}

func (l *sequentialLaw) reach() uint64 { return everyRecord }

// skip goes on from a record that is deleted, or behind redrawDeletedMax of them draws
// one that is not.
func (l *sequentialLaw) skip(c *choices, j int) {
	at := c.keys[j]
	for range min(redrawDeletedMax, l.records) {
		if at++; at == l.records {
			at = 0
		}
		if c.lives(j, at) {
			c.keys[j] = at
			return
		}
	}
	src := c.stream.At(c.first + uint64(j))
	c.keys[j] = c.living(j, &src, everyRecord)
}
