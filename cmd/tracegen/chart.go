package main

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"

	"pianola/traces"
)

// chartColumns is the number of slices of time of a rate chart.
const chartColumns = 60

// chartSlices is the number of slices that are counted while the length isn't
// known: many to a column, so that it matters little where one is cut.
const chartSlices = 1 << 13

// rateChart counts the operations of one phase in slices of its time, each of
// 2^fold ticks. When time runs past their end they are folded in pairs.
type rateChart struct {
	fold   uint
	slices [chartSlices]uint64
	last   uint64 // due time of the last operation so far, in ticks
}

func (c *rateChart) add(b *traces.Block) {
	for _, due := range b.Due {
		for due>>c.fold >= chartSlices {
			c.foldOnce()
		}
		c.slices[due>>c.fold]++
	}
	if len(b.Due) > 0 {
		c.last = b.Due[len(b.Due)-1]
	}
}

// spread counts n operations that are due evenly from one time until before
// another, not before those so far.
func (c *rateChart) spread(from, to, n uint64) {
	to = max(to, from+1)
	for (to-1)>>c.fold >= chartSlices {
		c.foldOnce()
	}
	done := uint64(0)
	for slice := from >> c.fold; slice <= (to-1)>>c.fold; slice++ {
		end := min((slice+1)<<c.fold, to)
		high, low := bits.Mul64(n, end-from)
		until, _ := bits.Div64(high, low, to-from)
		c.slices[slice] += until - done
		done = until
	}
	c.last = to - 1
}

func (c *rateChart) foldOnce() {
	for i := range chartSlices / 2 {
		c.slices[i] = c.slices[2*i] + c.slices[2*i+1]
	}
	clear(c.slices[chartSlices/2:])
	c.fold++
}

// columns returns the operations in equal parts of the phase's time. A slice on
// both sides of a cut is shared among them.
func (c *rateChart) columns() (counts [chartColumns]float64) {
	// Integers say which column a time is in: a quotient of floats may fall short
	// of a column that begins there.
	length := c.last + 1
	begin := func(column uint64) uint64 { // in ticks; column is at most chartColumns
		return length/chartColumns*column + length%chartColumns*column/chartColumns
	}
	column := uint64(0)
	for i, n := range c.slices {
		from, to := uint64(i)<<c.fold, min((uint64(i)+1)<<c.fold, length)
		for part := from; part < to; {
			for begin(column+1) <= part {
				column++
			}
			end := min(to, begin(column+1))
			counts[column] += float64(n) * float64(end-part) / float64(to-from)
			part = end
		}
	}
	return counts
}

// lines draws the rate over time, a line with the highest rate, one with bars,
// and one with the length.
func (c *rateChart) lines(tick time.Duration) []string {
	length := time.Duration(c.last+1) * tick
	counts, greatest := c.columns(), 0.0
	for _, n := range counts {
		greatest = max(greatest, n)
	}
	var bars strings.Builder
	for _, n := range counts {
		const eighths = " ▁▂▃▄▅▆▇█"
		level := int(math.Round(n * 8 / greatest))
		if n > 0 {
			level = max(level, 1)
		}
		bars.WriteString(string([]rune(eighths)[level]))
	}
	slice := length.Seconds() / chartColumns
	return []string{
		fmt.Sprintf("rate over time, a column for %s, full at %.4g op/s", time.Duration(slice*1e9).Round(time.Microsecond), greatest/slice),
		"|" + bars.String() + "|",
	}
}
