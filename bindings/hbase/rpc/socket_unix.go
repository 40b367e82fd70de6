//go:build unix

package rpc

import (
	"io"
	"syscall"
)

// tryWrite writes as much as the socket takes at once.
func (c *Conn) tryWrite(fd uintptr) bool {
	for c.wrote < len(c.writing) {
		n, err := writeSocket(fd, c.writing[c.wrote:])
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return true
		case err != nil:
			c.writeErr = err
			return true
		default:
			c.wrote += n
		}
	}
	return true
}

// tryRead reads what is there into c.reading; false if there is nothing yet.
func (c *Conn) tryRead(fd uintptr) bool {
	for {
		n, err := readSocket(fd, c.reading)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return false
		case err == nil && n == 0:
			err = io.EOF
		}
		c.got, c.readErr = n, err
		return true
	}
}

// readSome waits for bytes and reads them into b.
func (c *Conn) readSome(b []byte) (int, error) {
	c.reading, c.got, c.readErr = b, 0, nil
	if err := c.raw.Read(c.attemptRead); err != nil {
		return 0, err
	}
	return c.got, c.readErr
}
