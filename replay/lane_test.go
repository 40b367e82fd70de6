package replay_test

import (
	"context"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/null"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/replaytest"
	"pianola/traces"
	"pianola/traces/payload"
	"pianola/traces/tracetest"
)

// intoNull replays a trace of inserts and then reads and updates into null,
// without due times, where all processors issue ops, or in order of their keys,
// where one does.
func intoNull(ctx context.Context, t *testing.T, records uint64, ops []traces.Op, order replay.Order, progress func(r *replay.Runner)) *measure.Result {
	t.Helper()
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1e6))
	h.Keys = payload.Keys{Prefix: "user", Padding: 1, Order: payload.Hashed}
	h.Records = records
	r := runnerOn(t, &null.Driver)
	var err error
	if r.Trace, err = traces.Open(tracetest.File(t, h, ops)); err != nil {
		t.Fatal(err)
	}
	defer r.Trace.Close()
	r.Slots, r.Asap, r.Order = 40, true, order
	if progress != nil {
		progress(r)
	}
	result, err := r.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range result.Phases {
		if c := total(t, &result.Phases[i]).Counts; c.Offered != c.Decided() {
			t.Errorf("phase %d: %+v", i, c)
		}
	}
	return result
}

// insertsAndUpdates inserts records and then reads and updates them, by halves.
func insertsAndUpdates(records, n int) []traces.Op {
	var ops []traces.Op
	for i := range records {
		ops = append(ops, traces.Op{Kind: traces.Insert, Key: uint64(i)})
	}
	for i := range n {
		word := payload.Mix(uint64(i))
		op := traces.Op{Phase: 1, Kind: traces.Read, Key: word % uint64(records), Due: uint64(i) / 10}
		if word>>63 == 1 {
			op.Kind, op.Written = traces.Update, traces.OneField(int(word>>32%10))
		}
		ops = append(ops, op)
	}
	return ops
}

func TestLanesIssueTheStreamOfOne(t *testing.T) {
	ops := insertsAndUpdates(70_000, 200_000)
	many := intoNull(t.Context(), t, 70_000, ops, replay.NoOrder, nil)
	one := intoNull(t.Context(), t, 70_000, ops, replay.KeyOrder, nil)
	if !many.Trace.Confirmed || !one.Trace.Confirmed {
		t.Errorf("confirmed %v and %v", many.Trace.Confirmed, one.Trace.Confirmed)
	}
	for i, fact := range one.Database.Facts {
		if got := many.Database.Facts[i]; got != fact {
			t.Errorf("%v, want %v", got, fact)
		}
	}
	for i := range many.Phases {
		if got, want := total(t, &many.Phases[i]).Counts, total(t, &one.Phases[i]).Counts; got != want {
			t.Errorf("phase %d: %+v, want %+v", i, got, want)
		}
		if wait := total(t, &many.Phases[i]).Wait.Max(); wait != 0 {
			t.Errorf("phase %d: wait %v without due times", i, wait)
		}
	}
}

func TestLanesEndAtAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ops := insertsAndUpdates(1000, 3_000_000)
	result := intoNull(ctx, t, 1000, ops, replay.NoOrder, func(r *replay.Runner) {
		go func() {
			for ctx.Err() == nil {
				if p, ok := r.Progress(); ok && p.Phase == "run" && p.Counts.Completed > 1000 {
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
	})
	run := &result.Phases[len(result.Phases)-1]
	if c := total(t, run).Counts; !result.Partial || run.NotReached == 0 || run.NotReached+c.Offered != 3_000_000 || c.Completed != c.Offered {
		t.Errorf("partial %v, %+v, %d not reached", result.Partial, c, run.NotReached)
	}
	if d := run.Digest; d.Status != measure.DigestPartial {
		t.Errorf("digest %+v", d)
	}
}

// losing takes ops in several pipelines, keeps them until it is flushed, and
// never answers the one of a key.
type losing struct {
	replaytest.Binding
	lost string
}

func (*losing) ManyPipelines() {}

func (b *losing) Pipeline(_ context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	return &losingPipeline{binding: b, sink: sink}, nil
}

type losingPipeline struct {
	binding *losing
	sink    bindings.Sink
	kept    []*bindings.Op
}

func (p *losingPipeline) Issue(op *bindings.Op) { p.kept = append(p.kept, op) }
func (p *losingPipeline) Close() error          { return nil }

func (p *losingPipeline) Flush() {
	kept := p.kept
	p.kept = nil
	for _, op := range kept {
		if string(op.Key) != p.binding.lost {
			p.sink.Done(op, nil)
		}
	}
}

// A lane whose slots don't come back ends when another has issued the last op.
func TestLaneWithoutSlotsEndsWithTheTrace(t *testing.T) {
	ops := tracetest.Reads(0, 1000, time.Microsecond, 1000)
	b := &losing{lost: "user7"}
	h := tracetest.Header(tracetest.Run(1e6))
	h.Keys = payload.Keys{Prefix: "user", Padding: 1, Order: payload.Ordered}
	r := runner(t, &b.Binding, h, ops)
	r.Binding, r.Slots, r.Asap, r.Order = b, 2, true, replay.NoOrder
	r.Deadline, r.Grace = 100*time.Millisecond, 100*time.Millisecond
	result, _ := r.Run(t.Context())
	if c := total(t, &result.Phases[0]).Counts; c.Offered != 1000 || c.Completed != 999 || c.Censored != 1 {
		t.Errorf("%+v", c)
	}
}

// What a lane keeps and where the trace stands are looked at while others claim.
func TestLanesThatKeepOps(t *testing.T) {
	b := &losing{}
	r := runner(t, &b.Binding, tracetest.Header(tracetest.Run(1e6)), tracetest.Reads(0, 200_000, time.Microsecond, 1000))
	r.Binding, r.Slots, r.Asap, r.Order = b, 40, true, replay.NoOrder
	result, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c := total(t, &result.Phases[0]).Counts; c.Offered != 200_000 || c.Completed != 200_000 {
		t.Errorf("%+v", c)
	}
}
