package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/replaytest"
	"pianola/traces"
	"pianola/traces/tracetest"
)

// loadAndRun is a load of 10 and a run of 20 reads.
func loadAndRun() (*traces.Header, []traces.Op) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Records = 10
	return h, append(tracetest.Inserts(10), tracetest.Reads(1, 20, time.Millisecond, 10)...)
}

func TestAResumedLoadCountsWhatIsThere(t *testing.T) {
	h, ops := loadAndRun()
	b := &replaytest.Binding{Answer: func(_ context.Context, op *bindings.Op) error {
		if op.Kind == traces.Insert && op.Key[len(op.Key)-1] < '4' {
			return bindings.ErrDuplicate
		}
		return nil
	}}
	r := runner(t, b, h, ops)
	r.Resume = true
	res := stepped(t, r)
	if len(res.Phases) != 2 || res.Phases[0].Present != 4 || !res.Settings.Resume {
		t.Fatalf("%d phases, %d records were there", len(res.Phases), res.Phases[0].Present)
	}
	if c := total(t, &res.Phases[0]).Counts; c.Completed != 10 {
		t.Errorf("%+v", c)
	}
	// Without it each of them is a failure.
	res = stepped(t, runner(t, b, h, ops))
	if c := total(t, &res.Phases[0]).Counts; len(res.Phases) != 1 || c.Failed != 4 || res.Phases[0].Present != 0 {
		t.Errorf("%d phases, %+v", len(res.Phases), c)
	}
}

func TestTheDatabaseSettlesBetweenLoadAndRun(t *testing.T) {
	h, ops := loadAndRun()
	r := runner(t, &replaytest.Binding{}, h, ops)
	r.SettleText = "3s"
	r.Settle = func(context.Context) error { time.Sleep(3 * time.Second); return nil }
	res := stepped(t, r)
	load, run := &res.Phases[0], &res.Phases[1]
	if gap := run.Start - load.Start - load.Length; gap < 3*time.Second || gap > 3100*time.Millisecond || res.Settings.Settled != 3*time.Second {
		t.Errorf("run started %v behind the load, settled %v", gap, res.Settings.Settled)
	}
	// It ends the run by its error, and gives way to an interrupt.
	for _, c := range []struct {
		settle  func(ctx context.Context, interrupt func()) error
		partial bool
	}{
		{func(context.Context, func()) error { return errors.New("no compaction") }, false},
		{func(ctx context.Context, interrupt func()) error { interrupt(); return ctx.Err() }, true},
	} {
		bubble(t, func(ctx context.Context) {
			ctx, interrupt := context.WithCancel(ctx)
			r := runner(t, &replaytest.Binding{}, h, ops)
			r.Clock = replaytest.NewClock()
			r.Settle = func(ctx context.Context) error { return c.settle(ctx, interrupt) }
			res, err := r.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Phases) != 1 || res.Partial != c.partial || strings.Contains(res.Stopped, "no compaction") == c.partial {
				t.Errorf("%d phases, partial %v, stopped %q", len(res.Phases), res.Partial, res.Stopped)
			}
		})
	}
}

// The read of a READMODIFYWRITE takes 2 ms of 5, on one slot: each op but the
// first waits for the one before.
func TestThePartsOfAModificationAreTimedApart(t *testing.T) {
	h := tracetest.Header(tracetest.Run(1000))
	var ops []traces.Op
	for i := range uint64(10) {
		ops = append(ops, traces.Op{Kind: traces.ReadModifyWrite, Key: i, Due: i * 1e6})
	}
	var clock bindings.Clock
	b := &replaytest.Binding{
		Opened: func(cfg bindings.Config) { clock = cfg.Clock },
		Answer: func(_ context.Context, op *bindings.Op) error {
			time.Sleep(2 * time.Millisecond)
			if op.Key[len(op.Key)-1] == '9' {
				return errors.New("the read failed")
			}
			op.ReadEnded = clock.Now()
			time.Sleep(3 * time.Millisecond)
			return nil
		},
	}
	r := runner(t, b, h, ops)
	r.Slots = 1
	k := &stepped(t, r).Phases[0].Kinds[0]
	if len(k.Parts) != 2 || k.Parts[0].Kind != "READ" || k.Parts[1].Kind != "UPDATE" {
		t.Fatalf("parts %+v", k.Parts)
	}
	const ms = time.Millisecond
	for _, c := range []struct {
		name     string
		h        *measure.Histogram
		min, max time.Duration
	}{
		{"service of the read", k.Parts[0].Service, 2 * ms, 2 * ms},
		{"service of the update", k.Parts[1].Service, 3 * ms, 3 * ms},
		{"response of the read", k.Parts[0].Response, 2 * ms, 34 * ms},
		{"response of the update", k.Parts[1].Response, 5 * ms, 37 * ms},
		{"response of both", k.Response, 5 * ms, 37 * ms},
	} {
		if c.h.Count() != 9 || c.h.Min() != c.min || c.h.Max() != c.max {
			t.Errorf("%s: %d from %v to %v, want 9 from %v to %v", c.name, c.h.Count(), c.h.Min(), c.h.Max(), c.min, c.max)
		}
	}
	// A binding that does both at once says nothing.
	r = runner(t, &replaytest.Binding{}, h, ops)
	if parts := stepped(t, r).Phases[0].Kinds[0].Parts; parts != nil {
		t.Errorf("parts %+v of ops that have none", parts)
	}
}

func TestWhatCantBePreparedIsRefused(t *testing.T) {
	h, ops := loadAndRun()
	for want, change := range map[string]func(r *replay.Runner){
		"noting can't drop its table": func(r *replay.Runner) { r.Drop = true },
	} {
		r := runner(t, &replaytest.Binding{}, h, ops)
		change(r)
		if _, err := r.Run(t.Context()); !errors.Is(err, replay.ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
