package cassandra

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/gocql/gocql"

	"pianola/bindings"
)

// answer is an ERROR of the server.
type answer struct{ code int }

func (a answer) Code() int       { return a.code }
func (a answer) Message() string { return "message" }
func (a answer) Error() string   { return "message" }

func TestClasses(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	late := &net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}
	for _, c := range []struct {
		err  error
		want bindings.Class
	}{
		{nil, bindings.OK},
		{context.DeadlineExceeded, bindings.Timeout},
		{context.Canceled, bindings.Other},
		{gocql.ErrTimeoutNoResponse, bindings.Timeout},
		{gocql.ErrNoStreams, bindings.Overloaded},
		{gocql.ErrNoConnections, bindings.Unavailable},
		{gocql.ErrConnectionClosed, bindings.Unavailable},
		{gocql.ErrSessionClosed, bindings.Unavailable},
		{io.EOF, bindings.Unavailable},
		{fmt.Errorf("frame: %w", io.ErrUnexpectedEOF), bindings.Unavailable},
		{reset, bindings.Unavailable},
		{late, bindings.Timeout},
		{answer{0x0000}, bindings.Other},
		{answer{0x0100}, bindings.Unauthorised},
		{answer{0x1000}, bindings.Unavailable},
		{answer{0x1001}, bindings.Overloaded},
		{answer{0x1002}, bindings.Unavailable},
		{answer{0x1100}, bindings.Timeout},
		{answer{0x1200}, bindings.Timeout},
		{answer{0x1300}, bindings.Other},
		{answer{0x1500}, bindings.Other},
		{answer{0x2000}, bindings.Invalid},
		{answer{0x2100}, bindings.Unauthorised},
		{answer{0x2200}, bindings.Invalid},
		{answer{0x2400}, bindings.Duplicate},
		{answer{0x9999}, bindings.Other},
		{&gocql.RequestErrUnavailable{}, bindings.Other}, // its code is 0: made by no server
		{errors.New("anything"), bindings.Other},
	} {
		if got := bindings.ClassOf(classed(c.err)); got != c.want {
			t.Errorf("%v is %v, want %v", c.err, got, c.want)
		}
		if c.err != nil && !errors.Is(classed(c.err), c.err) {
			t.Errorf("%v is hidden by its class", c.err)
		}
	}
}
