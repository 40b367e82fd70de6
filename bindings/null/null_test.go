package null

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
)

func TestSuite(t *testing.T) {
	bindingtest.Run(t, func(t *testing.T) bindings.Binding { return configured(t, nil) }, bindingtest.Limits{Forgets: true})
}

func TestAStallIsAnsweredAtItsEnd(t *testing.T) {
	// One operation per ms, a stall from 5 s to 6 s: the thousand that start
	// within it take 1000, 999, … 1 ms, the others nothing.
	play(t, bindings.Properties{"stall": "5s:1s"}, every(time.Millisecond, 10_000), func(t *testing.T, i int, got answer) {
		want := time.Duration(0)
		if i >= 5000 && i < 6000 {
			want = millis(6000 - i)
		}
		if got.end-got.start != want || got.err != nil {
			t.Errorf("operation %d took %v (%v), want %v", i, got.end-got.start, got.err, want)
		}
	})
}

func TestAServiceTimeIsKeptToTheNanosecond(t *testing.T) {
	play(t, bindings.Properties{"service": "2500001ns"}, every(time.Millisecond, 1000), func(t *testing.T, i int, got answer) {
		if got.end-got.start != 2500001 || got.err != nil {
			t.Errorf("operation %d took %v (%v)", i, got.end-got.start, got.err)
		}
	})
}

func TestAStallEndsWhatIsInFlight(t *testing.T) {
	ends := map[time.Duration]time.Duration{
		millis(30): millis(80),  // ended before
		millis(50): millis(100), // ends as the stall begins
		millis(51): millis(300), // in flight when it begins
		millis(99): millis(300),
		// Starts within it, and would end behind it: ends with it.
		millis(100): millis(300),
		millis(299): millis(300),
		millis(300): millis(350), // behind it
	}
	var ops []due
	for at := range ends {
		ops = append(ops, due{at: at})
	}
	slices.SortFunc(ops, func(a, b due) int { return int(a.at - b.at) })
	play(t, bindings.Properties{"service": "50ms", "stall": "100ms:200ms"}, ops, func(t *testing.T, i int, got answer) {
		if got.end != ends[got.start] {
			t.Errorf("what started at %v ended at %v, want %v", got.start, got.end, ends[got.start])
		}
	})
}

func TestServiceTimesAreDrawnByNumber(t *testing.T) {
	given := bindings.Properties{"service": "lognormal:5ms,1"}
	l, err := parseLaw(given)
	if err != nil {
		t.Fatal(err)
	}
	overtaken := 0
	var latest time.Duration
	play(t, given, every(millis(1), 2000), func(t *testing.T, i int, got answer) {
		if want := got.start + l.draw(uint64(i)); got.end != want {
			t.Errorf("operation %d ended at %v, want %v", i, got.end, want)
		}
		if got.end < latest {
			overtaken++
		}
		latest = max(latest, got.end)
	})
	if overtaken < 500 {
		t.Errorf("only %d operations ended before an earlier one: ends in falling order were not tried", overtaken)
	}
}

func TestFailuresAreDrawnByNumber(t *testing.T) {
	s := script{failShare: 0.1}
	failed := map[string]int{}
	play(t, bindings.Properties{"fail": "10%"}, every(millis(1), 5000), func(t *testing.T, i int, got answer) {
		if (got.err != nil) != s.fails(uint64(i)) || got.end != got.start {
			t.Errorf("operation %d was answered with %v after %v", i, got.err, got.end-got.start)
		}
		if got.err != nil {
			failed[t.Name()]++
			if got.err != error(errScripted) || bindings.ClassOf(got.err) != bindings.Other {
				t.Fatalf("operation %d failed with %v", i, got.err)
			}
		}
	})
	for form, n := range failed {
		// The share's standard deviation is 21 operations.
		if n < 400 || n > 600 {
			t.Errorf("%s: %d of 5000 operations failed, want about 500", form, n)
		}
	}
	if len(failed) != len(playForms) {
		t.Errorf("failures in %d forms", len(failed))
	}
}

func TestShareOfOneFailsAll(t *testing.T) {
	play(t, bindings.Properties{"fail": "1", "service": "3ms"}, every(millis(1), 500), func(t *testing.T, i int, got answer) {
		if got.err == nil || got.end-got.start != millis(3) {
			t.Errorf("operation %d: %v after %v", i, got.err, got.end-got.start)
		}
	})
}

func TestOperationsAreGivenUpAtTheirDeadline(t *testing.T) {
	ops := []due{
		{at: 0, deadline: millis(100)},          // past its time
		{at: millis(60), deadline: millis(400)}, // in time
		{at: millis(70), deadline: millis(300)}, // the stall's end is in time
		{at: millis(200), deadline: millis(150)},
		{at: millis(210)}, // none
	}
	want := []answer{
		{end: millis(100), err: errGivenUp},
		{end: millis(300)},
		{end: millis(300)},
		{end: millis(200), err: errGivenUp}, // was late already
		{end: millis(300)},
	}
	play(t, bindings.Properties{"stall": "0s:300ms"}, ops, func(t *testing.T, i int, got answer) {
		if got.end != want[i].end || got.err != want[i].err {
			t.Errorf("operation %d: %v at %v, want %v at %v", i, got.err, got.end, want[i].err, want[i].end)
		}
	})
}

func TestScriptsActInPhaseRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newBubbleClock()
		b := configured(t, bindings.Properties{"service": "1s", "fail": "1", "stall": "0s:5s"})
		b.openOn(clock, 4)
		atOnce := func(phase string) {
			t.Helper()
			for form, start := range playForms {
				now := clock.Now()
				got := start(b, clock, []due{{at: now}})[0]
				if got.end != now || got.err != nil {
					t.Errorf("%s, phase %q: %v after %v", form, phase, got.err, got.end-now)
				}
			}
		}
		atOnce("before any")
		for _, phase := range []string{"load", "warmup"} {
			b.PhaseStarts(phase, clock.Now())
			atOnce(phase)
		}
		time.Sleep(time.Minute)
		started := clock.Now()
		b.PhaseStarts(runPhase, started)
		got := playPipeline(b, clock, []due{{at: started + time.Second}})[0]
		if got.err == nil || got.end != started+5*time.Second {
			t.Errorf("phase run: %v at %v, want a failure at the stall's end", got.err, got.end)
		}
		b.PhaseStarts("cooldown", clock.Now())
		atOnce("cooldown")
		b.Close()
	})
}

func TestCancelEndsASessionsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newBubbleClock()
		b := configured(t, bindings.Properties{"service": "1s"})
		b.openOn(clock, 1)
		b.PhaseStarts(runPhase, 0)
		s, _ := b.Session(context.Background())
		ctx, cancel := context.WithTimeout(context.Background(), millis(300))
		defer cancel()
		if err := s.Do(ctx, readOf("a", 0)); bindings.ClassOf(err) != bindings.Timeout || clock.Now() != millis(300) {
			t.Errorf("cancelled: %v at %v", err, clock.Now())
		}
		// The answer to the first must not be taken for that to the second.
		if err := s.Do(context.Background(), readOf("b", 0)); err != nil || clock.Now() != millis(1300) {
			t.Errorf("the next: %v at %v, want 1.3s", err, clock.Now())
		}
		b.Close()
	})
}

func TestCloseAnswersWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newBubbleClock()
		b := configured(t, bindings.Properties{"service": "1h"})
		b.openOn(clock, 100)
		b.PhaseStarts(runPhase, 0)
		r := &recorder{clock: clock, answers: map[*bindings.Op]*answer{}}
		pipeline, _ := b.Pipeline(context.Background(), r)
		issue := func() *answer {
			op, a := readOf("k", 0), &answer{end: -1}
			r.answers[op] = a
			r.all.Add(1)
			pipeline.Issue(op)
			return a
		}
		var inFlight []*answer
		for range 100 {
			inFlight = append(inFlight, issue())
		}
		s, _ := b.Session(context.Background())
		var sessionErr error
		var waiting sync.WaitGroup
		waiting.Go(func() { sessionErr = s.Do(context.Background(), readOf("k", 0)) })
		time.Sleep(time.Second)
		pipeline.Close()
		b.Close()
		waiting.Wait()
		if late := issue(); late.err != error(errClosed) {
			t.Errorf("what is issued after Close is answered with %v", late.err)
		}
		for i, a := range inFlight {
			if a.end != time.Second || a.err != error(errClosed) {
				t.Fatalf("operation %d: %v at %v, want %v at 1s", i, a.err, a.end, errClosed)
			}
		}
		if !errors.Is(sessionErr, errClosed) || clock.Now() != time.Second {
			t.Errorf("the session: %v at %v", sessionErr, clock.Now())
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if r.twice > 0 {
			t.Errorf("%d operations were answered twice", r.twice)
		}
	})
}

func TestAnswersInPlaceAllocateNothing(t *testing.T) {
	for name, given := range map[string]bindings.Properties{
		"plain": nil, "failing": {"fail": "0.5"}, "outside the stall": {"stall": "1h:1s"},
	} {
		b := configured(t, given)
		b.openOn(newBubbleClock(), 1)
		b.PhaseStarts(runPhase, 0)
		answered := 0
		pipeline, _ := b.Pipeline(context.Background(), count{&answered})
		session, _ := b.Session(context.Background())
		op := readOf("user1", time.Hour)
		if n := testing.AllocsPerRun(1000, func() {
			before := answered
			if pipeline.Issue(op); answered != before+1 {
				t.Fatal("not answered in place")
			}
		}); n != 0 {
			t.Errorf("%s: Issue allocates %v times", name, n)
		}
		if n := testing.AllocsPerRun(1000, func() { session.Do(context.Background(), op) }); n != 0 {
			t.Errorf("%s: Do allocates %v times", name, n)
		}
	}
}

type count struct{ n *int }

func (c count) Done(*bindings.Op, error) { *c.n++ }

func TestHeldBackAnswersAllocateNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newBubbleClock()
		b := configured(t, bindings.Properties{"service": "lognormal:5ms,1"})
		b.openOn(clock, 64)
		b.PhaseStarts(runPhase, 0)
		answered := 0
		pipeline, _ := b.Pipeline(context.Background(), count{&answered})
		ops := make([]bindings.Op, 64)
		round := func() {
			for i := range ops {
				pipeline.Issue(&ops[i])
			}
			time.Sleep(longest)
			synctest.Wait()
		}
		for range 100 {
			round()
		}
		before := answered
		if n := testing.AllocsPerRun(100, round); n > 1 {
			t.Errorf("64 operations allocate %v times", n)
		}
		if answered != before+101*64 {
			t.Errorf("%d operations were answered, want %d", answered-before, 101*64)
		}
		pipeline.Close()
		b.Close()
	})
}
