package rpc

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"pianola/bindings/hbase/wire"
)

// askTimeout bounds a call of Ask whose context has no deadline.
const askTimeout = 30 * time.Second

// asked waits for the answer of a call.
type asked struct {
	call  Call
	done  chan error
	into  proto.Message
	cells func(*wire.Response) error
}

func (a *asked) Answered(_ *Call, r *wire.Response, err error) {
	if err == nil && a.into != nil {
		err = proto.Unmarshal(r.Message, a.into)
	}
	if err == nil && a.cells != nil {
		err = a.cells(r)
	}
	a.done <- err
}

// Ask makes a call by generated code and waits for its answer, which is read
// into a message. It is not for operations, but for what is around them.
func (c *Conn) Ask(ctx context.Context, method string, request, into proto.Message) error {
	return c.ask(ctx, &asked{call: Call{Request: &wire.Message{Name: method, Body: request}}, into: into})
}

// AskRows makes a Scan by generated code and waits for its answer; take is
// given it while it is valid.
func (c *Conn) AskRows(ctx context.Context, request proto.Message, take func(*wire.Response) error) error {
	return c.AskFor(ctx, &wire.Message{Name: "Scan", Body: request}, take)
}

// AskFor makes any call and waits for its answer; take is given it while it is
// valid.
func (c *Conn) AskFor(ctx context.Context, request wire.Request, take func(*wire.Response) error) error {
	return c.ask(ctx, &asked{call: Call{Request: request}, cells: take})
}

func (c *Conn) ask(ctx context.Context, a *asked) error {
	a.done = make(chan error, 1)
	a.call.Handler = a
	timeout := askTimeout
	if d, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(d))
	}
	a.call.Deadline = c.clock.Now() + timeout
	err := c.Send(&a.call)
	if err == nil {
		select {
		case err = <-a.done:
		case <-ctx.Done():
			c.Cancel(&a.call, ctx.Err())
			err = <-a.done
		}
	}
	if err != nil {
		return fmt.Errorf("%s at %s: %w", a.call.Request.Method(), c.address, err)
	}
	return nil
}
