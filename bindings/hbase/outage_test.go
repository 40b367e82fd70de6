package hbase

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/outagetest"
	"pianola/traces"
	"pianola/traces/tracetest"
)

func testPause(t *testing.T, s *servers.Server) {
	wipe(t, at(s, nil))
	outagetest.Pause(t, outagetest.Outage{Driver: &Driver, Properties: at(s, nil), Server: s, Slots: 1024})
}

// run is a phase of UPDATEs, 200 in a second, for as long as something else
// takes.
type run struct {
	properties bindings.Properties
	table      string // "" for the usual one
	deadline   time.Duration
	// outage happens a second after the start, behind it the run goes on.
	outage func()
	behind time.Duration
}

// outcome is what became of it.
type outcome struct {
	phase *measure.Phase
	all   measure.Kind
	facts map[string]string
	// began and ended bound the outage, in the phase.
	began, ended time.Duration
	log          string
}

const (
	runRecords = 200
	runGap     = 5 * time.Millisecond
)

func (r *run) do(t *testing.T) outcome {
	t.Helper()
	h := tracetest.Header(tracetest.Load(), tracetest.Run(uint64(time.Second/runGap)))
	h.Records = runRecords
	h.Table = cmp.Or(r.table, h.Table)
	ops := append(tracetest.Inserts(runRecords), tracetest.Reads(1, int(10*time.Minute/runGap), runGap, runRecords)...)
	for i := range ops {
		if ops[i].Kind == traces.Read && i%2 == 0 {
			ops[i].Kind = traces.Update
		}
	}
	trace, err := traces.Open(tracetest.File(t, h, ops))
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	var log bytes.Buffer
	runner := &replay.Runner{
		Trace: trace, Driver: &Driver, Binding: configured(t, r.properties), Properties: r.properties, Slots: slots, Deadline: r.deadline, OpLog: &log,
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	elapsed := func() time.Duration {
		p, ok := runner.Progress()
		if !ok || p.Phase != "run" {
			return 0
		}
		return p.Elapsed
	}
	var out outcome
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer cancel()
		for elapsed() < time.Second {
			if ctx.Err() != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
		out.began = elapsed()
		r.outage()
		out.ended = elapsed()
		time.Sleep(r.behind)
	}()
	result, err := runner.Run(ctx)
	cancel()
	<-over
	if err != nil {
		t.Fatal(err)
	}
	if out.ended == 0 || len(result.Phases) != 2 {
		t.Fatalf("%d phases, the outage ended at %v", len(result.Phases), out.ended)
	}
	out.phase, out.log, out.facts = &result.Phases[1], log.String(), map[string]string{}
	for _, f := range result.Database.Facts {
		out.facts[f.Name] = f.Value
	}
	if out.all, err = out.phase.Total(); err != nil {
		t.Fatal(err)
	}
	c := out.all.Counts
	t.Logf("outage from %v to %v; %+v, %d not reached; response max %v", out.began, out.ended, c, out.phase.NotReached, out.all.ResponseQuantile(measure.Max))
	for _, e := range out.phase.Errors {
		t.Logf("%s: %s", e.Class, e.Message)
	}
	if c.Decided() != c.Offered || c.Offered+out.phase.NotReached != out.phase.Ops {
		t.Errorf("%+v, %d not reached: %d ops of %d are accounted for", c, out.phase.NotReached, c.Decided(), out.phase.Ops)
	}
	return out
}

// mustGoOn demands that what was due in the middle of the time behind the
// outage was completed.
func (o *outcome) mustGoOn(t *testing.T, behind time.Duration) {
	t.Helper()
	late, completed := 0, 0
	for line := range strings.Lines(o.log) {
		column := strings.Split(strings.TrimSpace(line), "\t")
		due, err := strconv.ParseInt(column[3], 10, 64)
		if err == nil && column[1] == "run" && time.Duration(due) > o.ended+behind/2 && time.Duration(due) < o.ended+behind*3/4 {
			late++
			if column[8] == "ok" {
				completed++
			}
		}
	}
	if late < int(behind/4/runGap)-1 || completed < late {
		t.Errorf("%d of %d operations were completed once all was well: the run does not go on", completed, late)
	}
}

// testSplit splits regions in mid-run. No operation fails: each finds its
// region again, and its time shows that.
func testSplit(t *testing.T, s *servers.Server) {
	properties := at(s, bindings.Properties{"hbase.autosplit": "true", "hbase.splits": "3"})
	config := testConfig()
	config.Header.Table = "split"
	config.Header.Keys, config.Header.Records = tracetest.Header().Keys, runRecords
	b := openedFor(t, config, properties)
	t.Cleanup(func() {
		if err := b.cluster.Drop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	before := regionsNow(t, b)
	r := run{properties: properties, table: "split", deadline: 10 * time.Second, behind: 2 * time.Second, outage: func() {
		for _, n := range []uint64{50, 150} {
			key := config.Header.Keys.Append(nil, n)
			if err := b.cluster.SplitRegion(t.Context(), key, key); err != nil {
				t.Error(err)
			}
		}
	}}
	out := r.do(t)
	out.mustGoOn(t, r.behind)
	if c := out.all.Counts; c.Completed != c.Offered {
		t.Errorf("%+v: a split has cost operations", c)
	}
	if after := regionsNow(t, b); after != before+2 {
		t.Errorf("%d regions became %d", before, after)
	}
	if out.facts["regions found elsewhere"] == "0" || out.facts["regions looked up"] == "0" {
		t.Errorf("it isn't counted: %v", out.facts)
	}
}

func regionsNow(t *testing.T, b *binding) int {
	t.Helper()
	if err := b.cluster.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b.cluster.Regions()
}

// testKill kills the server in mid-run and starts it again. Every operation is
// accounted for, those behind the restart are completed, and everything that was
// acknowledged is found again: what is written has left the server's process
// when it is answered.
func testKill(t *testing.T, s *servers.Server) {
	wipe(t, at(s, nil))
	b := opened(t, at(s, nil))
	var writers sync.WaitGroup
	var acknowledged [8]int
	write := func() {
		for w := range acknowledged {
			session := newTestSession(t, b)
			writers.Go(func() {
				for {
					op := acknowledgedWrite(w, acknowledged[w])
					if err := session.Do(t.Context(), op); err != nil {
						if class := bindings.ClassOf(err); class != bindings.Unavailable {
							t.Errorf("a write of a killed server: %v", err)
						}
						return
					}
					acknowledged[w]++
				}
			})
		}
	}
	r := run{properties: at(s, nil), deadline: 2 * time.Second, behind: 6 * time.Second, outage: func() {
		write()
		time.Sleep(time.Second)
		s.Kill()
		writers.Wait()
		s.Restart()
		awaitPace(t, b)
	}}
	out := r.do(t)
	if out.all.Counts.Failed == 0 {
		t.Errorf("%+v: a killed server has cost nothing", out.all.Counts)
	}
	for _, e := range out.phase.Errors {
		if e.Class != "unavailable" && e.Class != "timeout" {
			t.Errorf("%s: %s", e.Class, e.Message)
		}
	}
	out.mustGoOn(t, r.behind)
	checkAcknowledged(t, b, acknowledged[:])
}

// awaitPace returns once all records of a run are read as fast as the run asks:
// regions open one after the other, and a fresh server is slow.
func awaitPace(t *testing.T, b *binding) {
	session := newTestSession(t, b)
	h := tracetest.Header()
	for well := false; !well && t.Context().Err() == nil; {
		began := time.Now()
		well = true
		for n := range uint64(runRecords) {
			if session.Do(t.Context(), &bindings.Op{Kind: traces.Read, Table: h.Table, Key: h.Keys.Append(nil, n)}) != nil {
				well = false
				break
			}
		}
		well = well && time.Since(began) < runRecords*runGap/2
	}
}

// acknowledgedWrite returns the i-th write of a writer. Those of different ones
// are in different regions.
func acknowledgedWrite(writer, i int) *bindings.Op {
	return whole(traces.Insert, (writer+1)*1_000_000+i)
}

func checkAcknowledged(t *testing.T, b *binding, acknowledged []int) {
	t.Helper()
	session := newTestSession(t, b)
	total := 0
	for w, n := range acknowledged {
		total += n
		for i := range n {
			want := acknowledgedWrite(w, i)
			got := &fieldsRead{}
			err := errors.New("not asked")
			// Regions may still be opening.
			for attempt := 0; attempt < 100 && err != nil && bindings.ClassOf(err) != bindings.NotFound; attempt++ {
				*got = fieldsRead{}
				err = session.Do(t.Context(), &bindings.Op{Kind: traces.Read, Table: "usertable", Key: want.Key, Rows: got})
			}
			if err != nil || len(got.values) != len(want.Write) || got.values["field7"] != string(want.Write[7].Value) {
				t.Fatalf("%q was acknowledged and is lost: %v, %d fields", want.Key, err, len(got.values))
			}
		}
	}
	if t.Logf("%d acknowledged writes are found again", total); total < 100 {
		t.Errorf("only %d writes were acknowledged", total)
	}
}

// fieldsRead holds the fields of a record.
type fieldsRead struct{ values map[string]string }

func (f *fieldsRead) Row([]byte) { f.values = map[string]string{} }
func (f *fieldsRead) Field(name string, value []byte) {
	f.values[name] = string(value)
}

// testNothingSpins: on a dead server an operation takes a while to fail.
func testNothingSpins(t *testing.T, s *servers.Server) {
	b := opened(t, at(s, nil))
	session := newTestSession(t, b)
	if err := session.Do(t.Context(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	for b.held.Load() == 0 {
		if err := session.Do(t.Context(), whole(traces.Read, 1)); bindings.ClassOf(err) != bindings.Unavailable {
			t.Fatalf("on a dead server: %v", err)
		}
	}
	began := time.Now()
	const n = 5
	for range n {
		if err := session.Do(t.Context(), whole(traces.Read, 1)); bindings.ClassOf(err) != bindings.Unavailable {
			t.Errorf("on a dead server: %v", err)
		}
	}
	if took := time.Since(began); took < n*holdBack {
		t.Errorf("%d operations on a dead server took %v: it spins", n, took)
	}
	op := whole(traces.Read, 1)
	op.Deadline = b.clock.Now() + time.Millisecond
	if err := session.Do(t.Context(), op); bindings.ClassOf(err) != bindings.Unavailable && bindings.ClassOf(err) != bindings.Timeout {
		t.Errorf("with a deadline: %v", err)
	}
}
