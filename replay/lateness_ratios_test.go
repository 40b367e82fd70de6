//go:build bench && unix

package replay_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"text/tabwriter"
	"time"

	"pianola/bindings"
	"pianola/bindings/null"
	"pianola/replay/measure"
	"pianola/traces"
	"pianola/traces/benchtable"
	"pianola/traces/tracetest"
)

// latenessSeconds is the length of a schedule: enough ops for a p99 at the
// lowest rate.
const latenessSeconds = 3

// sleepRatio is how many times later a loop over time.Sleep is to start at p50.
const sleepRatio = 500

// latenessCase is one rate on one kind of target; a bar of 0 is none. What is
// beyond a machine with the server beside may leave ops without an answer.
type latenessCase struct {
	rate     uint64
	p50, p99 time.Duration
	beyond   bool
}

// latenessRows show how late ops start, and beside it how late they do by a loop
// over time.Sleep, which keeps the same schedule in the same process. A row is
// worth as much as the machine was quiet: the gaps that the clock showed to a
// spinning thread and the load tell that.
func latenessRows(t *testing.T) {
	blocking := []latenessCase{
		{rate: 1_000}, {rate: 10_000, p99: 500 * time.Microsecond}, {rate: 100_000, beyond: true}, {rate: 1_000_000, beyond: true}}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "\nstart lateness\tslots\top/s\tp50\tbar\t\tp99\tbar\t\tp99.9\tcompleted\ttime.Sleep p50\tover ours\tbar %d\tcores\tclock gap p99\tload average\t\n", sleepRatio)
	for _, target := range []struct {
		name  string
		slots int
		open  func(t *testing.T) *bindings.Driver
		cases []latenessCase
	}{
		{"null", 1000, func(*testing.T) *bindings.Driver { return &null.Driver }, []latenessCase{
			{rate: 1_000, p99: 50 * time.Microsecond}, {rate: 10_000, p99: 50 * time.Microsecond},
			{rate: 100_000, p50: 500 * time.Nanosecond, p99: 60 * time.Microsecond}, {rate: 1_000_000}}},
		{"loopback, pipelined", 1000, echoPipelined, []latenessCase{
			{rate: 1_000}, {rate: 10_000}, {rate: 100_000}, {rate: 1_000_000, beyond: true}}},
		{"loopback, blocking", 64, echoBlocking, blocking},
		{"loopback, blocking", 1000, echoBlocking, blocking},
	} {
		for _, c := range target.cases {
			p := latenessRun(t, target.open(t), target.slots, c)
			all := total(t, p)
			lag := all.Lag
			p50, p99 := lag.Quantile(measure.P50).Value, lag.Quantile(measure.P99).Value
			slept := sleepLateness(c.rate)
			ratio := float64(slept) / float64(max(p50, 1))
			fmt.Fprintf(out, "%s\t%d\t%d\t%s\t%s\t%s\t%.1f %%\t%s\t%.0f\t%s\t%.2f\t%s\t%s\t\n", target.name, target.slots, c.rate,
				beside(p50, c.p50), beside(p99, c.p99), measure.FormatDuration(lag.Quantile(measure.P999).Value),
				100*float64(all.Counts.Completed)/float64(all.Counts.Offered), measure.FormatDuration(slept), ratio, verdictOn(target.name != "null", ratio >= sleepRatio),
				(p.Health.CPUUser+p.Health.CPUSystem).Seconds()/p.Length.Seconds(), measure.FormatDuration(p.Health.GapP99), benchtable.Load())
		}
	}
	flush(t, out)
}

// beside sets a time beside its bar, in three cells.
func beside(d, bar time.Duration) string {
	if bar == 0 {
		return measure.FormatDuration(d) + "\t\t"
	}
	return measure.FormatDuration(d) + "\t" + measure.FormatDuration(bar) + "\t" + verdictOn(false, d <= bar)
}

// verdictOn says whether a bar was met; a time on a machine that may be busy
// fails nothing.
func verdictOn(none, met bool) string {
	switch {
	case none:
		return ""
	case met:
		return "met"
	}
	return "missed"
}

func flush(t *testing.T, out *tabwriter.Writer) {
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
}

// latenessRun replays READs at a rate and fails where one is not completed.
func latenessRun(t *testing.T, driver *bindings.Driver, slots int, c latenessCase) *measure.Phase {
	rate := c.rate
	n := int(rate) * latenessSeconds
	path := tracetest.File(t, tracetest.Header(tracetest.Run(rate)), tracetest.Reads(0, n, time.Second/time.Duration(rate), 1000))
	r := runnerOn(t, driver)
	r.Slots = slots
	var err error
	if r.Trace, err = traces.Open(path); err != nil {
		t.Fatal(err)
	}
	defer r.Trace.Close()
	res, err := r.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	phase := &res.Phases[0]
	if all := total(t, phase); !c.beyond && all.Counts.Completed != uint64(n) {
		t.Errorf("%s, %d slots, %d a second: %+v", driver.Name, slots, rate, all.Counts)
	}
	return phase
}

// sleepLateness keeps half a second of the schedule as load generators without
// a pacer do, and returns the middle lateness.
func sleepLateness(rate uint64) time.Duration {
	late := measure.NewHistogram()
	start := time.Now()
	for i := range rate / 2 {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		if left := due - time.Since(start); left > 0 {
			time.Sleep(left)
		}
		late.Record(time.Since(start) - due)
	}
	return late.Quantile(measure.P50).Value
}
