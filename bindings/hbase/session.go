package hbase

import (
	"context"
	"slices"
	"sync"

	"pianola/bindings"
	"pianola/bindings/hbase/rpc"
)

// pipeline runs any number of operations at a time.
type pipeline struct {
	binding *binding
	sink    bindings.Sink
	answer  func(*operation, *bindings.Op, error) // the method answered, bound once

	kept kept

	mu   sync.Mutex
	free []*operation
}

// kept is the connections on which frames wait.
type kept struct{ conns []*rpc.Conn }

func (k *kept) add(c *rpc.Conn) {
	if !slices.Contains(k.conns, c) {
		k.conns = append(k.conns, c)
	}
}

// Issue sends an operation at the next Flush.
func (p *pipeline) Issue(op *bindings.Op) { p.take().begin(op, p.answer, &p.kept) }

// Flush writes the frames of all operations issued since the last, in one go
// for each connection.
func (p *pipeline) Flush() {
	for i, c := range p.kept.conns {
		c.Flush()
		p.kept.conns[i] = nil
	}
	p.kept.conns = p.kept.conns[:0]
}

func (p *pipeline) take() *operation {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free) - 1
	if n < 0 {
		return &operation{binding: p.binding}
	}
	o := p.free[n]
	p.free = p.free[:n]
	return o
}

// answered gives the answer to the runner. What the operation was made of is
// free before, since the runner may issue another at once.
func (p *pipeline) answered(o *operation, op *bindings.Op, err error) {
	p.mu.Lock()
	p.free = append(p.free, o)
	p.mu.Unlock()
	p.sink.Done(op, err)
}

// Close does nothing: the connections are the binding's.
func (p *pipeline) Close() error { return nil }

// session runs one operation at a time.
type session struct {
	operation operation
	done      chan error
	answer    func(*operation, *bindings.Op, error)
}

// Do runs an operation. Once it is under way it ends with its answer or at its
// deadline, whatever becomes of the context.
func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	if err := ctx.Err(); err != nil {
		return rpc.Classed(err)
	}
	s.operation.begin(op, s.answer, nil)
	return <-s.done
}

func (s *session) Close() error { return nil }
