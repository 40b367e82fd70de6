package replay

import (
	"fmt"
	"io"
	"time"

	"pianola/traces"
)

// cursor gives the ops of one phase in order. A goroutine decodes blocks ahead
// of it; another one hashes those that it has left behind, so that the digest
// is of the ops that were claimed. The cursor itself is used by one goroutine
// at a time.
type cursor struct {
	clock  Clock
	decode *decoder
	stop   <-chan struct{}
	block  *traces.Block
	at     int
	// err is what ended the phase early; nil at its end.
	err  error
	done bool
	// nextInsert is the key number that the next insert of the trace gets.
	nextInsert uint64
	claimed    uint64
	starved    time.Duration
	left       chan *traces.Block
	digest     *traces.PhaseDigest
	hashed     chan struct{}
}

// decoder reads the blocks of a trace ahead of their use.
type decoder struct {
	reader *traces.Reader
	ready  chan *traces.Block
	free   chan *traces.Block
	stop   chan struct{}
	// held is a block of a phase that has not begun.
	held *traces.Block
	err  error
}

const (
	// The decoder runs ahead by 2 s of ops or 32 MB of columns, whichever is
	// less; a block's columns take up to 2 MB.
	aheadTime   = 2 * time.Second
	aheadBlocks = 16
)

func newDecoder(r *traces.Reader, rate float64) *decoder {
	ahead := aheadBlocks
	if rate > 0 {
		ahead = min(ahead, 1+int(min(rate*aheadTime.Seconds()/traces.BlockOps, aheadBlocks)))
	}
	d := &decoder{
		reader: r,
		ready:  make(chan *traces.Block, ahead),
		free:   make(chan *traces.Block, ahead+3),
		stop:   make(chan struct{}),
	}
	for range cap(d.free) {
		d.free <- new(traces.Block)
	}
	go d.run()
	return d
}

func (d *decoder) run() {
	defer close(d.ready)
	for {
		var b *traces.Block
		select {
		case b = <-d.free:
		case <-d.stop:
			return
		}
		if err := d.reader.NextBlock(b); err != nil {
			if err != io.EOF {
				d.err = err
			}
			return
		}
		select {
		case d.ready <- b:
		case <-d.stop:
			return
		}
	}
}

// next returns the next block of the given phase, or nil behind its last and
// once stop is closed. The error is what ended the trace early.
func (d *decoder) next(phase int, stop <-chan struct{}) (*traces.Block, error) {
	b, ok := d.held, true
	if b == nil {
		select {
		case b, ok = <-d.ready:
		case <-stop:
			return nil, nil // a stream may stall for ever
		}
	}
	d.held = nil
	switch {
	case !ok:
		return nil, d.err
	case b.Phase > phase:
		d.held = b
		return nil, nil
	}
	return b, nil
}

// close ends the decoding. It does not wait for a read that may never return.
func (d *decoder) close() { close(d.stop) }

func newCursor(clock Clock, d *decoder, paced bool, stop <-chan struct{}) *cursor {
	c := &cursor{
		clock: clock, decode: d, stop: stop, digest: traces.NewPhaseDigest(paced),
		left: make(chan *traces.Block, aheadBlocks), hashed: make(chan struct{}),
	}
	go c.hash()
	return c
}

func (c *cursor) hash() {
	for b := range c.left {
		c.digest.Add(b)
		c.decode.free <- b
	}
	close(c.hashed)
}

// fetch goes on to the next block of the phase.
func (c *cursor) fetch(phase int) {
	if c.block != nil {
		c.left <- c.block
	}
	begin := c.clock.Now()
	c.at = 0
	c.block, c.err = c.decode.next(phase, c.stop)
	c.starved += c.clock.Now() - begin
	if c.block == nil {
		c.done = true
		return
	}
	c.nextInsert = c.block.InsertBase
}

// atHand reports whether next will not wait for the decoder.
func (c *cursor) atHand() bool { return c.block != nil && c.at < c.block.Len() }

// next fills op with the next op of the phase, or returns false behind its last.
func (c *cursor) next(phase int, op *traces.Op) bool {
	for c.block == nil || c.at == c.block.Len() {
		if c.done {
			return false
		}
		c.fetch(phase)
	}
	c.block.Op(c.at, op)
	c.at++
	c.claimed++
	if op.Kind == traces.Insert {
		c.nextInsert = op.Key + 1
	}
	return true
}

// finish waits until every block is hashed whose ops were all decided: all that
// were claimed, but for the last one if it is still pending.
func (c *cursor) finish(pending bool) {
	if c.block != nil {
		if c.at == c.block.Len() && !pending {
			c.left <- c.block
		} else {
			c.decode.free <- c.block
		}
		c.block = nil
	}
	c.done = true
	close(c.left)
	<-c.hashed
}

// describe names a broken trace in the result.
func (c *cursor) describe(phase string) string {
	return fmt.Sprintf("the trace broke after %d ops of phase %s: %v", c.claimed, phase, c.err)
}
