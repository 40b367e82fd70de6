package cassandra

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/replay"
	"pianola/replay/outagetest"
	"pianola/traces"
	"pianola/traces/tracetest"
)

func testPause(t *testing.T, s *servers.Server) {
	outagetest.Pause(t, outagetest.Outage{Driver: &Driver, Properties: at(s.Address, nil), Server: s, Slots: 256, Rate: 100})
}

// testFull: requests that were given up keep their places until they are
// answered, and what is too many is refused as such, not as unavailable.
func testFull(t *testing.T, s *servers.Server) {
	const limit = 8
	p := at(s.Address, bindings.Properties{"cassandra.coreconnections": "1", "cassandra.inflight": fmt.Sprint(limit)})
	if err := configured(t, p).Open(t.Context(), testConfig()); err == nil || !strings.Contains(err.Error(), "16 slots") {
		t.Errorf("more slots than requests: %v", err)
	}
	b := configured(t, p)
	config := testConfig()
	config.Slots = limit
	if err := b.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if err := b.CreateSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	session := newTestSession(t, b)
	s.Pause()
	defer s.Resume()
	for i := range limit {
		op := whole(traces.Insert, i)
		op.Deadline = config.Clock.Now() + 20*time.Millisecond
		if err := session.Do(t.Context(), op); bindings.ClassOf(err) != bindings.Timeout {
			t.Fatalf("operation %d on a paused server: %v", i, err)
		}
	}
	for range 3 {
		if err := session.Do(t.Context(), whole(traces.Insert, 9)); bindings.ClassOf(err) != bindings.Overloaded {
			t.Errorf("with %d unanswered: %v", limit, err)
		}
	}
	if got := factOf(t, b, "requests unanswered") + ", " + factOf(t, b, "refused as too many"); got != "8, 3" {
		t.Errorf("unanswered and refused: %s", got)
	}
	s.Resume()
	for b.streams.open.Load() > 0 {
		if t.Context().Err() != nil {
			t.Fatal("they are never answered")
		}
		time.Sleep(time.Millisecond)
	}
	if err := session.Do(t.Context(), whole(traces.Insert, 9)); err != nil {
		t.Errorf("with none unanswered: %v", err)
	}
}

// testNothingSpins: on a dead server, a slot gets few operations done, each
// unavailable, and goes on once the server is back.
func testNothingSpins(t *testing.T, s *servers.Server) {
	b := opened(t, at(s.Address, nil))
	session := newTestSession(t, b)
	if err := session.Do(t.Context(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	for b.held.Load() == 0 {
		if err := session.Do(t.Context(), whole(traces.Read, 1)); bindings.ClassOf(err) != bindings.Unavailable {
			t.Fatalf("on a dead server: %v, which is %v", err, bindings.ClassOf(err))
		}
	}
	began := time.Now()
	const n = 12
	for range n {
		if err := session.Do(t.Context(), whole(traces.Read, 1)); bindings.ClassOf(err) != bindings.Unavailable {
			t.Errorf("on a dead server: %v", err)
		}
	}
	// 2 + 4 + ... + 64 ms, and 100 ms for each of the rest.
	if took := time.Since(began); took < 600*time.Millisecond {
		t.Errorf("%d operations on a dead server took %v: it spins", n, took)
	}
	op := whole(traces.Read, 1)
	op.Deadline = b.config.Clock.Now() + time.Millisecond
	if err := session.Do(t.Context(), op); bindings.ClassOf(err) != bindings.Unavailable && bindings.ClassOf(err) != bindings.Timeout {
		t.Errorf("with a deadline: %v", err)
	}
	restarting := time.Now()
	s.Restart()
	t.Logf("the server took %v to restart", time.Since(restarting))
	for {
		// A record that was written last may be lost: the server tells its log to
		// the disk later.
		err := session.Do(t.Context(), whole(traces.Insert, 1))
		if err == nil {
			break
		}
		if bindings.ClassOf(err) != bindings.Unavailable {
			t.Fatalf("on a server that is back: %v", err)
		}
	}
	t.Logf("%v after the kill it goes on", time.Since(restarting))
	if session.pauses != 0 {
		t.Errorf("%d pauses are remembered", session.pauses)
	}
}

// testKill kills the server in mid-run and starts it again, which takes as long
// as the machine is busy; the run is interrupted a while later. Every operation
// is accounted for, and those that were due once the server was back are
// completed.
func testKill(t *testing.T, s *servers.Server) {
	const (
		records = 200
		gap     = 5 * time.Millisecond
		// The run goes on behind the restart; connections may take until half of
		// it, and what is due at its very end may be cut off.
		behind = 4 * time.Second
	)
	h := tracetest.Header(tracetest.Load(), tracetest.Run(uint64(time.Second/gap)))
	h.Records = records
	ops := append(tracetest.Inserts(records), tracetest.Reads(1, int(5*time.Minute/gap), gap, records)...)
	for i := range ops {
		if ops[i].Kind == traces.Read {
			ops[i].Kind = traces.Update
		}
	}
	trace, err := traces.Open(tracetest.File(t, h, ops))
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	var log bytes.Buffer
	r := &replay.Runner{Trace: trace, Driver: &Driver, Binding: configured(t, at(s.Address, nil)), Slots: 64, Deadline: 2 * time.Second, OpLog: &log}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var back time.Duration
	killed := make(chan struct{})
	elapsed := func() time.Duration {
		p, ok := r.Progress()
		if !ok || p.Phase != "run" {
			return 0
		}
		return p.Elapsed
	}
	go func() {
		defer close(killed)
		defer cancel()
		for elapsed() < time.Second {
			if ctx.Err() != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
		s.Kill()
		s.Restart()
		back = elapsed()
		time.Sleep(behind)
	}()
	result, err := r.Run(ctx)
	cancel()
	<-killed
	if err != nil || back == 0 || len(result.Phases) != 2 {
		t.Fatalf("%v: %d phases, the server was back at %v", err, len(result.Phases), back)
	}
	p := &result.Phases[1]
	all, err := p.Total()
	if err != nil {
		t.Fatal(err)
	}
	c := all.Counts
	t.Logf("back at %v; %+v, %d not reached", back, c, p.NotReached)
	if c.Decided() != c.Offered || c.Offered+p.NotReached != p.Ops {
		t.Errorf("%+v, %d not reached: %d ops of %d are accounted for", c, p.NotReached, c.Decided(), p.Ops)
	}
	if c.Failed == 0 {
		t.Errorf("%+v: a killed server has cost nothing", c)
	}
	for _, e := range p.Errors {
		if e.Class != "unavailable" && e.Class != "timeout" {
			t.Errorf("%s: %s", e.Class, e.Message)
		}
	}
	late, completed := 0, 0
	for line := range strings.Lines(log.String()) {
		column := strings.Split(strings.TrimSpace(line), "\t")
		due, err := strconv.ParseInt(column[3], 10, 64)
		if err == nil && column[1] == "run" && time.Duration(due) > back+behind/2 && time.Duration(due) < back+behind*3/4 {
			late++
			if column[8] == "ok" {
				completed++
			}
		}
	}
	if late < int(behind/4/gap)-1 || completed < late {
		t.Errorf("%d of %d operations were completed once the server was back: the run does not go on", completed, late)
	}
}
