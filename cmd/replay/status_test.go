package main

import (
	"testing"
	"time"

	"pianola/replay"
	"pianola/replay/measure"
)

func TestProgressText(t *testing.T) {
	const ms = time.Millisecond
	counts := measure.Counts{Offered: 4200, Completed: 4180, Failed: 10, Unsent: 2}
	live := measure.Live{
		Paced: true, Started: 4198, InFlight: 8, Window: time.Second, Completed: 995,
		P50: measure.Quantile{Value: 310 * time.Microsecond, Beyond: 500}, P99: measure.Quantile{Value: 1200 * time.Microsecond, Beyond: 9},
		WaitP99: 0, LagP99: 2100,
	}
	failing, closed := live, live
	failing.P99 = measure.Quantile{Value: 20 * ms, Above: "failed", Beyond: 9}
	closed.Paced = false
	for _, c := range []struct {
		name string
		p    replay.Progress
		l    measure.Live
		want string
	}{
		{"of a paced phase", replay.Progress{Phase: "run", Elapsed: 4200 * ms, Counts: counts, Ops: 10_000}, live,
			"phase run, 4s: 42%, 6s left, response p50 310 µs p99 ~1.20 ms, wait p99 0 ns, lag p99 2.10 µs, 8 in flight, " +
				"10 failed, 2 unsent, 4200 offered, 4198 started, 4180 completed, 995 per second"},
		{"of a quantile without a value", replay.Progress{Phase: "run", Elapsed: 4200 * ms, Counts: counts, Ops: 10_000}, failing,
			"phase run, 4s: 42%, 6s left, response p50 310 µs p99 > 20.0 ms (failed), wait p99 0 ns, lag p99 2.10 µs, 8 in flight, " +
				"10 failed, 2 unsent, 4200 offered, 4198 started, 4180 completed, 995 per second"},
		{"of an unpaced phase", replay.Progress{Phase: "load", Elapsed: 2 * time.Second, Counts: measure.Counts{Offered: 1000, Completed: 1000}, Ops: 1000}, closed,
			"phase load, 2s: 100%, 0s left, closed loop p50 310 µs p99 ~1.20 ms, lag p99 2.10 µs, 8 in flight, 1000 offered, 4198 started, 1000 completed, 995 per second"},
		{"before the first interval is over", replay.Progress{Phase: "run", Elapsed: 500 * ms, Counts: measure.Counts{Offered: 60, Completed: 50}, Ops: 1000}, measure.Live{Paced: true, Started: 60, InFlight: 10},
			"phase run, 1s: 6%, 8s left, 10 in flight, 60 offered, 60 started, 50 completed, 100 per second"},
		{"of a stream, whose length is not known", replay.Progress{Phase: "run", Elapsed: 20 * time.Second, Counts: measure.Counts{Offered: 60, Completed: 50}}, measure.Live{},
			"phase run, 20s: 60 offered, 50 completed, 2 per second"},
		{"before the first op", replay.Progress{Phase: "run", Ops: 1000}, measure.Live{},
			"phase run, 0s: 0%, 0 offered, 0 completed, 0 per second"},
		{"of an interval in which nothing ended", replay.Progress{Phase: "run", Elapsed: 2 * time.Second, Counts: measure.Counts{Offered: 2000, Completed: 1000}, Ops: 4000},
			measure.Live{Paced: true, Started: 2000, InFlight: 1000, Window: time.Second, P50: measure.Quantile{None: true}, P99: measure.Quantile{None: true}},
			"phase run, 2s: 50%, 2s left, response p50 n/a p99 n/a, wait p99 0 ns, lag p99 0 ns, 1000 in flight, 2000 offered, 2000 started, 1000 completed, 0 per second"},
	} {
		c.p.Live = c.l
		if got := progressText(c.p); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestStatusBeforeTheFirstPhase(t *testing.T) {
	if got := statusText(new(replay.Runner)); got != "" {
		t.Errorf("%q", got)
	}
}
