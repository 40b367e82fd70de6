// Package outagetest runs a binding open loop against a server that is paused
// or killed meanwhile, and looks whether the figures tell.
package outagetest

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/traces"
	"pianola/traces/tracetest"
)

// Outage is a binding on a server.
type Outage struct {
	Driver *bindings.Driver
	// Properties are those that differ from the defaults: the address above all.
	Properties bindings.Properties
	Server     *servers.Server
	// Slots is the number of operations in flight; the default is 64.
	Slots int
	// Rate is that of operations, in 1/s; the default is 400.
	Rate int
	// Recovery is how long a killed server may take until it answers again; the
	// default is 6 s.
	Recovery time.Duration
}

const (
	records = 200
	// The outage begins after before, and a pause lasts pause.
	before = 500 * time.Millisecond
	pause  = time.Second
	// attempts is how often a run may be spoilt by whatever else the machine does.
	attempts = 5
	// lagLimit bounds how late operations may start at p99 in a quiet run: the
	// client's goroutines compete for the processor with the one that keeps the
	// time. noisyLimit bounds it where the machine was busy with other things in
	// every attempt, noisyShare of the time or more: what remains to be seen then
	// is that the pause is no lag.
	lagLimit   = 5 * time.Millisecond
	noisyLimit = pause / 5
	noisyShare = 0.01
)

// Pause pauses the server for a second and demands that the response times show
// it: an operation that was due at any instant of the pause has waited for its
// end. The operations start in time all the same. Before the pause it calls Half.
func Pause(t *testing.T, o Outage) {
	o.load(t)
	t.Run("half", func(t *testing.T) { Half(t, o) })
	least := time.Duration(math.MaxInt64)
	var kept, length time.Duration
	for attempt := 1; ; attempt++ {
		p, _ := o.run(t, traces.Read, before+2*pause, 5*pause, func() {
			o.Server.Pause()
			time.Sleep(pause)
			o.Server.Resume()
		})
		all := total(t, p)
		if all.Counts.Completed != all.Counts.Offered {
			t.Fatalf("%+v: not every operation was completed\n%v", all.Counts, p.Errors)
		}
		// Operations were due evenly, two fifths of them in the pause.
		longest, q75 := all.ResponseQuantile(measure.Max).Value, all.ResponseQuantile(750_000_000).Value
		if longest < pause*9/10 || q75 < pause/4 {
			t.Fatalf("the longest response is %v and p75 %v: a pause of %v is hidden", longest, q75, pause)
		}
		lag := all.Lag.Quantile(measure.P99).Value
		t.Logf("attempt %d: response p75 %v, longest %v; lag p99 %v; %s", attempt, q75, longest, lag, p.Verdict.Word)
		if lag < lagLimit && p.Verdict.Word != "generator limited" {
			return
		}
		least, kept, length = min(least, lag), kept+p.Health.RunQueue, length+p.Length
		if attempt < attempts {
			continue
		}
		if least > noisyLimit || float64(kept) < noisyShare*float64(length) {
			t.Fatalf("lag p99 is %v at least, in the last attempt the verdict is %s %q", least, p.Verdict.Word, p.Verdict.Reasons)
		}
		t.Logf("the machine is busy: it kept the pacing thread waiting for %v of %v", kept, length)
		return
	}
}

// Kill kills the server in mid-run, starts it again, and demands that every
// operation is accounted for and that those of the end are completed. They are
// UPDATEs: they need a table, but what a database in memory has lost does not
// matter where UPDATE creates records.
func Kill(t *testing.T, o Outage) {
	o.load(t)
	recovery := o.Recovery
	if recovery == 0 {
		recovery = 6 * time.Second
	}
	const end = time.Second
	length := before + recovery + end
	restarted := make(chan struct{})
	p, log := o.run(t, traces.Update, length, 2*time.Second, func() {
		defer close(restarted)
		o.Server.Kill()
		time.Sleep(200 * time.Millisecond)
		o.Server.Restart()
	})
	<-restarted
	all := total(t, p)
	c := all.Counts
	if sum := c.Completed + c.Failed + c.Censored + c.Dropped + c.Unsent; sum != c.Offered || c.Offered != p.Ops {
		t.Errorf("%+v: %d ops of %d are accounted for", c, sum, p.Ops)
	}
	if c.Failed+c.Censored+c.Unsent == 0 {
		t.Errorf("%+v: a killed server has cost nothing", c)
	}
	t.Logf("%+v", c)
	for _, e := range p.Errors {
		t.Logf("%s: %s", e.Class, e.Message)
	}
	late, completed := 0, 0
	for line := range strings.Lines(log) {
		column := strings.Split(strings.TrimSpace(line), "\t")
		if column[0] == "index" || column[1] != "run" {
			continue
		}
		due, err := time.ParseDuration(column[3] + "ns")
		if err != nil {
			t.Fatal(err)
		}
		if due >= length-end {
			late++
			if column[8] == "ok" {
				completed++
			}
		}
	}
	if late == 0 || completed < late {
		t.Errorf("%d of %d operations of the last %v were completed, want all: the run does not go on", completed, late, end)
	}
}

// load loads the records.
func (o *Outage) load(t *testing.T) {
	t.Helper()
	h := tracetest.Header(tracetest.Load())
	h.Records = records
	r := o.runner(t, h, tracetest.Inserts(records))
	result, err := r.Run(t.Context())
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	if c := total(t, &result.Phases[0]).Counts; c.Completed != records {
		t.Fatalf("load: %+v\n%v", c, result.Phases[0].Errors)
	}
}

// run replays a paced phase, begins the outage in its course, and returns the
// phase and the log of its operations.
func (o *Outage) run(t *testing.T, kind traces.Kind, length, deadline time.Duration, outage func()) (*measure.Phase, string) {
	t.Helper()
	rate := o.Rate
	if rate == 0 {
		rate = 400
	}
	h := tracetest.Header(tracetest.Load(), tracetest.Run(uint64(rate)))
	h.Records = records
	gap := time.Second / time.Duration(rate)
	ops := append(tracetest.Inserts(records), tracetest.Reads(1, int(length/gap), gap, records)...)
	for i := range ops {
		if ops[i].Kind == traces.Read {
			ops[i].Kind = kind
		}
	}
	r := o.runner(t, h, ops)
	r.Phases = replay.RunOnly
	r.Deadline = deadline
	var log bytes.Buffer
	r.OpLog = &log
	begun := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(begun)
		for {
			p, ok := r.Progress()
			if ctx.Err() != nil {
				t.Error("the run ended before the outage began")
				return
			}
			if ok && p.Phase == "run" && p.Elapsed >= before {
				break
			}
			time.Sleep(time.Millisecond)
		}
		outage()
	}()
	result, err := r.Run(t.Context())
	cancel()
	<-begun
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return &result.Phases[0], log.String()
}

// runner returns a runner on a new binding.
func (o *Outage) runner(t *testing.T, h *traces.Header, ops []traces.Op) *replay.Runner {
	t.Helper()
	trace, err := traces.Open(tracetest.File(t, h, ops))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trace.Close() })
	p, err := o.Driver.Configure(o.Properties, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.Driver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	slots := o.Slots
	if slots == 0 {
		slots = 64
	}
	return &replay.Runner{Trace: trace, Driver: o.Driver, Binding: b, Properties: p, Slots: slots}
}

func total(t *testing.T, p *measure.Phase) measure.Kind {
	t.Helper()
	all, err := p.Total()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
