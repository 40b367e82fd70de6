package replaytest

import (
	"context"
	"slices"
	"sync"
	"time"

	"pianola/bindings"
	"pianola/traces"
)

// Binding is a blocking binding that notes every call and answers as it is
// told. Its zero value answers at once.
type Binding struct {
	// Answer is asked for the answer to each op; it may block. Nil means nil.
	Answer func(ctx context.Context, op *bindings.Op) error
	// Opened, if it is not nil, is called by Open.
	Opened func(cfg bindings.Config)

	clock bindings.Clock
	mu    sync.Mutex
	name  string
	phase time.Duration
	calls []Call
}

// Call is one call of a session, with clock readings of its own.
type Call struct {
	Key        string
	Kind       traces.Kind
	Slot       int
	Write      []bindings.Field
	Start, End time.Duration // from the start of the phase
}

var (
	_ bindings.Binding       = (*Binding)(nil)
	_ bindings.PhaseObserver = (*Binding)(nil)
)

// Driver describes the binding.
func (b *Binding) Driver() *bindings.Driver {
	return &bindings.Driver{
		Name: "noting", Place: bindings.Embedded, Slots: 8,
		Kinds: []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.ReadModifyWrite, traces.Delete},
	}
}

// Open keeps the clock.
func (b *Binding) Open(_ context.Context, cfg bindings.Config) error {
	b.clock = cfg.Clock
	if b.Opened != nil {
		b.Opened(cfg)
	}
	return nil
}

// Session returns a session.
func (b *Binding) Session(context.Context) (bindings.Session, error) { return (*session)(b), nil }

// Close does nothing.
func (b *Binding) Close() error { return nil }

// PhaseStarts makes calls count from the phase's start.
func (b *Binding) PhaseStarts(name string, at time.Duration) { b.name, b.phase = name, at }

// Phase returns the name of the phase and the instant it started at.
func (b *Binding) Phase() (name string, start time.Duration) { return b.name, b.phase }

// Calls returns the calls so far in the order of their starts.
func (b *Binding) Calls() []Call {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.Clone(b.calls)
	slices.SortStableFunc(out, func(x, y Call) int { return int(x.Start - y.Start) })
	return out
}

type session Binding

func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	c := Call{Kind: op.Kind, Slot: op.Slot, Start: s.clock.Now() - s.phase}
	var err error
	if s.Answer != nil {
		err = s.Answer(ctx, op)
	}
	c.End = s.clock.Now() - s.phase
	c.Key = string(op.Key)
	for _, f := range op.Write {
		c.Write = append(c.Write, bindings.Field{Name: f.Name, Value: slices.Clone(f.Value)})
	}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	return err
}

func (s *session) Close() error { return nil }

// Pipelined is the same with a pipelined session.
type Pipelined struct{ Binding }

var _ bindings.Pipeliner = (*Pipelined)(nil)

// Pipeline returns a session that answers each op from a goroutine of its own.
func (b *Pipelined) Pipeline(ctx context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	return &pipeline{ctx: ctx, session: (*session)(&b.Binding), sink: sink}, nil
}

type pipeline struct {
	ctx     context.Context
	session *session
	sink    bindings.Sink
}

func (p *pipeline) Issue(op *bindings.Op) { go func() { p.sink.Done(op, p.session.Do(p.ctx, op)) }() }
func (p *pipeline) Close() error          { return nil }
