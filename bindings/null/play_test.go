package null

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pianola/bindings"
	"pianola/traces"
)

// configured returns a binding with the given properties over the defaults.
func configured(t *testing.T, given bindings.Properties) *binding {
	t.Helper()
	p, err := Driver.Configure(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Driver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return b.(*binding)
}

// bubbleClock is the clock of a synctest bubble.
type bubbleClock struct{ start time.Time }

func (c *bubbleClock) Now() time.Duration          { return time.Since(c.start) }
func (c *bubbleClock) SleepUntil(at time.Duration) { time.Sleep(at - c.Now()) }
func newBubbleClock() *bubbleClock                 { return &bubbleClock{time.Now()} }
func (b *binding) openOn(clock bindings.Clock, n int) {
	b.Open(context.Background(), bindings.Config{Clock: clock, Slots: n})
}
func millis(n int) time.Duration { return time.Duration(n) * time.Millisecond }
func readOf(key string, deadline time.Duration) *bindings.Op {
	return &bindings.Op{Kind: traces.Read, Key: []byte(key), Deadline: deadline}
}

// answer is what became of an operation.
type answer struct {
	start, end time.Duration
	err        error
}

// due is an operation to be started at an instant.
type due struct {
	at, deadline time.Duration
}

// playForms is run for both forms of the binding: it starts the operations at
// their instants and returns the answers in the same order.
var playForms = map[string]func(b *binding, clock bindings.Clock, ops []due) []answer{
	"pipeline": playPipeline,
	"sessions": playSessions,
}

type recorder struct {
	clock   bindings.Clock
	mu      sync.Mutex
	answers map[*bindings.Op]*answer
	twice   int
	all     sync.WaitGroup
}

func (r *recorder) Done(op *bindings.Op, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.answers[op]
	if a.end >= 0 {
		r.twice++
		return
	}
	a.end, a.err = r.clock.Now(), err
	r.all.Done()
}

func playPipeline(b *binding, clock bindings.Clock, ops []due) []answer {
	r := &recorder{clock: clock, answers: map[*bindings.Op]*answer{}}
	pipeline, _ := b.Pipeline(context.Background(), r)
	answers := make([]answer, len(ops))
	for i, d := range ops {
		clock.SleepUntil(d.at)
		op := readOf(fmt.Sprint(i), d.deadline)
		answers[i] = answer{start: clock.Now(), end: -1}
		r.mu.Lock()
		r.answers[op] = &answers[i]
		r.mu.Unlock()
		r.all.Add(1)
		pipeline.Issue(op)
	}
	r.all.Wait()
	pipeline.Close()
	if r.twice > 0 {
		panic(fmt.Sprintf("%d operations were answered twice", r.twice))
	}
	return answers
}

func playSessions(b *binding, clock bindings.Clock, ops []due) []answer {
	answers := make([]answer, len(ops))
	var idle []bindings.Session
	var mu sync.Mutex
	var all sync.WaitGroup
	for i, d := range ops {
		clock.SleepUntil(d.at)
		synctest.Wait()
		mu.Lock()
		var s bindings.Session
		if n := len(idle); n > 0 {
			s, idle = idle[n-1], idle[:n-1]
		} else {
			s, _ = b.Session(context.Background())
		}
		mu.Unlock()
		all.Go(func() {
			start := clock.Now()
			err := s.Do(context.Background(), readOf(fmt.Sprint(i), d.deadline))
			answers[i] = answer{start, clock.Now(), err}
			mu.Lock()
			idle = append(idle, s)
			mu.Unlock()
		})
	}
	all.Wait()
	for _, s := range idle {
		s.Close()
	}
	return answers
}

// play starts operations in phase run of a database with the given script, in
// both forms, and checks what each is answered with and when.
func play(t *testing.T, given bindings.Properties, ops []due, check func(t *testing.T, i int, got answer)) {
	t.Helper()
	for form, start := range playForms {
		t.Run(form, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := newBubbleClock()
				b := configured(t, given)
				b.openOn(clock, len(ops))
				b.PhaseStarts(runPhase, 0)
				for i, got := range start(b, clock, ops) {
					if got.start != ops[i].at {
						t.Fatalf("operation %d was started at %v, not at %v", i, got.start, ops[i].at)
					}
					check(t, i, got)
				}
				b.Close()
			})
		})
	}
}

func every(gap time.Duration, n int) []due {
	ops := make([]due, n)
	for i := range ops {
		ops[i].at = time.Duration(i) * gap
	}
	return ops
}
