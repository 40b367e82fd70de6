package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pianola/bindings"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/replaytest"
	"pianola/traces"
	"pianola/traces/payload"
	"pianola/traces/tracetest"
)

// runner returns a runner of a trace on the noting binding.
func runner(t *testing.T, b *replaytest.Binding, h *traces.Header, ops []traces.Op) *replay.Runner {
	t.Helper()
	r, err := traces.Open(tracetest.File(t, h, ops))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return &replay.Runner{Trace: r, Driver: b.Driver(), Binding: b}
}

// runnerOn returns a runner on a driver's binding by its defaults, without a
// trace.
func runnerOn(t *testing.T, driver *bindings.Driver) *replay.Runner {
	t.Helper()
	p, err := driver.Configure(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	binding, err := driver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return &replay.Runner{Driver: driver, Binding: binding, Properties: p}
}

// bubble runs f inside a bubble with a context that ends at the bubble's end.
func bubble(t *testing.T, f func(ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		f(ctx)
	})
}

func total(t *testing.T, p *measure.Phase) measure.Kind {
	t.Helper()
	all, err := p.Total()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestABindingOfOurOwnConfirmsOrderStartsAndResponses(t *testing.T) {
	untilQuiet(t, func() []string { return auditFaults(t) })
}

// auditFaults replays on one slot of a binding that stamps key and clock of
// every call, and compares its notes with the dump and the report.
func auditFaults(t *testing.T) (faults []string) {
	h := tracetest.Header(tracetest.Run(2000))
	ops := tracetest.Reads(0, 4000, 500*time.Microsecond, 1000)
	for i := range ops {
		ops[i].Key = payload.Mix(uint64(i)) % 1000
	}
	b := &replaytest.Binding{Answer: func(_ context.Context, op *bindings.Op) error {
		time.Sleep(time.Duration(op.Key[len(op.Key)-1]-'0') * 20 * time.Microsecond) // 0 to 180 µs, and what the timer adds
		return nil
	}}
	r := runner(t, b, h, ops)
	r.Slots = 1
	res, err := r.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p := &checked(t, res).Phases[0]
	calls := b.Calls()
	if len(calls) != len(ops) {
		t.Fatalf("%d calls for %d ops", len(calls), len(ops))
	}
	keys := dumpedKeys(t, r.Trace.Path())
	response, late := measure.NewHistogram(), measure.NewHistogram()
	for i, c := range calls {
		if c.Key != keys[i] {
			t.Fatalf("call %d is for %s, the dump says %s", i, c.Key, keys[i])
		}
		due := time.Duration(ops[i].Due)
		if c.Start < due {
			t.Fatalf("call %d started %v before it was due", i, due-c.Start)
		}
		response.Record(c.End - due)
		late.Record(c.Start - due)
	}
	k := &p.Kinds[0]
	got, want := k.ResponseQuantile(measure.P99).Value, response.Quantile(measure.P99).Value
	t.Logf("response p99 reported %v, noted %v", got, want)
	if !within(got, want, 0) {
		faults = append(faults, fmt.Sprintf("response p99 reported %v, noted %v: want them equal to 0.1 %%", got, want))
	}
	sum, noted := k.Wait.Mean()+k.Lag.Mean(), late.Mean()
	t.Logf("mean start - due reported %.0f ns, noted %.0f ns", sum, noted)
	if diff := noted - sum; diff < 0 || diff > 20_000 {
		faults = append(faults, fmt.Sprintf("mean start - due noted %.0f ns, reported wait + lag %.0f ns", noted, sum))
	}
	return faults
}

// dumpedKeys returns the keys of a trace as its dump prints them.
func dumpedKeys(t *testing.T, path string) []string {
	t.Helper()
	r, err := traces.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var dump bytes.Buffer
	if err := traces.Dump(&dump, r, false); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for line := range strings.Lines(dump.String()) {
		if !strings.HasPrefix(line, "#") {
			keys = append(keys, strings.Split(line, "\t")[4])
		}
	}
	return keys
}

// logged runs r stepped, with an op log, and returns its lines' columns.
func logged(t *testing.T, r *replay.Runner) (*measure.Result, [][]string) {
	t.Helper()
	var log bytes.Buffer
	r.OpLog = &log
	res := stepped(t, r)
	lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
	if want := "index\tphase\tkind\tdue\tkeyfree\tready\tstart\tend\toutcome"; lines[0] != want {
		t.Fatalf("op log begins with %q", lines[0])
	}
	var out [][]string
	for _, line := range lines[1:] {
		out = append(out, strings.Split(line, "\t"))
	}
	return res, out
}

func TestWaitLagAndServiceSumToResponseOpByOp(t *testing.T) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Records = 50
	b := &replaytest.Binding{Answer: func(_ context.Context, op *bindings.Op) error {
		time.Sleep(3 * time.Millisecond)
		return nil
	}}
	r := runner(t, b, h, append(tracetest.Inserts(50), tracetest.Reads(1, 500, time.Millisecond, 50)...))
	r.Slots = 2 // 3 ms of service at 1000/s: a queue of growing length
	res, lines := logged(t, r)
	if len(lines) != 550 {
		t.Fatalf("%d lines for 550 ops", len(lines))
	}
	var wait, service time.Duration
	for _, c := range lines {
		var due, ready, start, end time.Duration
		for i, to := range map[int]*time.Duration{3: &due, 5: &ready, 6: &start, 7: &end} {
			var ns int64
			if _, err := fmt.Sscan(c[i], &ns); err != nil {
				t.Fatalf("column %d of %v: %v", i, c, err)
			}
			*to = time.Duration(ns)
		}
		if (ready-due)+(start-ready)+(end-start) != end-due || ready < due || start < ready || end < start {
			t.Fatalf("line %v", c)
		}
		if c[1] == "run" {
			wait += ready - due
			service += end - start
		} else if ready != due {
			t.Fatalf("an unpaced op waited: %v", c)
		}
	}
	k := &res.Phases[1].Kinds[0]
	if got := time.Duration(k.Wait.Mean() * 500); !within(got, wait, 500) {
		t.Errorf("waits sum to %v, the log's to %v", got, wait)
	}
	if got := time.Duration(k.Service.Mean() * 500); !within(got, service, 500) {
		t.Errorf("services sum to %v, the log's to %v", got, service)
	}
	if word := res.Phases[1].Verdict.Word; word != measure.Saturated {
		t.Errorf("verdict %q on a database a third too slow", word)
	}
}

func TestFailuresRankAboveEveryCompletedOp(t *testing.T) {
	h, ops := tenSeconds()
	p := &stepped(t, nullRunner(t, h, ops, "fail=0.02")).Phases[0]
	k := &p.Kinds[0]
	if k.Counts.Failed < 100 || k.Counts.Failed > 300 {
		t.Errorf("%d of 10000 failed, want about 200", k.Counts.Failed)
	}
	if q := k.ResponseQuantile(measure.P99); q.Above != "failed" {
		t.Errorf("p99 is %+v, want it to fall among the failed", q)
	}
	if q := k.ResponseQuantile(measure.P95); q.Above != "" {
		t.Errorf("p95 is %+v, want a completed op", q)
	}
	if len(k.Failed) != 1 || k.Failed[0].Class != "other" || k.Failed[0].Response.Count() != k.Counts.Failed {
		t.Errorf("failed classes %+v", k.Failed)
	}
	if len(p.Errors) != 1 || p.Errors[0].Message == "" {
		t.Errorf("messages %+v", p.Errors)
	}
}

func TestUnansweredOpsAreCensoredAndLaterOnesUnsent(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		h := tracetest.Header(tracetest.Run(100))
		ops := tracetest.Reads(0, 1000, 10*time.Millisecond, 1000) // 10 s
		var b replaytest.Pipelined
		r := runner(t, &b.Binding, h, ops)
		if pipelined {
			r.Binding = &b
		}
		r.Slots, r.Deadline = 10, 2*time.Second
		var res *measure.Result
		bubble(t, func(ctx context.Context) {
			hang := make(chan struct{})
			defer close(hang)
			r.Clock = replaytest.NewClock()
			b.Answer = func(context.Context, *bindings.Op) error {
				if r.Clock.Now() > 5*time.Second {
					<-hang // for ever, whatever the deadline
				}
				return nil
			}
			begin := r.Clock.Now()
			var err error
			if res, err = r.Run(ctx); err != nil {
				t.Fatal(err)
			}
			if took := r.Clock.Now() - begin; took > 10*time.Second+2*time.Second+replay.DefaultGrace+time.Second {
				t.Errorf("pipelined %v: the run took %v: longer than its schedule, deadline and grace", pipelined, took)
			}
		})
		p := &checked(t, res).Phases[0]
		c := total(t, p).Counts
		if c.Offered != 1000 || c.Censored != 10 || c.Completed < 495 || c.Completed > 505 || c.Unsent != 1000-c.Completed-10 {
			t.Errorf("pipelined %v: %+v", pipelined, c)
		}
		if res.Stopped == "" {
			t.Errorf("pipelined %v: the result does not say that ops were still in flight", pipelined)
		}
		k := total(t, p)
		if q := k.ResponseQuantile(measure.P99); q.Above != "unsent" {
			t.Errorf("pipelined %v: p99 %+v", pipelined, q)
		}
		if p.Verdict.Word != measure.Saturated {
			t.Errorf("pipelined %v: verdict %q", pipelined, p.Verdict.Word)
		}
	}
}

func TestALoadWhoseSlotsAreAllStuckEnds(t *testing.T) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(10))
	h.Records = 100
	for _, pipelined := range []bool{false, true} {
		var b replaytest.Pipelined
		r := runner(t, &b.Binding, h, append(tracetest.Inserts(100), tracetest.Reads(1, 10, 1, 1)...))
		if pipelined {
			r.Binding = &b
		}
		r.Slots, r.Deadline = 4, 2*time.Second
		bubble(t, func(ctx context.Context) {
			hang := make(chan struct{})
			defer close(hang)
			b.Answer = func(context.Context, *bindings.Op) error { <-hang; return nil }
			r.Clock = replaytest.NewClock()
			res, err := r.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			c := total(t, &checked(t, res).Phases[0]).Counts
			if c.Censored != 4 || c.Offered != 4 || res.Phases[0].NotReached != 96 || len(res.Phases) != 1 || res.Stopped == "" {
				t.Errorf("pipelined %v: %+v, %d not reached, stopped %q", pipelined, c, res.Phases[0].NotReached, res.Stopped)
			}
		})
	}
}

func TestAnswersBehindTheDeadlineFreeTheSlotAndCountAsCensored(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		h := tracetest.Header(tracetest.Run(100))
		var b replaytest.Pipelined
		r := runner(t, &b.Binding, h, tracetest.Reads(0, 1000, 10*time.Millisecond, 1000))
		if pipelined {
			r.Binding = &b
		}
		r.Slots, r.Deadline = 10, 2*time.Second
		var res *measure.Result
		bubble(t, func(ctx context.Context) {
			r.Clock = replaytest.NewClock()
			var start time.Duration
			b.Opened = func(bindings.Config) { start = r.Clock.Now() }
			b.Answer = func(context.Context, *bindings.Op) error {
				if now := r.Clock.Now() - start; now > 5*time.Second && now < 8*time.Second {
					time.Sleep(8*time.Second - now)
				}
				return nil
			}
			var err error
			if res, err = r.Run(ctx); err != nil {
				t.Fatal(err)
			}
		})
		c := total(t, &checked(t, res).Phases[0]).Counts
		// Ten ops are in flight in the stall and answered behind their
		// deadline; those due until about 6 s find no slot within theirs.
		if c.Censored != 10 || c.Unsent < 90 || c.Unsent > 92 || c.Completed != 990-c.Unsent {
			t.Errorf("pipelined %v: %+v", pipelined, c)
		}
		if res.Stopped != "" || res.Partial {
			t.Errorf("pipelined %v: stopped %q, partial %v", pipelined, res.Stopped, res.Partial)
		}
	}
}

func TestMissesAreToldFromLostRecords(t *testing.T) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(10))
	h.Records = 2
	ops := []traces.Op{
		{Kind: traces.Insert, Key: 0},
		{Kind: traces.Insert, Key: 1},                         // fails: its readers are orphans
		{Phase: 1, Kind: traces.Insert, Key: 2, Due: 0},       // takes 150 ms
		{Phase: 1, Kind: traces.Read, Key: 2, Due: 100e6},     // raced
		{Phase: 1, Kind: traces.Read, Key: 2, Due: 200e6},     // lost: failed
		{Phase: 1, Kind: traces.Read, Key: 1, Due: 300e6},     // orphaned
		{Phase: 1, Kind: traces.Read, Key: 77, Due: 400e6},    // expected: nothing ever wrote it
		{Phase: 1, Kind: traces.Update, Key: 0, Due: 500e6},   // lost: failed
		{Phase: 1, Kind: traces.Read, Key: 3, Due: 600e6},     // expected: its insert comes later
		{Phase: 1, Kind: traces.Insert, Key: 3, Due: 700e6},   //
		{Phase: 1, Kind: traces.Delete, Key: 1e15, Due: 71e7}, // expected
	}
	b := &replaytest.Binding{Answer: func(_ context.Context, op *bindings.Op) error {
		switch {
		case op.Kind != traces.Insert:
			return bindings.ErrNotFound
		case string(op.Key) == "user1":
			return errors.New("refused for the test")
		case string(op.Key) == "user2":
			time.Sleep(150 * time.Millisecond)
		}
		return nil
	}}
	r := runner(t, b, h, ops)
	r.AllowErrors, _ = measure.ParseAllowance("1")
	_, lines := logged(t, r)
	got := map[string]string{}
	for _, c := range lines {
		got[c[0]] = c[8]
	}
	for index, want := range map[string]string{
		"0": "ok", "1": "other", "2": "ok", "3": "raced", "4": "not found", "5": "orphaned", "6": "expected", "7": "not found", "8": "expected", "9": "ok", "10": "expected",
	} {
		if got[index] != want {
			t.Errorf("op %s: outcome %q, want %q", index, got[index], want)
		}
	}
}

// Misses of ops that a later DELETE of their key has overtaken are raced; those
// of ops that ended before it are not, nor those on other keys.
func TestMissesBesideALaterDeleteAreRaced(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		h := tracetest.Header(tracetest.Load(), tracetest.Run(10))
		h.Records = 3
		ops := append(tracetest.Inserts(3),
			traces.Op{Phase: 1, Kind: traces.Read, Key: 0, Due: 0},      // 3: ends at 30 ms
			traces.Op{Phase: 1, Kind: traces.Update, Key: 0, Due: 10e6}, // 4: ends at 40 ms
			traces.Op{Phase: 1, Kind: traces.Read, Key: 1, Due: 20e6},   // 5: ends at 50 ms, another key
			traces.Op{Phase: 1, Kind: traces.Delete, Key: 0, Due: 35e6}, // 6
			traces.Op{Phase: 1, Kind: traces.Read, Key: 0, Due: 36e6},   // 7: behind it, so that its record is lost indeed
			traces.Op{Phase: 1, Kind: traces.Read, Key: 2, Due: 80e6},   // 8
			traces.Op{Phase: 1, Kind: traces.Delete, Key: 2, Due: 90e6}, // 9
		)
		b := &replaytest.Pipelined{}
		b.Answer = func(_ context.Context, op *bindings.Op) error {
			if op.Kind == traces.Insert {
				return nil
			}
			time.Sleep(30 * time.Millisecond)
			if op.Kind == traces.Delete {
				return nil
			}
			return bindings.ErrNotFound
		}
		r := runner(t, &b.Binding, h, ops)
		if pipelined {
			r.Binding = b
		}
		_, lines := logged(t, r)
		for _, c := range lines {
			want := map[string]string{"3": "not found", "4": "raced", "5": "not found", "7": "not found", "8": "raced"}[c[0]]
			if want == "" {
				want = "ok"
			}
			if c[8] != want {
				t.Errorf("pipelined %v, op %s: outcome %q, want %q", pipelined, c[0], c[8], want)
			}
		}
	}
}

func TestNothingFollowsAnIncompleteLoad(t *testing.T) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(10))
	h.Records = 20
	b := &replaytest.Binding{Answer: func(_ context.Context, op *bindings.Op) error {
		if string(op.Key) == "user7" {
			return errors.New("refused for the test")
		}
		return nil
	}}
	ops := append(tracetest.Inserts(20), tracetest.Reads(1, 10, time.Millisecond, 20)...)
	res := stepped(t, runner(t, b, h, ops))
	if len(res.Phases) != 1 || !strings.Contains(res.Stopped, "the load is incomplete: 1 failed") {
		t.Errorf("%d phases, stopped %q", len(res.Phases), res.Stopped)
	}
	r := runner(t, b, h, ops)
	r.AllowErrors, _ = measure.ParseAllowance("5%")
	if res = stepped(t, r); len(res.Phases) != 2 || res.Stopped != "" {
		t.Errorf("with 5%% allowed: %d phases, stopped %q", len(res.Phases), res.Stopped)
	}
}

func TestAnInterruptGivesOpsInFlightTheGrace(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		h, ops := tenSeconds()
		var r *replay.Runner
		if pipelined {
			r = nullRunner(t, h, ops, "service=300ms")
		} else {
			b := &replaytest.Binding{Answer: func(context.Context, *bindings.Op) error {
				time.Sleep(300 * time.Millisecond)
				return nil
			}}
			r = runner(t, b, h, ops)
		}
		r.Slots = 500
		var res *measure.Result
		bubble(t, func(ctx context.Context) {
			r.Clock = replaytest.NewClock()
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(4*time.Second, cancel)
			var err error
			if res, err = r.Run(ctx); err != nil {
				t.Fatal(err)
			}
			if at := r.Clock.Now(); at < 4*time.Second || at > 4*time.Second+replay.DefaultGrace {
				t.Errorf("pipelined %v: the run ended at %v", pipelined, at)
			}
		})
		p := &checked(t, res).Phases[0]
		c := total(t, p).Counts
		if !res.Partial || c.Offered != c.Completed || c.Offered < 3990 || c.Offered > 4001 || p.NotReached != 10_000-c.Offered {
			t.Errorf("pipelined %v: partial %v, %+v, %d not reached", pipelined, res.Partial, c, p.NotReached)
		}
		if p.Digest.Status != measure.DigestPartial || p.Digest.Chunks != 0 {
			t.Errorf("pipelined %v: digest %+v of less than a chunk", pipelined, p.Digest)
		}
	}
}

func TestDigestsAreConfirmedFromFilesAndFromStreams(t *testing.T) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(100_000))
	h.Records = 70_000
	ops := append(tracetest.Inserts(70_000), tracetest.Reads(1, 70_000, 10*time.Microsecond, 1000)...)
	data := tracetest.Write(t, h, ops, 30_000)
	for _, phases := range []string{replay.AllPhases, replay.LoadOnly, replay.RunOnly} {
		for _, from := range []string{"file", "stream"} {
			r := nullRunner(t, h, ops)
			if from == "stream" {
				var err error
				if r.Trace, err = traces.NewReader(bytes.NewReader(data), "stream"); err != nil {
					t.Fatal(err)
				}
			}
			r.Phases = phases
			res := stepped(t, r)
			for _, p := range res.Phases {
				if p.Digest.Status != measure.DigestConfirmed || p.Digest.Chunks != 2 || p.Digest.Of != 2 {
					t.Errorf("%s, phases %s: phase %s: %+v", from, phases, p.Name, p.Digest)
				}
			}
			if want := phases == replay.AllPhases; res.Trace.Confirmed != want || len(res.Trace.Digest) != 64 {
				t.Errorf("%s, phases %s: trace %+v", from, phases, res.Trace)
			}
		}
	}
}

func TestATraceThatBreaksInMidRunVoidsTheResult(t *testing.T) {
	h := tracetest.Header(tracetest.Run(100_000))
	data := tracetest.Write(t, h, tracetest.Reads(0, 200_000, 10*time.Microsecond, 1000), traces.BlockOps)
	broken := bytes.Clone(data)
	broken[len(broken)/2] ^= 1
	for name, data := range map[string][]byte{"flipped": broken, "cut": data[:len(data)*2/3]} {
		r := nullRunner(t, h, tracetest.Reads(0, 1, 1, 1))
		var err error
		if r.Trace, err = traces.NewReader(bytes.NewReader(data), "stream"); err != nil {
			t.Fatal(err)
		}
		bubble(t, func(ctx context.Context) {
			r.Clock = replaytest.NewClock()
			res, err := r.Run(ctx)
			if !errors.Is(err, traces.ErrCorrupt) {
				t.Errorf("%s: error %v", name, err)
			}
			if res == nil || res.Void == "" || len(checked(t, res).Phases) != 1 || total(t, &res.Phases[0]).Counts.Completed == 0 {
				t.Errorf("%s: result %+v", name, res)
			}
		})
	}
}

func TestAClosedLoopHidesAStall(t *testing.T) {
	h, ops := tenSeconds()
	for _, pipelined := range []bool{false, true} {
		var r *replay.Runner
		if pipelined {
			r = nullRunner(t, h, ops, "service=800us", "stall=5s:1s")
		} else {
			var once sync.Once
			r = runner(t, &replaytest.Binding{Answer: func(_ context.Context, op *bindings.Op) error {
				time.Sleep(800 * time.Microsecond)
				if string(op.Key) == "user500" {
					once.Do(func() { time.Sleep(time.Second) })
				}
				return nil
			}}, h, ops)
		}
		r.Slots, r.Asap = 1, true
		res := stepped(t, r)
		p := &res.Phases[0]
		k := &p.Kinds[0]
		if p99 := k.ResponseQuantile(measure.P99).Value; p99 >= time.Millisecond || p99 < 800*time.Microsecond {
			t.Errorf("pipelined %v: response p99 of the closed loop %v, want 0.8 ms: below 1 ms in spite of the stall", pipelined, p99)
		}
		if k.Response.Max() < time.Second || k.Wait.Max() != 0 || p.Paced || !res.Settings.Asap {
			t.Errorf("pipelined %v: max %v, wait %v, paced %v", pipelined, k.Response.Max(), k.Wait.Max(), p.Paced)
		}
	}
}

func TestSpeedScalesDueTimesExactly(t *testing.T) {
	h := tracetest.Header(tracetest.Run(1000))
	b := &replaytest.Binding{}
	r := runner(t, b, h, tracetest.Reads(0, 100, time.Millisecond, 10))
	var err error
	if r.SpeedNumerator, r.SpeedDenominator, err = replay.SpeedForRate("3000", h); err != nil {
		t.Fatal(err)
	}
	res := stepped(t, r)
	for i, c := range b.Calls() {
		if want := time.Duration(i) * time.Millisecond / 3; c.Start != want {
			t.Fatalf("op %d started at %v, want %v", i, c.Start, want)
		}
	}
	if p := res.Phases[0]; p.Rate != 3000 || p.Digest.Status != measure.DigestConfirmed {
		t.Errorf("rate %v, digest %+v", p.Rate, p.Digest)
	}
}

func TestValuesCarryTheirVersions(t *testing.T) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Records = 3
	ops := append(tracetest.Inserts(3),
		traces.Op{Phase: 1, Kind: traces.Read, Key: 1},
		traces.Op{Phase: 1, Kind: traces.Update, Key: 1, Due: 1e6, Written: traces.OneField(4)},
		traces.Op{Phase: 1, Kind: traces.Insert, Key: 3, Due: 2e6})
	for _, phases := range []string{replay.AllPhases, replay.RunOnly} {
		b := &replaytest.Binding{}
		r := runner(t, b, h, ops)
		r.Phases = phases
		stepped(t, r)
		want := map[string]uint64{"user0": 0, "user2": 0, "user1": 2, "user3": 3}
		for _, c := range b.Calls() {
			for _, f := range c.Write {
				if c.Kind == traces.Insert && c.Key == "user1" {
					continue
				}
				if v, ok := payload.Version(f.Value); !ok || v != want[c.Key] {
					t.Errorf("phases %s: %v %s wrote version %d, want %d", phases, c.Kind, c.Key, v, want[c.Key])
				}
			}
			if c.Kind == traces.Update && (len(c.Write) != 1 || c.Write[0].Name != "field4") {
				t.Errorf("update wrote %v", c.Write)
			}
			if c.Kind == traces.Insert && len(c.Write) != 10 {
				t.Errorf("insert wrote %d fields", len(c.Write))
			}
		}
	}
}

func TestSlotsAreTakenLongestFreeFirst(t *testing.T) {
	b := &replaytest.Binding{}
	r := runner(t, b, tracetest.Header(tracetest.Run(1000)), tracetest.Reads(0, 100, time.Millisecond, 10))
	r.Slots = 7
	stepped(t, r)
	for i, c := range b.Calls() {
		if c.Slot != i%7 {
			t.Fatalf("op %d ran on slot %d, want %d", i, c.Slot, i%7)
		}
	}
}

func TestWhatADatabaseCantDoIsRefusedByName(t *testing.T) {
	h := tracetest.Header(tracetest.Run(1000))
	h.Phases[0].Mix = []traces.Share{{Kind: traces.Scan, Share: "1"}}
	b := &replaytest.Binding{}
	r := runner(t, b, h, []traces.Op{{Kind: traces.Scan, ScanLength: 1}})
	r.Driver.Kinds = []traces.Kind{traces.Read}
	if _, err := r.Run(context.Background()); !errors.Is(err, replay.ErrRefused) || !strings.Contains(err.Error(), "SCAN") {
		t.Errorf("error %v", err)
	}
	r.Phases = replay.LoadOnly
	if _, err := r.Run(context.Background()); !errors.Is(err, replay.ErrRefused) || !strings.Contains(err.Error(), "--phase load") {
		t.Errorf("error %v", err)
	}
}

func TestAResponseOfHoursStaysCompletedAndExact(t *testing.T) {
	h := tracetest.Header(tracetest.Run(1))
	r := nullRunner(t, h, tracetest.Reads(0, 10, time.Second, 10), "stall=5s:2h")
	r.Deadline = 3 * time.Hour
	p := &stepped(t, r).Phases[0]
	k := &p.Kinds[0]
	if k.Counts.Completed != 10 || k.Response.Max() != 2*time.Hour {
		t.Errorf("%+v, max %v", k.Counts, k.Response.Max())
	}
}

func TestOverloadPoliciesDecideWhatFindsNoSlotWhenItIsDue(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		for _, policy := range []replay.Overload{replay.DropOverload, replay.AbortOverload} {
			h := tracetest.Header(tracetest.Run(1000))
			var b replaytest.Pipelined
			r := runner(t, &b.Binding, h, tracetest.Reads(0, 1000, time.Millisecond, 10))
			if pipelined {
				r.Binding = &b
			}
			// Two slots at 4 ms and 1000 op/s: half of the ops find none.
			r.Slots, r.Overload = 2, policy
			b.Answer = func(context.Context, *bindings.Op) error {
				time.Sleep(3900 * time.Microsecond)
				return nil
			}
			res := stepped(t, r)
			c := total(t, &res.Phases[0]).Counts
			k := total(t, &res.Phases[0])
			if policy == replay.DropOverload {
				if c.Completed != 500 || c.Dropped != 500 || c.Offered != 1000 || k.Wait.Max() != 0 {
					t.Errorf("pipelined %v: %+v, wait %v", pipelined, c, k.Wait.Max())
				}
				if q := k.ResponseQuantile(measure.P99); q.Above != "dropped" {
					t.Errorf("pipelined %v: p99 %+v", pipelined, q)
				}
				if res.Stopped != "" || res.Phases[0].Verdict.Word != measure.SlotsFull {
					t.Errorf("pipelined %v: stopped %q, verdict %q", pipelined, res.Stopped, res.Phases[0].Verdict.Word)
				}
			} else if c.Completed != 2 || c.Dropped != 1 || !strings.Contains(res.Stopped, "--overload abort: no slot was free for op 2") || res.Partial {
				t.Errorf("pipelined %v: %+v, stopped %q, partial %v", pipelined, c, res.Stopped, res.Partial)
			}
		}
	}
}

func TestProgressTellsOfTheLastInterval(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		h, ops := tenSeconds()
		var b replaytest.Pipelined
		b.Answer = func(context.Context, *bindings.Op) error {
			time.Sleep(20 * time.Millisecond)
			return nil
		}
		r := runner(t, &b.Binding, h, ops)
		if pipelined {
			r.Binding = &b
		}
		r.Slots = 100
		bubble(t, func(ctx context.Context) {
			r.Clock = replaytest.NewClock()
			progress := make(chan replay.Progress, 1)
			time.AfterFunc(3505*time.Millisecond, func() { at, _ := r.Progress(); progress <- at })
			if _, err := r.Run(ctx); err != nil {
				t.Fatal(err)
			}
			at := <-progress
			l := at.Live
			if at.Phase != "run" || at.Ops != 10_000 || at.Counts.Offered != 3501 && at.Counts.Offered != 3500 || at.Counts.Offered-at.Counts.Completed != l.InFlight {
				t.Errorf("pipelined %v: %+v", pipelined, at)
			}
			if !l.Paced || l.InFlight < 19 || l.InFlight > 21 || l.Window != time.Second || l.Completed != 1000 || !within(l.P99.Value, 20*time.Millisecond, 200*time.Microsecond) || l.WaitP99 != 0 || l.LagP99 != 0 {
				t.Errorf("pipelined %v: %+v", pipelined, l)
			}
		})
	}
}

// stalling is a stream that gives its bytes and then nothing, for ever.
type stalling struct {
	r     *bytes.Reader
	stall chan struct{}
}

func (s *stalling) Read(p []byte) (int, error) {
	if n, err := s.r.Read(p); err == nil {
		return n, nil
	}
	<-s.stall
	return 0, errors.New("stalled for ever")
}

func TestAnInterruptEndsARunWhoseStreamStalls(t *testing.T) {
	h := tracetest.Header(tracetest.Run(1000))
	data := tracetest.Write(t, h, tracetest.Reads(0, 4000, time.Millisecond, 100), 1000)
	for _, pipelined := range []bool{false, true} {
		var b replaytest.Pipelined
		r := runner(t, &b.Binding, h, tracetest.Reads(0, 1, 1, 1))
		if pipelined {
			r.Binding = &b
		}
		bubble(t, func(ctx context.Context) {
			stall := make(chan struct{})
			defer close(stall)
			var err error
			if r.Trace, err = traces.NewReader(&stalling{bytes.NewReader(data[:len(data)/2]), stall}, "stream"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(10*time.Second, cancel)
			r.Clock = replaytest.NewClock()
			res, err := r.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if c := total(t, &checked(t, res).Phases[0]).Counts; !res.Partial || c.Completed != c.Offered || c.Completed == 0 || c.Completed == 4000 {
				t.Errorf("pipelined %v: partial %v, %+v", pipelined, res.Partial, c)
			}
		})
	}
}

func TestALoadWithDroppedInsertsIsIncomplete(t *testing.T) {
	load := tracetest.Load()
	load.Paced, load.Rate = true, traces.Rate{Numerator: 1000, Denominator: 1}
	h := tracetest.Header(load, tracetest.Run(10))
	h.Records = 20
	ops := tracetest.Inserts(20)
	for i := range ops {
		ops[i].Due = uint64(i) * uint64(time.Millisecond)
	}
	b := &replaytest.Binding{Answer: func(context.Context, *bindings.Op) error {
		time.Sleep(1900 * time.Microsecond)
		return nil
	}}
	r := runner(t, b, h, append(ops, tracetest.Reads(1, 10, time.Millisecond, 20)...))
	r.Slots, r.Overload = 1, replay.DropOverload
	res := stepped(t, r)
	if len(res.Phases) != 1 || !strings.Contains(res.Stopped, "10 dropped") {
		t.Errorf("%d phases, stopped %q", len(res.Phases), res.Stopped)
	}
}

func TestASpeedTooFineForTheTickIsFoundBeforeTheRun(t *testing.T) {
	h := tracetest.Header(tracetest.Run(1000))
	h.Tick = time.Microsecond
	for _, c := range []struct {
		num, den uint64
		ok       bool
	}{{0, 0, true}, {1, 1 << 54, true}, {1, 1 << 55, false}, {1<<64 - 1, 1, true}, {0, 1, false}} {
		if err := replay.CheckSpeed(c.num, c.den, h); (err == nil) != c.ok {
			t.Errorf("speed %d/%d: %v", c.num, c.den, err)
		}
	}
}
