package outagetest

import (
	"testing"
	"time"

	"pianola/replay"
	"pianola/replay/measure"
	"pianola/traces"
	"pianola/traces/tracetest"
)

const (
	// closedOps is how many operations a closed loop runs to find how many a
	// second the database answers, halfLength how long half of that is asked for.
	closedOps  = 5000
	halfLength = 2 * time.Second
	// closedSlots is how many of them are in flight: more than a server's queue
	// takes are refused, which is no answer.
	closedSlots = 64
)

// Half asks the database for half of what it answers in a closed loop, and
// demands that the verdict takes this for a load that it carries. The records
// must be loaded.
func Half(t *testing.T, o Outage) {
	for attempt := 1; ; attempt++ {
		closed := o.reads(t, closedOps, time.Microsecond, true)
		rate := float64(closedOps) / closed.Length.Seconds()
		gap := time.Duration(float64(2*time.Second) / rate)
		p := o.reads(t, int(halfLength/gap), gap, false)
		t.Logf("attempt %d: %.0f op/s in a closed loop, half of that: %s %q, run queue %v of %v",
			attempt, rate, p.Verdict.Word, p.Verdict.Reasons, p.Health.RunQueue, p.Length)
		if p.Verdict.Word == measure.Valid || p.Verdict.Word == measure.SharedCPU {
			return
		}
		if attempt == attempts {
			if float64(p.Health.RunQueueAll) < noisyShare*float64(p.Length) {
				t.Errorf("at half of saturation the verdict is %s %q", p.Verdict.Word, p.Verdict.Reasons)
			}
			return
		}
	}
}

// reads runs so many READs, one every gap or as fast as they go.
func (o *Outage) reads(t *testing.T, n int, gap time.Duration, asap bool) *measure.Phase {
	t.Helper()
	h := tracetest.Header(tracetest.Load(), tracetest.Run(max(1, uint64(time.Second/gap))))
	h.Records = records
	r := o.runner(t, h, append(tracetest.Inserts(records), tracetest.Reads(1, n, gap, records)...))
	r.Phases, r.Asap = replay.RunOnly, asap
	if asap {
		r.Slots = closedSlots
	}
	result, err := r.Run(t.Context())
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	p := &result.Phases[0]
	if c := total(t, p).Counts; c.Completed != c.Offered || p.Kinds[0].Kind != traces.Read.String() {
		t.Fatalf("%+v\n%v", c, p.Errors)
	}
	return p
}
