package replay_test

import (
	"context"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/replaytest"
	"pianola/traces/tracetest"
)

// slowClient is a pipelined client that takes the issuing thread's time for each
// op and is answered as the call returns.
type slowClient struct {
	replaytest.Binding
	clock bindings.Clock
	sink  bindings.Sink
	takes time.Duration
}

func (s *slowClient) Pipeline(_ context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	s.sink = sink
	return s, nil
}

func (s *slowClient) Issue(op *bindings.Op) {
	s.clock.SleepUntil(s.clock.Now() + s.takes)
	s.sink.Done(op, nil)
}

// A generator that is too slow for its rate is told so, and not that it has too
// few slots: of those all but one are free all the time. With one slot it is that
// slot which each op waits for.
func TestALateGeneratorIsNotTheSlots(t *testing.T) {
	const n, gap, takes = 400, time.Millisecond, 2 * time.Millisecond
	for _, c := range []struct {
		slots    int
		overload replay.Overload
		verdict  string
		// share of the delay that is lag.
		lag bool
	}{
		{16, replay.QueueOverload, measure.GeneratorLimited, true},
		{1000, replay.QueueOverload, measure.GeneratorLimited, true},
		{16, replay.DropOverload, measure.GeneratorLimited, true},
		{1, replay.QueueOverload, measure.Saturated, false},
	} {
		bubble(t, func(ctx context.Context) {
			ops := tracetest.Reads(0, n, gap, 5)
			clock := replaytest.NewClock()
			s := &slowClient{clock: clock, takes: takes}
			r := runner(t, &s.Binding, tracetest.Header(tracetest.Run(uint64(time.Second/gap))), ops)
			driver := *s.Driver()
			driver.Place = bindings.Remote
			r.Driver, r.Binding, r.Clock, r.Slots, r.Overload = &driver, s, clock, c.slots, c.overload
			result, err := r.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			p := &result.Phases[0]
			all := total(t, p)
			if p.Verdict.Word != c.verdict || all.Counts.Completed != n {
				t.Errorf("%d slots, %s: %s %q, %+v", c.slots, c.overload, p.Verdict.Word, p.Verdict.Reasons, all.Counts)
			}
			// The last op is due at 399 ms and sent at 798 ms, behind 399 others.
			lag, wait := all.Lag.Max(), all.Wait.Max()
			if c.lag != (lag == (n-1)*gap) || c.lag != (wait == 0) || lag+wait != (n-1)*gap {
				t.Errorf("%d slots, %s: lag %v, wait %v", c.slots, c.overload, lag, wait)
			}
		})
	}
}
