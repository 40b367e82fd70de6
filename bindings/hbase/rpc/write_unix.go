//go:build unix

package rpc

import "syscall"

// tryWrite writes as much as the socket takes at once.
func (c *Conn) tryWrite(fd uintptr) bool {
	for c.wrote < len(c.writing) {
		n, err := syscall.Write(int(fd), c.writing[c.wrote:])
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
