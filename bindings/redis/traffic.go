package redis

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
)

// traffic counts what goes over the connections, so that it shows how many
// commands the client writes at a time and how often it connects again.
type traffic struct {
	opened, writes atomic.Uint64
}

// dial opens a connection that is counted. The name that a certificate must
// have is that of the node where the client is told of one.
func (t *traffic) dial(ctx context.Context, address string, dialer *net.Dialer, config *tls.Config) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	t.opened.Add(1)
	conn = &countedConn{Conn: conn, writes: &t.writes}
	if config == nil {
		return conn, nil
	}
	if host, _, err := net.SplitHostPort(address); err == nil && host != config.ServerName {
		config = config.Clone()
		config.ServerName = host
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

type countedConn struct {
	net.Conn
	writes *atomic.Uint64
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}
