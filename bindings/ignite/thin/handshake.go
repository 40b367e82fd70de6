package thin

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// Features that are asked for, as bits: compute tasks by name (1), cluster
// states (2), endpoints of nodes (3), binary configuration (8), heartbeat (11),
// invoke (17). Others would change what requests look like.
var features = []byte{1<<1 | 1<<2 | 1<<3, 1<<0 | 1<<3, 1 << 1}

const (
	helloCode  = 1
	thinClient = 2
	// maxHello bounds the answer to a handshake.
	maxHello = 64 << 10
)

// appendHello appends the handshake, with user and password if there is a user.
func appendHello(dst []byte, user, password string) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, helloCode)
	dst = appendInt16(appendInt16(appendInt16(dst, 1), 7), 0)
	dst = AppendBytes(append(dst, thinClient), features)
	if user != "" {
		dst = AppendString(AppendString(dst, user), password)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// readHello reads the answer to a handshake: the id of the node, or why it
// refuses.
func readHello(frame []byte) (UUID, error) {
	d := NewDecoder(frame)
	if d.Bool() {
		if code := d.Byte(); d.Err() == nil && code != typeBytes {
			return UUID{}, fmt.Errorf("%w: features of type %d", ErrMalformed, code)
		}
		d.take(d.Count(1)) // the features it has in common with us
		if code := d.Byte(); d.Err() == nil && code != typeUUID {
			return UUID{}, fmt.Errorf("%w: a node id of type %d", ErrMalformed, code)
		}
		id := d.rawUUID()
		return id, d.Err()
	}
	major, minor, patch := d.Int16(), d.Int16(), d.Int16()
	message := string(d.Text())
	status := d.Int32()
	if err := d.Err(); err != nil {
		return UUID{}, err
	}
	refused := &ServerError{Status: status, Message: message}
	if status == StatusUnauthorised {
		return UUID{}, refused
	}
	return UUID{}, fmt.Errorf("it speaks version %d.%d.%d of the protocol, not 1.7.0: %w", major, minor, patch, refused)
}

// dial connects to a node and shakes hands.
func dial(ctx context.Context, address string, o *Options) (net.Conn, UUID, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, UUID{}, err
	}
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	if o.TLS != nil {
		config := o.TLS
		if host, _, err := net.SplitHostPort(address); err == nil && config.ServerName == "" {
			config = config.Clone()
			config.ServerName = host
		}
		secure := tls.Client(c, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			stop()
			c.Close()
			return nil, UUID{}, fmt.Errorf("TLS: %w", err)
		}
		c = secure
	}
	id, err := hello(c, o)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		if ctx.Err() != nil {
			err = fmt.Errorf("the handshake is not answered: %w", context.Cause(ctx))
		}
		return nil, UUID{}, err
	}
	return c, id, nil
}

func hello(c net.Conn, o *Options) (UUID, error) {
	if _, err := c.Write(appendHello(nil, o.User, o.Password)); err != nil {
		return UUID{}, fmt.Errorf("handshake: %w", err)
	}
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return UUID{}, fmt.Errorf("handshake: %w", err)
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length > maxHello {
		return UUID{}, fmt.Errorf("handshake: %w: an answer of %d bytes; is this a server of Ignite 2, and with TLS on both sides or none?", ErrMalformed, length)
	}
	frame := make([]byte, length)
	if _, err := io.ReadFull(c, frame); err != nil {
		return UUID{}, fmt.Errorf("handshake: %w", err)
	}
	return readHello(frame)
}
