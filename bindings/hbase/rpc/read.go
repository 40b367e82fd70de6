package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"pianola/bindings/hbase/wire"
)

// Read buffers begin small; a frame larger than bigBuffer has one of its own.
const (
	firstBuffer = 64 << 10
	bigBuffer   = 1 << 20
)

// read takes answers until the connection ends.
func (c *Conn) read() {
	buf := make([]byte, firstBuffer)
	have := 0
	var r wire.Response
	for {
		n, err := c.readSome(buf[have:])
		have += n
		used := 0
		for have-used >= 4 {
			size := int64(binary.BigEndian.Uint32(buf[used:]))
			if size > wire.MaxFrame {
				c.fail(fmt.Errorf("an answer of %d bytes, more than the %d that are taken", size, wire.MaxFrame))
				return
			}
			if int64(have-used) < 4+size {
				break
			}
			if err := c.take(&r, buf[used+4:used+4+int(size)]); err != nil {
				c.fail(err)
				return
			}
			used += 4 + int(size)
		}
		if err != nil {
			c.fail(readError(err))
			return
		}
		buf, have = refit(buf, used, have)
	}
}

// readError explains the end of a connection, for which a server gives no
// reason to its client.
func readError(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("closed by the server, which has written why to its log alone")
	}
	return fmt.Errorf("read: %w", err)
}

// refit drops what is used and makes room to read on. Memory grows with what
// has come, not with what a length says is to come.
func refit(buf []byte, used, have int) ([]byte, int) {
	rest := buf[used:have]
	switch {
	case len(rest) == len(buf):
		larger := make([]byte, 2*len(buf))
		copy(larger, rest)
		return larger, have
	case len(buf) > bigBuffer && len(rest) < firstBuffer/2:
		smaller := make([]byte, firstBuffer)
		copy(smaller, rest)
		return smaller, len(rest)
	}
	copy(buf, rest)
	return buf, len(rest)
}

// take hands the answer in a frame to its call.
func (c *Conn) take(r *wire.Response, frame []byte) error {
	if err := r.Parse(frame); err != nil {
		return err
	}
	if r.CallID == wire.FatalCall && r.Exception != nil {
		return remoteError(r.Exception)
	}
	c.mu.Lock()
	call := c.pending.take(r.CallID)
	c.mu.Unlock()
	switch {
	case call == nil:
		c.traffic.Late.Add(1)
	case r.Exception != nil:
		call.Handler.Answered(call, nil, remoteError(r.Exception))
	default:
		call.Handler.Answered(call, r, nil)
	}
	return nil
}
