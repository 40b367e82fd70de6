package ignite

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/traces"
)

// speedRecords is the number of records that are read and written.
const speedRecords = 1000

// loop keeps operations in flight: each answer sends the next.
type loop struct {
	pipeline bindings.Pipeline
	kind     traces.Kind
	stop     atomic.Bool
	done     atomic.Uint64
	failed   atomic.Uint64
	left     sync.WaitGroup
	ops      []loopOp
}

type loopOp struct {
	op bindings.Op
	n  int
}

func newLoop(tb testing.TB, b *binding, kind traces.Kind, inFlight int) *loop {
	tb.Helper()
	l := &loop{kind: kind, ops: make([]loopOp, inFlight)}
	var err error
	if l.pipeline, err = b.Pipeline(tb.Context(), l); err != nil {
		tb.Fatal(err)
	}
	for i := range l.ops {
		o := &l.ops[i]
		o.n, o.op.Kind, o.op.Slot = i, kind, i
		if kind.Writes() {
			o.op.Write = whole(kind, 0).Write
		}
	}
	l.left.Add(inFlight)
	for i := range l.ops {
		l.issue(&l.ops[i])
	}
	return l
}

func (l *loop) issue(o *loopOp) {
	o.op.Key = strconv.AppendInt(append(o.op.Key[:0], "user"...), int64(o.n%speedRecords), 10)
	o.n += 7919
	l.pipeline.Issue(&o.op)
}

// Done sends the next operation of a slot.
func (l *loop) Done(op *bindings.Op, err error) {
	if err != nil {
		l.failed.Add(1)
	}
	l.done.Add(1)
	if l.stop.Load() {
		l.left.Done()
		return
	}
	l.issue(&l.ops[op.Slot])
}

func (l *loop) end(tb testing.TB) {
	l.stop.Store(true)
	l.left.Wait()
	if n := l.failed.Load(); n > 0 {
		tb.Errorf("%d operations failed", n)
	}
}

// loaded returns a binding on a table that holds the records.
func loaded(tb testing.TB, address string) *binding {
	tb.Helper()
	b := opened(tb, at(address))
	s, err := b.Session(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	for i := range speedRecords {
		if err := s.Do(tb.Context(), whole(traces.Insert, i)); err != nil {
			tb.Fatal(err)
		}
	}
	return b
}

// testNothingIsAllocated: in steady state a get and a put allocate nothing.
func testNothingIsAllocated(t *testing.T, s *servers.Server) {
	b := loaded(t, s.Address)
	for _, kind := range []traces.Kind{traces.Read, traces.Insert} {
		l := newLoop(t, b, kind, 32)
		var least float64 = 1
		for range 3 {
			var before, after runtime.MemStats
			for from := l.done.Load(); l.done.Load() < from+10000; time.Sleep(time.Millisecond) {
			}
			runtime.ReadMemStats(&before)
			ops := l.done.Load()
			for l.done.Load() < ops+20000 {
				time.Sleep(time.Millisecond)
			}
			runtime.ReadMemStats(&after)
			least = min(least, float64(after.Mallocs-before.Mallocs)/float64(l.done.Load()-ops))
		}
		l.end(t)
		t.Logf("%v: %.4f allocations per operation", kind, least)
		// The pools of the runtime and of the test take some now and then.
		if least > 0.01 {
			t.Errorf("%v allocates %.3f times per operation", kind, least)
		}
	}
}
