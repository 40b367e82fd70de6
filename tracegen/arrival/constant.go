package arrival

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"pianola/traces"
)

const nsPerSecond = 1_000_000_000

// MaxDue is the last instant that can be expressed, about 292 years after the
// start of the phase. Due times beyond it are given as MaxDue.
const MaxDue uint64 = math.MaxInt64

// Constant is a constant rate of operations: number n is due at
// floor(n·10^9·den/num) ns for the rate num/den per second.
type Constant struct {
	// The gap is whole + part/num ns, with part < num.
	whole, part, num uint64
	rate             traces.Rate
}

// NewConstant returns the arrivals of an exact rate. The rate must not exceed
// 10^9 per second, one operation per ns, and the gap must not exceed MaxDue.
func NewConstant(rate traces.Rate) (Constant, error) {
	if err := checkRate(rate); err != nil {
		return Constant{}, err
	}
	high, low := bits.Mul64(nsPerSecond, rate.Denominator)
	whole, part := bits.Div64(high, low, rate.Numerator)
	return Constant{whole: whole, part: part, num: rate.Numerator, rate: rate}, nil
}

// checkRate refuses rates whose gaps don't fit in 63 bits of ns or are shorter
// than one.
func checkRate(rate traces.Rate) error {
	if rate.Numerator == 0 || rate.Denominator == 0 {
		return fmt.Errorf("schedule arrivals: rate %d/%d per second is not above 0", rate.Numerator, rate.Denominator)
	}
	high, low := bits.Mul64(nsPerSecond, rate.Denominator)
	if high == 0 && low < rate.Numerator {
		return fmt.Errorf("schedule arrivals: rate %d/%d per second is more than one per ns", rate.Numerator, rate.Denominator)
	}
	// The quotient fits in 63 bits iff the dividend is below num·2^63.
	if limit, rest := rate.Numerator>>1, rate.Numerator<<63; high > limit || high == limit && low >= rest {
		return fmt.Errorf("schedule arrivals: rate %d/%d per second leaves gaps of more than 2^63 ns", rate.Numerator, rate.Denominator)
	}
	return nil
}

// Due returns when operation n is due, in ns from the start of the phase. It
// never decreases with n; from MaxDue on it stays at MaxDue. Operations below
// Count(d) are due before d <= MaxDue, so a generator that stops there sees no
// due time that was cut.
func (c Constant) Due(n uint64) uint64 {
	// n·(whole + part/num); the quotient is below n, as part < num.
	high, low := bits.Mul64(n, c.part)
	fraction, _ := bits.Div64(high, low, c.num)
	high, low = bits.Mul64(n, c.whole)
	due, carry := bits.Add64(low, fraction, 0)
	if high+carry > 0 || due > MaxDue {
		return MaxDue
	}
	return due
}

// Count returns the number of operations that are due before d, 0 for d <= 0.
// Operation 0 is due at 0.
func (c Constant) Count(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	// The count is the least n with n·10^9·den/num >= d, as floor(x) >= d iff
	// x >= d for an integer d. As the gap is at least 1 ns, it is at most d. A
	// search over n needs no product wider than Due's.
	least, most := uint64(0), uint64(d) // Due(least-1) < d <= Due(most)
	for least < most {
		if middle := least + (most-least)/2; c.Due(middle) < uint64(d) {
			least = middle + 1
		} else {
			most = middle
		}
	}
	return least
}
