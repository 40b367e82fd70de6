package replay_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/replaytest"
	"pianola/traces"
	"pianola/traces/payload"
	"pianola/traces/tracetest"
)

// orderedRunner returns a runner with --order key on a binding that takes 5 ms
// for each op.
func orderedRunner(t *testing.T, pipelined bool, ops []traces.Op) (*replay.Runner, *replaytest.Pipelined) {
	t.Helper()
	b := &replaytest.Pipelined{}
	b.Answer = func(context.Context, *bindings.Op) error {
		time.Sleep(5 * time.Millisecond)
		return nil
	}
	r := runner(t, &b.Binding, tracetest.Header(tracetest.Run(1000)), ops)
	if pipelined {
		r.Binding = b
	}
	r.Slots, r.Order = 64, replay.KeyOrder
	return r, b
}

func TestOpsOnOneKeyKeepTheirOrder(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		const ms = uint64(time.Millisecond)
		r, _ := orderedRunner(t, pipelined, []traces.Op{
			{Kind: traces.Update, Key: 1, Due: 0},
			{Kind: traces.Read, Key: 1, Due: 1 * ms}, // behind the update
			{Kind: traces.Read, Key: 2, Due: 1 * ms}, // another key
			{Kind: traces.Read, Key: 1, Due: 2 * ms}, // with the other read
			{Kind: traces.Update, Key: 1, Due: 3 * ms},
			{Kind: traces.Read, Key: 1, Due: 4 * ms},
			{Kind: traces.Scan, Key: 1, Due: 4 * ms, ScanLength: 3},
			{Kind: traces.Update, Key: 2, Due: 7 * ms}, // key 2 is free since 6 ms
		})
		_, lines := logged(t, r)
		start, keyFree := map[string]string{}, map[string]string{}
		for _, c := range lines {
			start[c[0]], keyFree[c[0]] = c[6], c[4]
		}
		for i, want := range []struct {
			start, keyFree time.Duration
		}{{0, -1}, {5e6, 5e6}, {1e6, -1}, {5e6, 5e6}, {10e6, 10e6}, {15e6, 15e6}, {4e6, -1}, {7e6, -1}} {
			// Who waits for a due time looks every 50 µs whether a key is free.
			at := strconv.Itoa(i)
			near := func(got string, want time.Duration) bool {
				ns, err := strconv.ParseInt(got, 10, 64)
				return err == nil && time.Duration(ns) >= want && time.Duration(ns) <= want+200*time.Microsecond
			}
			free := keyFree[at] == "-"
			if want.keyFree >= 0 {
				free = near(keyFree[at], want.keyFree)
			}
			if !near(start[at], want.start) || !free {
				t.Errorf("pipelined %v: op %d started at %s, key free at %s; want %v, %v", pipelined, i, start[at], keyFree[at], want.start, want.keyFree)
			}
		}
	}
}

func TestRandomOpsNeverOvertakeOnTheirKeys(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		for _, asap := range []bool{false, true} {
			var ops []traces.Op
			for i := range uint64(3000) {
				word := payload.Mix(i)
				op := traces.Op{Kind: traces.Read, Key: word % 7, Due: i * 200_000}
				if word>>40%3 == 0 {
					op.Kind = traces.Update
				}
				ops = append(ops, op)
			}
			r, b := orderedRunner(t, pipelined, ops)
			r.Asap, r.Deadline = asap, time.Hour
			var mu sync.Mutex
			readers, writers := map[string]int{}, map[string]int{}
			b.Answer = func(_ context.Context, op *bindings.Op) error {
				key := string(op.Key)
				mu.Lock()
				if op.Kind == traces.Read {
					readers[key]++
				} else {
					writers[key]++
				}
				if writers[key] > 1 || writers[key] == 1 && readers[key] > 0 {
					t.Errorf("key %s: %d writers and %d readers at once", key, writers[key], readers[key])
				}
				mu.Unlock()
				time.Sleep(time.Duration(payload.Sum(uint64(op.Slot), op.Key)%2000) * time.Microsecond)
				mu.Lock()
				if op.Kind == traces.Read {
					readers[key]--
				} else {
					writers[key]--
				}
				mu.Unlock()
				return nil
			}
			res := stepped(t, r)
			if c := total(t, &res.Phases[0]).Counts; c.Completed != 3000 {
				t.Errorf("pipelined %v, asap %v: %+v", pipelined, asap, c)
			}
			// On each key the calls come in the order of the trace, as far as
			// kinds tell.
			next := map[string][]traces.Kind{}
			for _, op := range ops {
				key := "user" + strconv.FormatUint(op.Key, 10)
				next[key] = append(next[key], op.Kind)
			}
			for _, c := range b.Calls() {
				if next[c.Key][0] != c.Kind {
					t.Fatalf("pipelined %v, asap %v: %v of %s where %v is due", pipelined, asap, c.Kind, c.Key, next[c.Key][0])
				}
				next[c.Key] = next[c.Key][1:]
			}
		}
	}
}

func TestAHotKeyIsOrderingLimited(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		var ops []traces.Op
		for i := range uint64(1000) {
			op := traces.Op{Kind: traces.Read, Key: i, Due: i * 1e6}
			if i%10 == 0 {
				op.Kind, op.Key = traces.Update, 0
			}
			ops = append(ops, op)
		}
		r, b := orderedRunner(t, pipelined, ops)
		b.Answer = func(_ context.Context, op *bindings.Op) error {
			time.Sleep(9 * time.Millisecond)
			if op.Kind == traces.Update && op.Slot%2 == 0 {
				time.Sleep(3 * time.Millisecond)
			}
			return nil
		}
		p := &stepped(t, r).Phases[0]
		all := total(t, p)
		if all.Counts.Completed != 1000 || orderWaits(p) == 0 {
			t.Errorf("pipelined %v: %+v, order wait %v", pipelined, all.Counts, orderWaits(p))
		}
		if w := p.Verdict.Word; w != measure.OrderingLimited && w != measure.Saturated && w != measure.Valid {
			t.Errorf("pipelined %v: verdict %q", pipelined, w)
		}
	}
}

func orderWaits(p *measure.Phase) time.Duration {
	var sum time.Duration
	for i := range p.Kinds {
		sum += p.Kinds[i].OrderWait
	}
	return sum
}

func TestAWriteThatHangsHoldsItsKeyUntilItsDeadline(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		var ops []traces.Op
		for i := range uint64(400) {
			ops = append(ops, traces.Op{Kind: traces.Update, Key: i % 2, Due: i * 10e6})
		}
		r, b := orderedRunner(t, pipelined, ops)
		r.Deadline = time.Second
		var hung atomic.Bool
		bubbleDone := make(chan struct{})
		bubble(t, func(ctx context.Context) {
			hang := make(chan struct{})
			defer close(hang)
			b.Answer = func(_ context.Context, op *bindings.Op) error {
				if string(op.Key) == "user1" && hung.CompareAndSwap(false, true) {
					<-hang
				}
				return nil
			}
			r.Clock = replaytest.NewClock()
			res, err := r.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			c := total(t, &checked(t, res).Phases[0]).Counts
			// The first update of key 1 hangs until 1.01 s and the next 50 wait
			// for it. Few are past their own deadline when the watch finds out.
			if c.Censored < 1 || c.Censored > 5 || c.Completed+c.Censored+c.Unsent != 400 {
				t.Errorf("pipelined %v: %+v", pipelined, c)
			}
			close(bubbleDone)
		})
		<-bubbleDone
	}
}

func TestAnInterruptSettlesParkedOps(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		var ops []traces.Op
		for i := range uint64(1000) {
			ops = append(ops, traces.Op{Kind: traces.Update, Key: 5, Due: i * 1e6})
		}
		r, _ := orderedRunner(t, pipelined, ops)
		bubble(t, func(ctx context.Context) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(500*time.Millisecond, cancel)
			r.Clock = replaytest.NewClock()
			res, err := r.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			c := total(t, &checked(t, res).Phases[0]).Counts
			if !res.Partial || c.Completed < 95 || c.Completed > 101 || c.Offered < 490 || c.Offered > 501 || c.Unsent != c.Offered-c.Completed {
				t.Errorf("pipelined %v: partial %v, %+v", pipelined, res.Partial, c)
			}
		})
	}
}

func TestParkedOpsPastTheirDeadlineAreNotSent(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		var ops []traces.Op
		for i := range uint64(4000) {
			ops = append(ops, traces.Op{Kind: traces.Update, Key: 5, Due: i * 5e6}) // 200/s for 20 s
		}
		r, b := orderedRunner(t, pipelined, ops)
		b.Answer = func(context.Context, *bindings.Op) error {
			time.Sleep(10 * time.Millisecond)
			return nil
		}
		r.Slots, r.Deadline = 1024, 2*time.Second
		p := &stepped(t, r).Phases[0]
		all := total(t, p)
		last := b.Calls()[len(b.Calls())-1].Start
		if lag := all.Lag.Quantile(measure.P99).Value; lag > 20*time.Millisecond || last > p.Schedule+r.Deadline || all.Counts.Unsent < 1000 {
			t.Errorf("pipelined %v: %+v, lag p99 %v, last call at %v", pipelined, all.Counts, lag, last)
		}
		if w := p.Verdict.Word; w != measure.Saturated {
			t.Errorf("pipelined %v: verdict %q %v", pipelined, w, p.Verdict.Reasons)
		}
	}
}
