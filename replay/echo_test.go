//go:build bench && unix

package replay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"

	"pianola/bindings"
	"pianola/traces"
)

// echoServer starts a process of its own that answers each byte with a byte,
// and returns its address.
func echoServer(t *testing.T) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REPLAY_TEST_ECHO=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err)
	}
	return address
}

func init() { children["REPLAY_TEST_ECHO"] = echo }

// echo is the server; it ends with its standard input.
func echo() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(l.Addr())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go io.Copy(struct{ io.Writer }{c}, c)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	return 0
}

func echoDriver(t *testing.T, binding func(address string) bindings.Binding) *bindings.Driver {
	address := echoServer(t)
	return &bindings.Driver{
		Name: "echo", Place: bindings.Remote, Kinds: []traces.Kind{traces.Read},
		New: func(bindings.Properties) (bindings.Binding, error) { return binding(address), nil },
	}
}

func echoBlocking(t *testing.T) *bindings.Driver {
	return echoDriver(t, func(address string) bindings.Binding { return &echoBinding{address: address} })
}

func echoPipelined(t *testing.T) *bindings.Driver {
	return echoDriver(t, func(address string) bindings.Binding { return &echoPipeliner{echoBinding{address: address}} })
}

// echoBinding has a connection for each slot, and asks for one byte at a time.
type echoBinding struct{ address string }

func (e *echoBinding) Open(context.Context, bindings.Config) error { return nil }
func (e *echoBinding) Close() error                                { return nil }
func (e *echoBinding) Local() bool                                 { return true }

func (e *echoBinding) Session(context.Context) (bindings.Session, error) {
	c, err := net.Dial("tcp", e.address)
	return &echoSession{c: c}, err
}

type echoSession struct {
	c   net.Conn
	buf [1]byte
}

func (s *echoSession) Do(context.Context, *bindings.Op) error {
	if _, err := s.c.Write(s.buf[:]); err != nil {
		return err
	}
	_, err := io.ReadFull(s.c, s.buf[:])
	return err
}

func (s *echoSession) Close() error { return s.c.Close() }

// echoPipeliner has two connections, whose answers come in order. As clients do it
// sends together what it was given before a flush.
type echoPipeliner struct{ echoBinding }

const echoConnections = 2

func (e *echoPipeliner) Pipeline(_ context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	p := &echoPipeline{}
	for range echoConnections {
		c, err := net.Dial("tcp", e.address)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		conn := &echoConn{c: c, sent: make(chan *bindings.Op, 4096)}
		p.conns = append(p.conns, conn)
		go conn.read(sink)
	}
	return p, nil
}

type echoPipeline struct {
	conns []*echoConn
	next  int
}

type echoConn struct {
	c    net.Conn
	sent chan *bindings.Op
	kept []byte
}

func (p *echoPipeline) Issue(op *bindings.Op) {
	c := p.conns[p.next%len(p.conns)]
	c.sent <- op
	c.kept = append(c.kept, 0)
}

// Flush sends what one connection has kept, and goes on to the next one.
func (p *echoPipeline) Flush() {
	c := p.conns[p.next%len(p.conns)]
	c.c.Write(c.kept) // a failure shows as an answer that never comes
	c.kept = c.kept[:0]
	p.next++
}

func (p *echoPipeline) Close() error {
	var errs []error
	for _, c := range p.conns {
		errs = append(errs, c.c.Close())
	}
	return errors.Join(errs...)
}

func (c *echoConn) read(sink bindings.Sink) {
	buf := make([]byte, 4096)
	for {
		n, err := c.c.Read(buf)
		if err != nil {
			return
		}
		for range n {
			sink.Done(<-c.sent, nil)
		}
	}
}
