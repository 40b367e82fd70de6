package tracegen

import (
	"fmt"
	"math/big"

	"pianola/tracegen/dist"
	"pianola/tracegen/random"
	"pianola/traces"
)

// The laws below are over the ages of the records that an operation sees: the
// newest of n records, number n-1, has age 0.

// latestLaw is zipf over the ages.
type latestLaw struct{ ages *dist.Growing }

func (l *latestLaw) ranked() bool          { return false }
func (l *latestLaw) keyMap() traces.KeyMap { return traces.KeyMap{Code: traces.CodeAge} }

func (l *latestLaw) fill(c *choices) {
	for from := 0; from < len(c.keys); {
		law := l.ages.Law(c.limit(from))
		to := c.until(from, law.N())
		law.Fill(c.keys[from:to], c.stream, c.first+uint64(from))
		for j, age := range c.keys[from:to] {
			n := c.limit(from + j)
			if age >= n {
				src := c.stream.At(c.first + uint64(from+j))
				age = law.SampleBelow(&src, n)
			}
			c.keys[from+j] = n - 1 - age
		}
		from = to
	}
	if c.victims != nil {
		c.settle(l, 0, len(c.keys))
	}
}

func (l *latestLaw) draw(src *random.Source, n uint64) (rank, record uint64) {
	return 0, n - 1 - l.ages.Sample(src, n)
}

func (l *latestLaw) rankOf(uint64) uint64 { return 0 }
func (l *latestLaw) reach() uint64        { return everyRecord }

// exponentialLaw falls exponentially with the age.
type exponentialLaw struct{ ages *dist.Ages }

// newExponentialLaw puts the share ops of the operations on the newest records,
// data times as many as were loaded. As in YCSB what falls beyond the oldest
// record is drawn again, so that the share is a little more.
func newExponentialLaw(records uint64, ops, data *big.Rat) (*exponentialLaw, error) {
	if ops == nil || data == nil || ops.Sign() <= 0 || ops.Cmp(big.NewRat(1, 1)) >= 0 || data.Sign() <= 0 {
		return nil, fmt.Errorf("make an exponential law: share %v of the operations on %v of the records, want shares above 0, the first below 1", ops, data)
	}
	rest, _ := new(big.Rat).Sub(big.NewRat(1, 1), ops).Float64()
	newest, _ := new(big.Rat).Mul(data, new(big.Rat).SetInt(new(big.Int).SetUint64(records))).Float64()
	ages, err := dist.NewAges(newest, rest)
	return &exponentialLaw{ages}, err
}

func (l *exponentialLaw) ranked() bool          { return false }
func (l *exponentialLaw) keyMap() traces.KeyMap { return traces.KeyMap{Code: traces.CodeAge} }

func (l *exponentialLaw) fill(c *choices) {
	l.ages.Fill(c.keys, c.stream, c.first, c.visible, c.seen)
	for j, age := range c.keys {
		c.keys[j] = c.limit(j) - 1 - age
	}
	if c.victims != nil {
		c.settle(l, 0, len(c.keys))
	}
}

func (l *exponentialLaw) draw(src *random.Source, n uint64) (rank, record uint64) {
	return 0, n - 1 - l.ages.Sample(src, n)
}

func (l *exponentialLaw) rankOf(uint64) uint64 { return 0 }
func (l *exponentialLaw) reach() uint64        { return everyRecord }
