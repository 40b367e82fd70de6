package arrival

import (
	"fmt"
	"math/bits"
	"time"

	"pianola/tracegen/dist"
	"pianola/tracegen/random"
	"pianola/traces"
)

// Tick returns the unit of time in which the random gaps of a rate are
// expressed: the largest power of ten ns that is at most a hundredth of the
// mean gap, but no less than 1 ns and no more than 1 µs. Constant arrivals
// always use 1 ns. Only a rate of 0 has no tick that fits; it gets 1 µs.
func Tick(rate traces.Rate) time.Duration {
	// gap/100 >= tick, multiplied by num·100.
	gapHigh, gapLow := bits.Mul64(nsPerSecond, rate.Denominator)
	for tick := time.Microsecond; tick > 1; tick /= 10 {
		high, low := bits.Mul64(100*uint64(tick), rate.Numerator)
		if gapHigh > high || gapHigh == high && gapLow >= low {
			return tick
		}
	}
	return 1
}

// Poisson is a Poisson process whose gaps are rounded at random to whole ticks.
type Poisson struct {
	gaps *dist.Exponential
	tick time.Duration
	rate traces.Rate
}

// NewPoisson returns the process of the given mean rate in ticks of the given
// length, usually Tick(rate). The rate is bounded as in NewConstant. The mean
// gap must be 2^-10 to 2^53 ticks; from 100 ticks on the rounding is not felt.
func NewPoisson(rate traces.Rate, tick time.Duration) (*Poisson, error) {
	if err := checkRate(rate); err != nil {
		return nil, err
	}
	if tick < 1 || tick > time.Second {
		return nil, fmt.Errorf("schedule arrivals: tick of %d ns, want 1 ns to 1 s", tick)
	}
	mean := float64(nsPerSecond/float64(tick)) * (float64(rate.Denominator) / float64(rate.Numerator))
	gaps, err := dist.NewExponential(mean)
	if err != nil {
		return nil, fmt.Errorf("schedule arrivals: rate %d/%d per second in ticks of %d ns: %w", rate.Numerator, rate.Denominator, tick, err)
	}
	return &Poisson{gaps, tick, rate}, nil
}

// Tick returns the unit of the gaps.
func (p *Poisson) Tick() time.Duration { return p.tick }

// Gap draws the gap before an operation, in ticks.
func (p *Poisson) Gap(src *random.Source) uint64 { return p.gaps.Sample(src) }
