package tracegen

import (
	"fmt"

	"pianola/tracegen/random"
	"pianola/traces"
)

// keyLaw chooses the records of everything but inserts and deletes. A choice
// depends on the law, on the draws of the operation's index and on what the
// operation sees, and on nothing that other operations chose.
type keyLaw interface {
	// fill sets the record of each operation that chooses one. Of the other
	// operations it may set it to anything.
	fill(c *choices) error
	// ranked reports whether fill also sets ranks.
	ranked() bool
}

// choices is a block's column of records, to be filled by a law.
type choices struct {
	stream random.Stream
	// first is the index of the block's first operation in its phase, and chosen
	// the number of operations before it that chose a record.
	first, chosen uint64
	kinds         []traces.Kind
	// Operation j may choose the records below visible+seen[j], or visible if seen
	// is empty, but those that the first deletes+deleted[j] deletes took. Without
	// victims there are no deletes.
	visible uint64
	seen    []uint32
	deletes uint64
	deleted []uint32
	victims *victims

	// keys takes the records, ranks the ranks by popularity where the law has them.
	keys, ranks []uint64
	// src is what a law draws from. It is here since what is passed to an
	// interface is allocated.
	src random.Source
}

// limit returns the number of records that operation j sees, deleted or not.
func (c *choices) limit(j int) uint64 {
	if len(c.seen) == 0 {
		return c.visible
	}
	return c.visible + uint64(c.seen[j])
}

// until returns the first operation from from on that sees more than n records.
func (c *choices) until(from int, n uint64) int {
	if len(c.seen) == 0 {
		if c.visible > n {
			return from
		}
		return len(c.keys)
	}
	low, high := from, len(c.keys)
	for low < high {
		if mid := int(uint(low+high) / 2); c.limit(mid) > n {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// lives reports whether operation j may choose a record below its limit.
func (c *choices) lives(j int, record uint64) bool {
	if c.victims == nil || record >= c.victims.records {
		return true
	}
	return c.victims.position(record) >= c.deletes+uint64(c.deleted[j])
}

// living draws one of the records below reach that operation j may choose, each
// equally often.
func (c *choices) living(j int, src *random.Source, reach uint64) (uint64, error) {
	n := min(c.limit(j), reach)
	if c.victims == nil {
		return src.Below(n), nil
	}
	gone := c.deletes + uint64(c.deleted[j])
	if n <= gone {
		return 0, fmt.Errorf("operation %d finds no record to choose: %d of %d are deleted", c.first+uint64(j), gone, n)
	}
	x := src.Below(n - gone)
	if loaded := c.victims.records - gone; x >= loaded {
		return c.victims.records + x - loaded, nil
	}
	return c.victims.record(gone + x), nil
}

// redrawMax bounds the draws for a record that an operation may choose; behind
// them one is drawn uniformly. Laws draw directly from what is visible where
// that is a small part of their range, so so many draws are missed only where
// nearly everything is deleted.
const redrawMax = 1 << 16

// drawer takes one draw of a law.
type drawer interface {
	// draw draws for an operation that sees n records; what it draws may be n or
	// more.
	draw(src *random.Source, n uint64) (rank, record uint64)
	// rankOf returns a rank that stands for a record.
	rankOf(record uint64) uint64
	// reach is the number of records that have a rank.
	reach() uint64
}

// everyRecord is the reach of laws without one.
const everyRecord = 1<<64 - 1

// settle draws again for the operations from from to to whose first draw is no
// record that they may choose.
func (c *choices) settle(law drawer, from, to int) error {
	if c.victims == nil {
		if len(c.seen) == 0 {
			return c.settleBelow(law, from, to)
		}
		for j, more := range c.seen[from:to] {
			if c.keys[from+j] >= c.visible+uint64(more) {
				if err := c.redraw(law, from+j); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for j := from; j < to; j++ {
		if c.keys[j] >= c.limit(j) || !c.lives(j, c.keys[j]) {
			if err := c.redraw(law, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleBelow is settle where every operation sees the same records.
func (c *choices) settleBelow(law drawer, from, to int) error {
	for j, record := range c.keys[from:to] {
		if record >= c.visible {
			if err := c.redraw(law, from+j); err != nil {
				return err
			}
		}
	}
	return nil
}

// redraw draws for operation j from the first draw of its index on.
func (c *choices) redraw(law drawer, j int) error {
	if !chooses(c.kinds[j]) {
		return nil
	}
	c.src = c.stream.At(c.first + uint64(j))
	n := c.limit(j)
	for range redrawMax {
		rank, record := law.draw(&c.src, n)
		if record < n && c.lives(j, record) {
			c.set(j, rank, record)
			return nil
		}
	}
	record, err := c.living(j, &c.src, law.reach())
	if err != nil {
		return err
	}
	c.set(j, law.rankOf(record), record)
	return nil
}

func (c *choices) set(j int, rank, record uint64) {
	c.keys[j] = record
	if len(c.ranks) > 0 {
		c.ranks[j] = rank
	}
}
