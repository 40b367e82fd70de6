package replay_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/replaytest"
	"pianola/traces"
	"pianola/traces/tracetest"
)

// keeping is a pipeline that answers at Flush alone.
type keeping struct {
	replaytest.Binding
	sink bindings.Sink

	mu      sync.Mutex
	kept    []*bindings.Op
	batches []int
}

func (k *keeping) Pipeline(_ context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	k.sink = sink
	return k, nil
}

func (k *keeping) Issue(op *bindings.Op) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, op)
}

func (k *keeping) Flush() {
	k.mu.Lock()
	kept := slices.Clone(k.kept)
	k.kept = k.kept[:0]
	k.batches = append(k.batches, len(kept))
	k.mu.Unlock()
	for _, op := range kept {
		k.sink.Done(op, nil)
	}
}

// TestWhatIsKeptIsFlushed: no op waits in the pipeline for one that is not due,
// for a slot, for a key, for the trace or for the end.
func TestWhatIsKeptIsFlushed(t *testing.T) {
	const n, gap = 200, 2 * time.Millisecond
	for name, prepare := range map[string]func(r *replay.Runner){
		"paced":   func(*replay.Runner) {},
		"few":     func(r *replay.Runner) { r.Slots = 3 },
		"one":     func(r *replay.Runner) { r.Slots = 1 },
		"unpaced": func(r *replay.Runner) { r.Asap = true },
		"by key":  func(r *replay.Runner) { r.Order = replay.KeyOrder },
		"at once": func(*replay.Runner) {},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(ctx context.Context) {
				ops := tracetest.Reads(0, n, gap, 5)
				for i := range ops {
					if ops[i].Kind = traces.Update; name == "at once" {
						ops[i].Due = 0
					}
				}
				k := &keeping{}
				r := runner(t, &k.Binding, tracetest.Header(tracetest.Run(uint64(time.Second/gap))), ops)
				r.Binding, r.Clock = k, replaytest.NewClock()
				prepare(r)
				result, err := r.Run(ctx)
				if err != nil {
					t.Fatal(err)
				}
				// Nothing takes time but being kept.
				all := total(t, &result.Phases[0])
				if longest := all.Service.Quantile(measure.Max).Value; all.Counts.Completed != n || longest > 0 {
					t.Errorf("%+v, service max %v", all.Counts, longest)
				}
				// What is due at one time goes out together.
				if largest := slices.Max(k.batches); largest > 32 || name == "at once" && largest == 1 {
					t.Errorf("batches of %v", k.batches)
				}
			})
		})
	}
}
