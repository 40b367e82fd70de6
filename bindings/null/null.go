// Package null is the database that isn't there: it answers every operation
// with success, at once and in place, and so measures the tool itself. What it
// is given it reads in full, and it proves that by a sum in the result.
//
// A service time, a stall and failures can be scripted. They act in phase run
// alone, as do real databases' in the phase that counts, and make a database
// whose response times can be worked out on paper. Times come from
// Config.Clock, so a script keeps them exactly on a clock that is stepped.
//
// An operation becomes no call. One that the script holds back is answered by a
// goroutine of the binding's own; nothing is allocated for it, in place or later.
package null

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pianola/bindings"
	"pianola/traces"
)

var (
	_ bindings.ManyPipeliner = (*binding)(nil)
	_ bindings.PhaseObserver = (*binding)(nil)
	_ bindings.Reporter      = (*binding)(nil)
	_ bindings.Pipeline      = (*pipeline)(nil)
	_ bindings.Session       = (*session)(nil)
)

// Driver describes the binding.
var Driver = bindings.Driver{
	Name:    "null",
	Aliases: []string{"basic"},
	Summary: "answers at once and keeps nothing; measures the tool itself",
	Statements: `Every operation reads its key and its values in full and is answered with
success, in place: no call, no round trip, nothing stored, no field given back.
The sum over all keys and values is in the result; equal operations give equal
sums in any order.

service, stall and fail act in phase run alone, on operations counted from 0 as
they are started. One that is held back beyond its deadline is given up at the
deadline.`,
	Properties: []bindings.Property{
		{Name: "service", Default: "0", Help: `How long the answer takes: a duration, or lognormal:MEAN,SIGMA, where MEAN is
the mean of the time itself, a duration, and SIGMA the standard deviation of
its natural logarithm, from 0 to 4. The draw depends on the operation's number
alone.`},
		{Name: "stall", Help: `AT:FOR, two durations: no operation is answered from AT after the start of
phase run until FOR later. What is in flight at AT or starts within the stall
is answered at its end.`},
		{Name: "fail", Default: "0", Help: `Share of the operations that are answered with an error of class other, from 0
to 1 or with a percent sign. Which ones depends on the operation's number
alone.`},
	},
	Kinds: []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.ReadModifyWrite, traces.Delete},
	Place: bindings.Nowhere,
	Slots: bindings.DefaultSlots,
	New: func(p bindings.Properties) (bindings.Binding, error) {
		s, err := parseScript(p)
		if err != nil {
			return nil, err
		}
		return &binding{script: s}, nil
	},
}

var (
	errScripted = &bindings.Error{Class: bindings.Other, Err: errors.New("a failure that was asked for")}
	errGivenUp  = &bindings.Error{Class: bindings.Timeout, Err: errors.New("given up at its deadline")}
	errClosed   = &bindings.Error{Class: bindings.Unavailable, Err: errors.New("closed before it was answered")}
)

// runPhase is the name of the phase in which scripts act.
const runPhase = "run"

type binding struct {
	script script
	clock  bindings.Clock
	slots  int
	// run is the phase in which the script acts, nil while it doesn't.
	run atomic.Pointer[phase]
	// later answers the sessions' operations; a pipeline has its own.
	later *timer

	mu      sync.Mutex
	tallies []*tally
}

// phase is one in which the script acts.
type phase struct {
	script *script
	start  time.Duration
	// started counts the operations.
	started atomic.Uint64
}

// answer returns when the operation that starts now is to be answered, and how.
// An end that is not after now means at once.
func (p *phase) answer(clock bindings.Clock, deadline time.Duration) (now, end time.Duration, err error) {
	n := p.started.Add(1) - 1
	if p.script.delays {
		now = clock.Now()
		end = p.script.end(n, p.start, now)
	}
	if end > now && deadline > 0 && end > deadline {
		return now, deadline, errGivenUp
	}
	if p.script.fails(n) {
		err = errScripted
	}
	return now, end, err
}

func (b *binding) Open(_ context.Context, cfg bindings.Config) error {
	b.clock, b.slots = cfg.Clock, cfg.Slots
	b.later = newTimer(b.clock, b.slots)
	return nil
}

// Close answers the operations that are still held back, with an error.
func (b *binding) Close() error {
	b.later.close()
	return nil
}

func (b *binding) PhaseStarts(name string, at time.Duration) {
	if name != runPhase || !b.script.acts() {
		b.run.Store(nil)
		return
	}
	b.run.Store(&phase{script: &b.script, start: at})
}

// Facts sums up what the binding was given.
func (b *binding) Facts() []bindings.Fact {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all Total
	for _, t := range b.tallies {
		t.addTo(&all)
	}
	return []bindings.Fact{
		{Name: "operations", Value: fmt.Sprint(all.Ops)},
		{Name: "bytes", Value: fmt.Sprint(all.Bytes)},
		{Name: "sum", Value: fmt.Sprintf("%016x", all.Sum)},
	}
}

func (b *binding) tally() *tally {
	t := new(tally)
	b.mu.Lock()
	b.tallies = append(b.tallies, t)
	b.mu.Unlock()
	return t
}

func (b *binding) Pipeline(_ context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	return &pipeline{binding: b, tally: b.tally(), sink: sink, later: newTimer(b.clock, b.slots)}, nil
}

type pipeline struct {
	binding *binding
	tally   *tally
	sink    bindings.Sink
	later   *timer
}

func (p *pipeline) Issue(op *bindings.Op) {
	p.tally.total.Add(op) // one goroutine issues, and asks for facts afterwards
	run := p.binding.run.Load()
	if run == nil {
		p.sink.Done(op, nil)
		return
	}
	now, end, err := run.answer(p.binding.clock, op.Deadline)
	if end <= now {
		p.sink.Done(op, err)
		return
	}
	p.later.push(op, end, err, p.sink)
}

// Close answers the operations that are still held back, with an error.
func (p *pipeline) Close() error {
	p.later.close()
	return nil
}

// ManyPipelines says that pipelines have nothing in common.
func (b *binding) ManyPipelines() {}

func (b *binding) Session(context.Context) (bindings.Session, error) {
	return &session{binding: b, tally: b.tally(), answer: make(chan error, 1)}, nil
}

// session waits for its answers in the binding's timer, so that a thousand
// waiting sessions cost what one does.
type session struct {
	binding *binding
	tally   *tally
	answer  chan error
}

func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	s.tally.add(op)
	run := s.binding.run.Load()
	if run == nil {
		return nil
	}
	now, end, err := run.answer(s.binding.clock, op.Deadline)
	if end <= now {
		return err
	}
	s.binding.later.push(op, end, err, s)
	select {
	case err := <-s.answer:
		return err
	case <-ctx.Done():
		if s.binding.later.remove(op) {
			return ctx.Err()
		}
		return <-s.answer
	}
}

// Done takes the answer from the timer.
func (s *session) Done(_ *bindings.Op, err error) { s.answer <- err }

func (s *session) Close() error { return nil }
