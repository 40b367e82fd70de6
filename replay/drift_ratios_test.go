//go:build bench && unix

package replay_test

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"testing"
	"text/tabwriter"
	"time"

	"pianola/bindings"
	"pianola/bindings/null"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/traces/benchtable"
)

// driftBar is how much later than the first ops the last ones may start at p50.
const driftBar = 500 * time.Nanosecond

// driftRows show that the last ops of long schedules start as punctually as the
// first. The binding sees it, not the recorder.
func driftRows(t *testing.T, g generator) {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "\nno drift\top/s\tfirst 1 %%: p50\tp99\tlast 1 %%: p50\tp99\tp50 later by\tbar\t\trate reached\tlast due, ns\tn / rate\tbar exact\tclock gap p99\tload average\t\n")
	for _, c := range []struct{ ops, rate uint64 }{{10_000_000, 100_000}, {3_000_000, 300_000}} {
		path := g.trace(t, "-w", "workloadc", "--records", "1000", "--ops", fmt.Sprint(c.ops), "--rate", fmt.Sprint(c.rate))
		w, p := watchedRun(t, path, c.ops)
		first, last := w.first.Quantile(measure.P50).Value, w.last.Quantile(measure.P50).Value
		// Op n of a constant rate is due at floor(n * 10^9 / rate) ns, the first one is op 0.
		high, low := bits.Mul64(c.ops-1, 1e9)
		due, _ := bits.Div64(high, low, c.rate)
		exact := w.lastDue == time.Duration(due)
		fmt.Fprintf(out, "%d ops\t%d\t%s\t%s\t%s\t%s\t%s\t%#.9g\t%d\t%d\t%s\t%s\t%s\t\n", c.ops, c.rate,
			measure.FormatDuration(first), measure.FormatDuration(w.first.Quantile(measure.P99).Value),
			measure.FormatDuration(last), measure.FormatDuration(w.last.Quantile(measure.P99).Value), beside(max(last-first, 0), driftBar),
			float64(c.ops-1)/w.lastStart.Seconds(), w.lastDue, due, verdictOn(false, exact),
			measure.FormatDuration(p.Health.GapP99), benchtable.Load())
		if !exact {
			t.Errorf("op %d at %d a second is due at %d ns, want %d", c.ops-1, c.rate, w.lastDue, due)
		}
	}
	flush(t, out)
}

// watchedRun replays phase run of a trace on null and watches when ops start.
func watchedRun(t *testing.T, path string, n uint64) (*watched, *measure.Phase) {
	r := runnerOn(t, &null.Driver)
	w := &watched{Pipeliner: r.Binding.(bindings.Pipeliner), ops: n, first: measure.NewHistogram(), last: measure.NewHistogram()}
	r.Binding, r.Phases, r.Slots, r.Deadline = w, replay.RunOnly, 1000, watchedDeadline
	return w, confirmedRun(t, r, path, n)
}

const watchedDeadline = 10 * time.Second

var (
	_ bindings.Pipeliner     = (*watched)(nil)
	_ bindings.PhaseObserver = (*watched)(nil)
)

// watched notes how late the first and the last hundredth of the ops reach the
// database. An op is due watchedDeadline before its deadline.
type watched struct {
	bindings.Pipeliner
	clock       bindings.Clock
	ops, issued uint64
	phaseStart  time.Duration
	first, last *measure.Histogram
	// lastDue and lastStart count from the phase's start.
	lastDue, lastStart time.Duration
}

func (w *watched) Open(ctx context.Context, c bindings.Config) error {
	w.clock = c.Clock
	return w.Pipeliner.Open(ctx, c)
}

func (w *watched) PhaseStarts(_ string, at time.Duration) { w.phaseStart = at }

func (w *watched) Pipeline(ctx context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	p, err := w.Pipeliner.Pipeline(ctx, sink)
	return &watchedPipeline{p, w}, err
}

type watchedPipeline struct {
	bindings.Pipeline
	watched *watched
}

func (p *watchedPipeline) Issue(op *bindings.Op) {
	p.watched.note(op)
	p.Pipeline.Issue(op)
}

func (w *watched) note(op *bindings.Op) {
	i, hundredth := w.issued, w.ops/100
	w.issued++
	if i >= hundredth && i < w.ops-hundredth {
		return
	}
	now, due := w.clock.Now(), op.Deadline-watchedDeadline
	if i < hundredth {
		w.first.Record(now - due)
	} else {
		w.last.Record(now - due)
	}
	w.lastDue, w.lastStart = due-w.phaseStart, now-w.phaseStart
}
