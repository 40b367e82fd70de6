package replay

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
	"time"

	"pianola/traces"
)

// scale turns ticks of a trace into times of the run: ticks · tick · den / num,
// rounded down, where num / den is the speed.
type scale struct {
	tick     uint64
	num, den uint64
}

func newScale(tick time.Duration, num, den uint64) (scale, error) {
	if num == 0 || den == 0 {
		return scale{}, fmt.Errorf("speed %d/%d: want a ratio above 0", num, den)
	}
	hi, lo := bits.Mul64(uint64(tick), den)
	if hi > 0 {
		return scale{}, fmt.Errorf("speed %d/%d: the ratio is too fine for ticks of %v", num, den, tick)
	}
	return scale{tick: lo, num: num, den: den}, nil
}

// CheckSpeed says why a trace can't be replayed at a speed, if it can't. A speed
// of 0/0 stands for 1.
func CheckSpeed(num, den uint64, h *traces.Header) error {
	if num == 0 && den == 0 {
		return nil
	}
	_, err := newScale(h.Tick, num, den)
	return err
}

// due returns the due time of a tick count; beyond what a Duration holds, its
// greatest value.
func (s scale) due(ticks uint64) time.Duration {
	hi, lo := bits.Mul64(ticks, s.tick)
	if s.num == 1 && hi == 0 {
		return time.Duration(min(lo, math.MaxInt64)) // a division takes as long as all else here
	}
	if hi >= s.num {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, s.num)
	return time.Duration(min(q, math.MaxInt64))
}

// rate returns the mean rate of a phase after scaling, in ops per second.
func (s scale) rate(r traces.Rate) float64 {
	return r.PerSecond() * float64(s.num) / float64(s.den)
}

// ParseSpeed reads a speed as a decimal above 0 with up to 9 digits behind the
// point, as an exact ratio.
func ParseSpeed(s string) (num, den uint64, err error) {
	ratio, err := parseDecimal(s)
	if err != nil {
		return 0, 0, fmt.Errorf("speed %q: %w", s, err)
	}
	return ratio.Num().Uint64(), ratio.Denom().Uint64(), nil
}

// SpeedForRate returns the speed at which the mean rate of phase run is the
// given one in operations per second, a decimal: the rate divided by the one
// that the trace states.
func SpeedForRate(s string, h *traces.Header) (num, den uint64, err error) {
	rate, err := parseDecimal(s)
	if err != nil {
		return 0, 0, fmt.Errorf("rate %q: %w", s, err)
	}
	for i := range h.Phases {
		p := &h.Phases[i]
		if p.Name != "run" || !p.Paced || p.Rate.Numerator == 0 {
			continue
		}
		stated := new(big.Rat).SetFrac(new(big.Int).SetUint64(p.Rate.Numerator), new(big.Int).SetUint64(p.Rate.Denominator))
		ratio := new(big.Rat).Quo(rate, stated)
		if !ratio.Num().IsUint64() || !ratio.Denom().IsUint64() {
			return 0, 0, fmt.Errorf("rate %q: its ratio to the trace's %g op/s is too fine", s, p.Rate.PerSecond())
		}
		return ratio.Num().Uint64(), ratio.Denom().Uint64(), nil
	}
	return 0, 0, fmt.Errorf("rate %q: the trace has no paced phase run that states its rate", s)
}

func parseDecimal(s string) (*big.Rat, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	const digits = 9
	if len(whole) > digits || len(fraction) > digits || whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return nil, fmt.Errorf("want a decimal with up to %d digits before and behind the point", digits)
	}
	ratio, ok := new(big.Rat).SetString("0" + whole + "." + fraction + "0")
	if !ok || ratio.Sign() == 0 {
		return nil, errors.New("want a number above 0")
	}
	return ratio, nil
}
