package report

import (
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/replay/measure"
)

const (
	µs = time.Microsecond
	ms = time.Millisecond
)

// newResult returns what all results of these tests have in common, around the
// given phases, each judged.
func newResult(phases ...measure.Phase) *measure.Result {
	r := &measure.Result{
		Schema:  measure.SchemaVersion,
		Tool:    "1.2.3",
		Started: time.Date(2026, 3, 4, 5, 6, 7, 800_000_000, time.UTC),
		Trace: measure.Trace{
			Path: "a.trace.zst", FormatVersion: 0, ToolVersion: "1.2.3", Generator: "streams 1", Spec: "recordcount=1000\nworkload=core\n", Seed: 1,
			Table: "usertable", Records: 1000, FieldCount: 10, FieldLength: "100",
			Digest: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", Confirmed: true,
		},
		Database: measure.Database{
			Name: "redis", Chosen: true, Place: "remote",
			Properties: []bindings.Fact{{Name: "redis.host", Value: "db1.example"}, {Name: "redis.port", Value: "6379"}},
			Facts:      []bindings.Fact{{Name: "version", Value: "7.0.15"}, {Name: "appendonly", Value: "no"}},
		},
		Labels:  map[string]string{"team": "storage", "change": "1234"},
		Machine: measure.Machine{OS: "linux", Arch: "amd64", CPUs: 8, Model: "AMD EPYC 9575F", Kernel: "6.12.0", ClockSource: "tsc", Go: "go1.26.0"},
		Settings: measure.Settings{
			Phase: "all", Slots: 1024, SpeedNumerator: 1, SpeedDenominator: 1, Overload: "queue", Order: "none",
			Deadline: 10 * time.Second, Grace: time.Second, AllowErrors: "0", Executor: "pipelined",
			Pacer: measure.Pacer{Method: "clock_nanosleep", Margin: 150 * µs, Budget: 1, TimerSlack: 1, Scheduling: "SCHED_OTHER, nice 0"},
		},
		Phases: phases,
	}
	for i := range r.Phases {
		settle(&r.Phases[i])
	}
	judge(r)
	return r
}

func judge(r *measure.Result) {
	for i := range r.Phases {
		r.Phases[i].Verdict = measure.Judge(&r.Phases[i], measure.JudgeInput{Place: bindings.Remote, Slots: r.Settings.Slots})
	}
}

// pacedPhase returns phase run of so many seconds at 1000 op/s, still empty.
func pacedPhase(seconds int) measure.Phase {
	length := time.Duration(seconds) * time.Second
	return measure.Phase{
		Name: "run", Paced: true, Margin: 150 * µs, KeyLaw: "zipfian, YCSB's formula over 10000000001 items folded by FNV-64", Arrivals: "constant", Rate: 1000,
		Start: 2 * time.Second, Schedule: length - ms, Length: length, Ops: uint64(seconds) * 1000,
		Digest:    measure.Digest{Status: measure.DigestConfirmed, Chunks: 1, Of: 1},
		Intervals: []measure.Interval{},
		Backlog:   measure.Backlog{Half: 1, End: 1, Max: 3, DueSecondHalf: uint64(seconds) * 500},
		Health: measure.Health{
			RunQueue: 1200 * µs, RunQueueAll: 3 * ms, SchedulerP99: 4 * µs, SchedulerMax: 90 * µs, CPUBusy: []float64{0.25, 0.5, 0.01, 1, 0, 0, 0, 0.33}, CPUUser: 1800 * ms, CPUSystem: 700 * ms,
			Gaps: 1234, GapSum: 45 * ms, GapP99: 38 * µs, GapMax: 240 * µs, Spun: length / 4,
		},
	}
}

// usual returns the fate of op i of a workload of reads and updates that a
// healthy database serves in a third of a millisecond and more.
func usual(i int) fate {
	f := fate{kind: "READ", lag: time.Duration(100 + i*37%900), service: 300*µs + time.Duration(i*7919%1000)*200}
	if i%2 == 1 {
		f.kind, f.service = "UPDATE", f.service+150*µs
	}
	if i%500 == 499 {
		f.service += 3 * ms
	}
	return f
}

func healthy() *measure.Result {
	p := pacedPhase(10)
	for i := range 10_000 {
		record(&p, usual(i))
	}
	return newResult(p)
}

// stalled is healthy but for a stall of 1 s from 4 s on.
func stalled() *measure.Result {
	p := pacedPhase(10)
	for i := range 10_000 {
		f := usual(i)
		if i >= 4000 && i < 5000 {
			f.service = time.Duration(5000-i) * ms
		}
		record(&p, f)
	}
	p.Backlog.Max = 1000
	return newResult(p)
}

// failing loses one op in fifty to errors.
func failing() *measure.Result {
	p := pacedPhase(10)
	for i := range 10_000 {
		f := usual(i)
		switch {
		case i%100 == 7:
			f.outcome, f.class, f.service = "failed", bindings.Timeout, 20*ms
		case i%100 == 58:
			f.outcome, f.class, f.service = "failed", bindings.Overloaded, 90*µs
		case i%1000 == 30:
			f.outcome = "expected"
		}
		record(&p, f)
	}
	p.Errors = []measure.Error{
		{Kind: "READ", Class: "overloaded", Message: "OOM command not allowed when used memory > 'maxmemory'.\r\n\x1b[31m"},
		{Kind: "UPDATE", Class: "timeout", Message: "read tcp 10.0.0.1:40000->10.0.0.2:6379: i/o timeout"},
	}
	return newResult(p)
}

// saturated offers 1000 op/s to a database that serves 64 ops in 80 ms, and to
// a client that waits for every answer: ops that have no slot within the
// deadline of a second are never sent.
func saturated() *measure.Result {
	const slots, service, deadline = 64, 80 * ms, time.Second
	p := pacedPhase(10)
	var free [slots]time.Duration
	next, half, end := 0, uint64(0), uint64(0)
	for i := range 10_000 {
		due := time.Duration(i) * ms
		ready := max(due, free[next]) // all ops take the same time, so slots come free in turn
		f := fate{kind: "READ", wait: ready - due, lag: 2 * µs, service: service}
		decided := ready + f.lag + f.service
		switch {
		case f.wait >= deadline:
			f.outcome, decided = "unsent", due+deadline
		case decided > due+deadline:
			f.outcome = "censored"
			fallthrough
		default:
			free[next] = decided
			next = (next + 1) % slots
		}
		decided = min(decided, due+deadline)
		recordAt(&p, f, due, decided)
		if due <= p.Schedule/2 && decided > p.Schedule/2 {
			half++
		}
		if decided > p.Schedule {
			end++
		}
	}
	p.Length = p.Schedule + deadline
	p.Backlog = measure.Backlog{Half: half, End: end, Max: max(half, end), DueSecondHalf: 5000}
	r := newResult(p)
	r.Settings.Slots, r.Settings.Deadline = slots, deadline
	judge(r)
	return r
}

// closedLoop is a load and a run without due times.
func closedLoop() *measure.Result {
	load := measure.Phase{
		Name: "load", KeyLaw: "every record once, in the order of key numbers", Length: 400 * ms, Ops: 1000,
		Digest: measure.Digest{Status: measure.DigestConfirmed, Chunks: 1, Of: 1}, Intervals: []measure.Interval{},
	}
	for i := range 1000 {
		record(&load, fate{kind: "INSERT", lag: time.Duration(200 + i%50), service: 390*µs + time.Duration(i%10)*µs})
	}
	run := pacedPhase(10)
	run.Paced, run.Rate, run.Schedule, run.Backlog, run.Length = false, 0, 0, measure.Backlog{}, 4*time.Second
	for i := range 10_000 {
		record(&run, usual(i))
	}
	r := newResult(load, run)
	r.Settings.Asap, r.Settings.Slots = true, 64
	r.Database = measure.Database{Name: "pebble", Place: "embedded", Properties: []bindings.Fact{{Name: "pebble.sync", Value: "false"}}}
	return r
}

// interrupted ended after 3 of 10 s.
func interrupted() *measure.Result {
	p := pacedPhase(10)
	p.NotReached, p.Length = 7000, 3*time.Second
	for i := range 3000 {
		f := usual(i)
		if i > 2995 {
			f.outcome = "censored"
		}
		record(&p, f)
	}
	p.Digest = measure.Digest{Status: measure.DigestPartial, Chunks: 0, Of: 1}
	r := newResult(p)
	r.Partial, r.Trace.Confirmed, r.Trace.Digest = true, false, ""
	return r
}

func empty() *measure.Result {
	p := pacedPhase(0)
	p.Length, p.Schedule, p.Rate, p.Health = 0, 0, 0, measure.Health{}
	p.Backlog = measure.Backlog{}
	return newResult(p)
}

func single() *measure.Result {
	p := pacedPhase(0)
	p.Schedule, p.Length, p.Ops, p.Backlog = 0, 460*µs, 1, measure.Backlog{Max: 1}
	p.Health = measure.Health{CPUUser: 120 * µs, CPUSystem: 30 * µs}
	record(&p, fate{kind: "READMODIFYWRITE", lag: 900, service: 459_100})
	return newResult(p)
}

// broken is a result in which everything went wrong, of many kinds.
func broken() *measure.Result {
	p := pacedPhase(1)
	for i := range 1000 {
		f := fate{kind: []string{"READ", "UPDATE", "INSERT", "SCAN", "READMODIFYWRITE", "DELETE"}[i%6], lag: 40 * ms, service: 123_456 * µs}
		f.outcome = []string{"", "failed", "censored", "dropped", "unsent"}[i%5]
		if i%6 == 5 {
			f.outcome, f.class = "failed", bindings.Unavailable
		}
		if i%6 < 5 {
			f.class = bindings.Class(1 + i%int(bindings.ClassLimit-1))
		}
		record(&p, f)
	}
	p.Digest.Status = measure.DigestMismatch
	p.Errors = []measure.Error{{Kind: "DELETE", Class: "unavailable", Message: "dial tcp: connection refused" + strings.Repeat(" again", 100)},
		{Kind: "READ", Class: "ok", Message: "late"}}
	r := newResult(p)
	r.Void = "the trace broke at byte 4711: unexpected EOF"
	r.Stopped = "phase warmup: 3 ops failed, 0 are allowed"
	r.Trace.Confirmed = false
	r.Settings.SpeedNumerator, r.Settings.SpeedDenominator = 3, 2
	return r
}

// ramp took 1 µs, 2 µs … 100000 µs, in service as in response.
func ramp() *measure.Result {
	p := pacedPhase(100)
	for i := range 100_000 {
		record(&p, fate{kind: "READ", service: time.Duration(i+1) * µs})
	}
	return newResult(p)
}

// results are those that have golden files.
func results() map[string]*measure.Result {
	return map[string]*measure.Result{
		"healthy": healthy(), "stalled": stalled(), "failing": failing(), "saturated": saturated(), "asap": closedLoop(),
		"interrupted": interrupted(), "empty": empty(), "single": single(), "broken": broken(),
	}
}

func TestCountsOfTheseResultsAddUp(t *testing.T) {
	for name, r := range results() {
		for i := range r.Phases {
			all, err := r.Phases[i].Total()
			if err != nil {
				t.Fatal(err)
			}
			if c := all.Counts; c.Offered != c.Completed+c.Failed+c.Censored+c.Dropped+c.Unsent {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}
