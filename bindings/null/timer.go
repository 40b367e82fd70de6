package null

import (
	"sync"
	"time"

	"pianola/bindings"
)

// timer answers operations at set instants of a clock.
//
// A sleep on the clock can't be cut short. So when an operation comes that is
// to end before every sleep under way, one more goroutine sleeps for it; they
// stay, and are as many as instants ever came in falling order while all of
// them lay ahead: one where service times are constant. Every instant is thus
// slept for by nobody or by one goroutine, to the end.
type timer struct {
	clock bindings.Clock

	mu sync.Mutex
	// due is a heap, the earliest end first.
	due    []pending
	pushed uint64
	// sleeps are the instants that goroutines sleep for, falling.
	sleeps []time.Duration
	// idle is waited on by the goroutines that have nothing to sleep for.
	idle  sync.Cond
	idles int
	// coming says that a goroutine is about to look at due.
	coming bool
	// answering counts answers under way; settled is waited on for none.
	answering int
	settled   sync.Cond
	closed    bool
}

// pending is an operation that waits for its end.
type pending struct {
	end time.Duration
	// number orders equal ends by arrival.
	number uint64
	op     *bindings.Op
	err    error
	sink   bindings.Sink
}

func (p *pending) before(o *pending) bool {
	return p.end < o.end || p.end == o.end && p.number < o.number
}

// newTimer returns a timer with room for a number of operations; more find it.
func newTimer(clock bindings.Clock, room int) *timer {
	t := &timer{clock: clock, due: make([]pending, 0, room)}
	t.idle.L, t.settled.L = &t.mu, &t.mu
	return t
}

// push has sink told at end that op is done.
func (t *timer) push(op *bindings.Op, end time.Duration, err error, sink bindings.Sink) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		sink.Done(op, errClosed)
		return
	}
	t.due = append(t.due, pending{end: end, number: t.pushed, op: op, err: err, sink: sink})
	t.pushed++
	t.rise(len(t.due) - 1)
	if t.unattended() && !t.coming {
		t.coming = true
		if t.idles > 0 {
			t.idle.Signal()
		} else {
			go t.watch()
		}
	}
	t.mu.Unlock()
}

// unattended reports whether the first operation ends before every sleep.
func (t *timer) unattended() bool {
	return len(t.due) > 0 && (len(t.sleeps) == 0 || t.due[0].end < t.sleeps[len(t.sleeps)-1])
}

// watch sleeps for unattended operations and answers them.
func (t *timer) watch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.closed {
		t.coming = false
		if !t.unattended() {
			t.idles++
			t.idle.Wait()
			t.idles--
			continue
		}
		at := t.due[0].end
		t.sleeps = append(t.sleeps, at)
		t.mu.Unlock()
		t.clock.SleepUntil(at)
		t.mu.Lock()
		t.answerDue()
		t.wokeFrom(at)
	}
}

// answerDue answers every operation whose end has come, in the order of the
// ends. The lock is given up during each answer.
func (t *timer) answerDue() {
	now := t.clock.Now()
	for len(t.due) > 0 {
		if t.due[0].end > now {
			if now = t.clock.Now(); t.due[0].end > now {
				return
			}
		}
		first := t.take(0)
		t.answering++
		t.mu.Unlock()
		first.sink.Done(first.op, first.err)
		t.mu.Lock()
		if t.answering--; t.answering == 0 && t.closed {
			t.settled.Broadcast()
		}
	}
}

// wokeFrom strikes one sleep that ended.
func (t *timer) wokeFrom(at time.Duration) {
	for i := len(t.sleeps) - 1; i >= 0; i-- {
		if t.sleeps[i] == at {
			t.sleeps = append(t.sleeps[:i], t.sleeps[i+1:]...)
			return
		}
	}
}

// remove takes op back, and reports whether it was still unanswered.
func (t *timer) remove(op *bindings.Op) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.due {
		if t.due[i].op == op {
			t.take(i)
			return true
		}
	}
	return false
}

// close answers with an error what waits, and returns when no answer is under
// way any more. Goroutines that sleep end when their sleep does.
func (t *timer) close() {
	t.mu.Lock()
	t.closed = true
	t.idle.Broadcast()
	for len(t.due) > 0 {
		first := t.take(0)
		t.mu.Unlock()
		first.sink.Done(first.op, errClosed)
		t.mu.Lock()
	}
	for t.answering > 0 {
		t.settled.Wait()
	}
	t.mu.Unlock()
}

// take removes operation i from the heap.
func (t *timer) take(i int) pending {
	taken, last := t.due[i], len(t.due)-1
	t.due[i] = t.due[last]
	t.due[last] = pending{}
	t.due = t.due[:last]
	if i < last {
		t.sink(i)
		t.rise(i)
	}
	return taken
}

// rise moves operation i of the heap towards the top until it is in order.
func (t *timer) rise(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.due[i].before(&t.due[parent]) {
			return
		}
		t.due[i], t.due[parent] = t.due[parent], t.due[i]
		i = parent
	}
}

// sink moves operation i of the heap away from the top until it is in order.
func (t *timer) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.due) {
			return
		}
		if right := child + 1; right < len(t.due) && t.due[right].before(&t.due[child]) {
			child = right
		}
		if !t.due[child].before(&t.due[i]) {
			return
		}
		t.due[i], t.due[child] = t.due[child], t.due[i]
		i = child
	}
}
