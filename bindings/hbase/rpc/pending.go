package rpc

import "time"

// calls holds the calls under way by their numbers, which only grow: an answer
// that comes late finds no other call. The place of a number is its remainder;
// one whose place is taken by a call of long ago is passed over.
type calls struct {
	places []place
	n      int
	last   uint32
}

type place struct {
	call *Call
	id   uint32
}

const (
	firstPlaces = 64
	// numbers are below it: Java's are signed.
	numberLimit = 1 << 31
)

// add takes a call in and returns its number.
func (c *calls) add(call *Call) uint32 {
	if 2*c.n >= len(c.places) {
		c.grow()
	}
	for {
		c.last = (c.last + 1) % numberLimit
		if p := &c.places[c.last%uint32(len(c.places))]; p.call == nil {
			*p = place{call, c.last}
			c.n++
			return c.last
		}
	}
}

// grow doubles the places. Numbers that differ by one remainder differ by the
// larger one too.
func (c *calls) grow() {
	old := c.places
	c.places = make([]place, max(firstPlaces, 2*len(old)))
	for _, p := range old {
		if p.call != nil {
			c.places[p.id%uint32(len(c.places))] = p
		}
	}
}

// take removes the call of a number; nil if there is none.
func (c *calls) take(id uint32) *Call {
	if len(c.places) == 0 {
		return nil
	}
	p := &c.places[id%uint32(len(c.places))]
	if p.call == nil || p.id != id {
		return nil
	}
	call := p.call
	*p = place{}
	c.n--
	return call
}

// takeLate removes the calls whose deadline is not after now.
func (c *calls) takeLate(late []*Call, now time.Duration) []*Call {
	if c.n == 0 {
		return late
	}
	for i := range c.places {
		if call := c.places[i].call; call != nil && call.Deadline <= now {
			late = append(late, call)
			c.places[i] = place{}
			c.n--
		}
	}
	return late
}

func (c *calls) takeAll() []*Call {
	var all []*Call
	for i := range c.places {
		if call := c.places[i].call; call != nil {
			all = append(all, call)
		}
	}
	*c = calls{last: c.last}
	return all
}

// remove removes a call and reports whether it was there.
func (c *calls) remove(call *Call) bool {
	for i := range c.places {
		if c.places[i].call == call {
			c.places[i] = place{}
			c.n--
			return true
		}
	}
	return false
}
