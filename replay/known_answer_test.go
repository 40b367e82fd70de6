package replay_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pianola/bindings"
	"pianola/bindings/null"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/replaytest"
	"pianola/traces"
	"pianola/traces/tracetest"
)

// tenSeconds is 10 s of reads, one each millisecond.
func tenSeconds() (*traces.Header, []traces.Op) {
	return tracetest.Header(tracetest.Run(1000)), tracetest.Reads(0, 10_000, time.Millisecond, 1000)
}

// twoSeconds is 2 s of reads, one each millisecond.
func twoSeconds() (*traces.Header, []traces.Op) {
	return tracetest.Header(tracetest.Run(1000)), tracetest.Reads(0, 2000, time.Millisecond, 1000)
}

// nullRunner returns a runner of a trace on the null binding.
func nullRunner(t *testing.T, h *traces.Header, ops []traces.Op, properties ...string) *replay.Runner {
	t.Helper()
	r, err := traces.Open(tracetest.File(t, h, ops))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	driver := null.Driver
	given, err := bindings.ParseProperties(properties)
	if err != nil {
		t.Fatal(err)
	}
	p, err := driver.Configure(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	binding, err := driver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return &replay.Runner{Trace: r, Driver: &driver, Binding: binding, Properties: p}
}

// stepped runs r in a bubble on a stepped clock.
func stepped(t *testing.T, r *replay.Runner) *measure.Result {
	t.Helper()
	var res *measure.Result
	synctest.Test(t, func(t *testing.T) {
		r.Clock = replaytest.NewClock()
		var err error
		if res, err = r.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
	return checked(t, res)
}

// realTime runs r on a real clock.
func realTime(t *testing.T, r *replay.Runner) *measure.Result {
	t.Helper()
	res, err := r.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return checked(t, res)
}

// checked checks what holds of every result: offered = completed + failed +
// censored + dropped + unsent, per kind, and over intervals too.
func checked(t *testing.T, res *measure.Result) *measure.Result {
	t.Helper()
	for i := range res.Phases {
		p := &res.Phases[i]
		var intervals measure.Counts
		due := uint64(0)
		for _, iv := range p.Intervals {
			due += iv.Due
			for _, k := range iv.Kinds {
				intervals.Add(k.Counts)
			}
		}
		all, err := p.Total()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range append([]measure.Kind{all}, p.Kinds...) {
			if c.Counts.Offered != c.Counts.Decided() {
				t.Errorf("phase %s, %s: %d offered, %+v", p.Name, c.Kind, c.Counts.Offered, c.Counts)
			}
			if started := c.Counts.Completed + c.Counts.Failed + c.Counts.Censored; c.Lag.Count() != started || c.Wait.Count() != started {
				t.Errorf("phase %s, %s: %d ops started, lag of %d, wait of %d", p.Name, c.Kind, started, c.Lag.Count(), c.Wait.Count())
			}
		}
		if due != all.Counts.Offered || intervals.Decided() != all.Counts.Decided() || intervals.Completed != all.Counts.Completed {
			t.Errorf("phase %s: intervals sum to %d due, %+v; the phase has %+v", p.Name, due, intervals, all.Counts)
		}
	}
	return res
}

// within reports whether got is want up to a share of 1 in 1000, the precision
// of the histograms, and slack.
func within(got, want, slack time.Duration) bool {
	return max(got-want, want-got) <= want/1000+slack
}

func TestAStallOfASecondHasTheAnswerWorkedOutOnPaper(t *testing.T) {
	for _, slots := range []int{1, 2000} {
		t.Run("stepped/"+describe(slots), func(t *testing.T) {
			for _, fault := range stallFaults(&stepped(t, stallRunner(t, slots)).Phases[0], slots, 0) {
				t.Error(fault)
			}
		})
		t.Run("real/"+describe(slots), func(t *testing.T) {
			untilQuiet(t, func() []string {
				return stallFaults(&realTime(t, stallRunner(t, slots)).Phases[0], slots, 5*time.Millisecond)
			})
		})
	}
}

// untilQuiet repeats a measurement in real time until it is free of faults: one
// that shares the machine with other work has the faults of that. It fails if
// every attempt has some.
func untilQuiet(t *testing.T, attempt func() []string) {
	t.Helper()
	const attempts = 5
	for i := range attempts {
		faults := attempt()
		if len(faults) == 0 {
			return
		}
		for _, fault := range faults {
			t.Logf("attempt %d: %s", i+1, fault)
		}
	}
	t.Errorf("none of %d attempts was without a fault", attempts)
}

func stallRunner(t *testing.T, slots int) *replay.Runner {
	h, ops := tenSeconds()
	r := nullRunner(t, h, ops, "stall=5s:1s")
	r.Slots = slots
	return r
}

// stallFaults holds the figures of a stall of 1 s at 1000 ops per second for
// 10 s against those worked out on paper: the 1000 ops due within it respond
// in 1000, 999, … 1 ms, the other 9000 at once.
func stallFaults(p *measure.Phase, slots int, slack time.Duration) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	k := &p.Kinds[0]
	for _, c := range []struct {
		q    measure.Q
		want time.Duration
	}{{measure.P50, 0}, {measure.P95, 500 * time.Millisecond}, {measure.P99, 900 * time.Millisecond}, {measure.Max, time.Second}} {
		if got := k.ResponseQuantile(c.q); got.Above != "" || !within(got.Value, c.want, slack) {
			fault("response quantile %d is %+v, want %v", c.q, got, c.want)
		}
	}
	longService := k.Service.Count() - countBelow(k.Service, 500*time.Microsecond+slack)
	waitP99, serviceP99 := k.Wait.Quantile(measure.P99).Value, k.Service.Quantile(measure.P99).Value
	switch {
	case slots == 1 && (longService != 1 || !within(k.Service.Max(), time.Second, slack)):
		fault("%d ops with a long service, the longest %v; want exactly one, of 1 s", longService, k.Service.Max())
	case slots == 1 && !within(waitP99, 900*time.Millisecond, slack):
		fault("wait p99 %v, want 900 ms", waitP99)
	case slots > 1 && waitP99 > slack:
		fault("wait p99 %v, want near 0", waitP99)
	case slots > 1 && !within(serviceP99, 900*time.Millisecond, slack):
		fault("service p99 %v, want 900 ms", serviceP99)
	}
	if lag := k.Lag.Quantile(measure.P99).Value; lag >= time.Millisecond {
		fault("lag p99 %v, want below 1 ms", lag)
	}
	return faults
}

func describe(slots int) string {
	if slots == 1 {
		return "1 slot"
	}
	return "2000 slots"
}

// countBelow returns the number of values up to limit.
func countBelow(h *measure.Histogram, limit time.Duration) uint64 {
	n := uint64(0)
	for n < h.Count() && h.AtRank(n+1) <= limit {
		n++
	}
	return n
}
