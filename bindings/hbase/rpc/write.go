package rpc

import "fmt"

// takeOut makes what is to be written c.writing and unlocks; false if there is
// nothing, and then nobody is busy any more.
func (c *Conn) takeOut() bool {
	if len(c.out) == 0 {
		c.busy = false
		c.mu.Unlock()
		return false
	}
	c.writing, c.out, c.wrote = c.out, c.spare[:0], 0
	c.mu.Unlock()
	return true
}

// writeNow writes without waiting and locks again; false if something is left,
// and then it does not lock.
func (c *Conn) writeNow() bool {
	c.writeErr = nil
	if err := c.raw.Write(c.attemptWrite); err != nil && c.writeErr == nil {
		c.writeErr = err
	}
	c.traffic.Writes.Add(1)
	if c.wrote < len(c.writing) {
		return false
	}
	c.mu.Lock()
	c.recycle()
	return true
}

// keptBuffer bounds the memory that is kept for frames.
const keptBuffer = 1 << 20

func (c *Conn) recycle() {
	if c.spare = c.writing; cap(c.spare) > keptBuffer {
		c.spare = nil
	}
	c.writing = nil
}

// write writes what did not go out at once.
func (c *Conn) write() {
	for {
		select {
		case <-c.goOn:
		case <-c.closed:
			return
		}
		for more := true; more; more = c.takeOut() {
			if c.writeErr == nil {
				_, c.writeErr = c.socket.Write(c.writing[c.wrote:])
				c.traffic.Writes.Add(1)
			}
			if c.writeErr != nil {
				c.fail(fmt.Errorf("write: %w", c.writeErr))
				return
			}
			c.mu.Lock()
			c.recycle()
		}
	}
}
