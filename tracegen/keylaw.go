package tracegen

import (
	"fmt"
	"math/bits"

	"pianola/tracegen/random"
	"pianola/traces"
)

// keyLaw chooses the records of everything but inserts and deletes. A choice
// depends on the law, on the draws of the operation's index and on what the
// operation sees, and on nothing that other operations chose.
type keyLaw interface {
	// fill sets the record of each operation that chooses one. Of the other
	// operations it may set it to anything.
	fill(c *choices)
	// reach is the number of records that the law can name.
	reach() uint64
	// ranked reports whether fill also sets ranks.
	ranked() bool
	// keyMap says how a trace stores the keys.
	keyMap() traces.KeyMap
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
	// list is memory to use.
	list []uint32
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

// checkLiving makes it an error that an operation has nothing to choose from.
func (c *choices) checkLiving(reach uint64) error {
	for j, kind := range c.kinds {
		if n := min(c.limit(j), reach); chooses(kind) && n <= c.deletes+uint64(c.deleted[j]) {
			return fmt.Errorf("operation %d finds no record to choose: %d of %d are deleted", c.first+uint64(j), c.deletes+uint64(c.deleted[j]), n)
		}
	}
	return nil
}

// living draws one of the records below reach that operation j may choose, each
// equally often.
func (c *choices) living(j int, src *random.Source, reach uint64) uint64 {
	n := min(c.limit(j), reach)
	if c.victims == nil {
		return src.Below(n)
	}
	gone := c.deletes + uint64(c.deleted[j])
	x := src.Below(n - gone)
	if loaded := c.victims.records - gone; x >= loaded {
		return c.victims.records + x - loaded
	}
	return c.victims.record(gone + x)
}

const (
	// redrawMax bounds the draws for a record that an operation may choose; behind
	// them one is drawn uniformly. Laws draw directly from what is visible where
	// that is a small part of their range.
	redrawMax = 1 << 16
	// redrawDeletedMax takes its place where there are deletes: nothing keeps them
	// from taking all that a law draws.
	redrawDeletedMax = 1 << 10
	// redrawWords is how many words of an index lie between the beginnings of its
	// draws. A draw of more is too rare to be felt.
	redrawWords = 16
)

// drawer takes one draw of a law.
type drawer interface {
	// draw draws for an operation that sees n records; what it draws may be n or
	// more.
	draw(src *random.Source, n uint64) (rank, record uint64)
	// rankOf returns a rank that stands for a record below reach.
	rankOf(record uint64) uint64
	reach() uint64
}

// everyRecord is the reach of laws without one.
const everyRecord = 1<<64 - 1

// settle draws again for the operations from from to to whose first draw is no
// record that they may choose.
func (c *choices) settle(law drawer, from, to int) {
	list := extend(c.list, to-from)
	c.list = list
	n := 0
	for ; from < to; from += 64 {
		end := min(from+64, to)
		if c.victims == nil && c.allVisible(from, end) {
			continue
		}
		// The list takes every operation and keeps it only if the next one doesn't
		// take its place: no branch has to foretell which one draws again.
		for j := from; j < end; j++ {
			list[n] = uint32(j)
			n += c.unfit(j)
		}
	}
	c.redraw(law, list[:n], 1)
}

// allVisible reports whether all operations from from to to have records below
// their limits.
func (c *choices) allVisible(from, to int) bool {
	sum, keys := uint64(0), c.keys[from:to]
	if len(c.seen) == 0 {
		for _, record := range keys {
			_, below := bits.Sub64(record, c.visible, 0)
			sum += below
		}
	} else {
		seen := c.seen[from:to]
		for j, record := range keys {
			_, below := bits.Sub64(record, c.visible+uint64(seen[j]), 0)
			sum += below
		}
	}
	return sum == uint64(len(keys))
}

// unfit is 1 if operation j has to draw again, else 0.
func (c *choices) unfit(j int) int {
	_, below := bits.Sub64(c.keys[j], c.limit(j), 0)
	if c.victims != nil && below != 0 && !c.lives(j, c.keys[j]) {
		below = 0
	}
	return int(1-below) & choosing[c.kinds[j]]
}

// choosing is 1 for the kinds that choose a record.
var choosing = func() (out [traces.KindLimit]int) {
	for k := range traces.KindLimit {
		if k.Valid() && chooses(k) {
			out[k] = 1
		}
	}
	return out
}()

// drawAll draws for the operations from from to to by single draws.
func (c *choices) drawAll(law drawer, from, to int) {
	list := extend(c.list, to-from)[:0]
	for j := from; j < to; j++ {
		if chooses(c.kinds[j]) {
			list = append(list, uint32(j))
		}
	}
	c.list = list
	c.redraw(law, list, 0)
}

// redraw takes draw number draw and more of each operation of a list, which it
// uses up, until all have a record that they may choose.
func (c *choices) redraw(law drawer, list []uint32, draw uint64) {
	most := uint64(redrawMax)
	if c.victims != nil {
		most = redrawDeletedMax
	}
	for ; len(list) > 0 && draw < most; draw++ {
		n := 0
		for _, at := range list {
			j := int(at)
			c.src = c.stream.Behind(c.first+uint64(j), draw*redrawWords)
			rank, record := law.draw(&c.src, c.limit(j))
			c.set(j, rank, record)
			list[n] = at
			n += c.unfit(j)
		}
		list = list[:n]
	}
	for _, at := range list {
		j := int(at)
		c.src = c.stream.Behind(c.first+uint64(j), most*redrawWords)
		record := c.living(j, &c.src, law.reach())
		c.set(j, law.rankOf(record), record)
	}
}

func (c *choices) set(j int, rank, record uint64) {
	c.keys[j] = record
	if len(c.ranks) > 0 {
		c.ranks[j] = rank
	}
}
