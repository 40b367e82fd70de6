package null

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"pianola/bindings"
)

// log takes answers with their instants.
type log struct {
	clock bindings.Clock
	ops   []*bindings.Op
	at    []time.Duration
}

func (l *log) Done(op *bindings.Op, _ error) {
	l.ops, l.at = append(l.ops, op), append(l.at, l.clock.Now())
}

func TestEndsInFallingOrderAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newBubbleClock()
		l := &log{clock: clock}
		tm := newTimer(clock, 0)
		// Each comes while all earlier ones are slept for, and ends before them.
		const n = 50
		for i := range n {
			tm.push(readOf("", 0), millis(1000-10*i), nil, l)
			time.Sleep(millis(1))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(l.at) != n {
			t.Fatalf("%d of %d were answered", len(l.at), n)
		}
		for i, at := range l.at {
			if want := millis(1000 - 10*(n-1-i)); at != want {
				t.Errorf("answer %d came at %v, want %v", i, at, want)
			}
		}
		tm.close()
	})
}

func TestRandomEndsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newBubbleClock()
		l := &log{clock: clock}
		tm := newTimer(clock, 0)
		random := rand.New(rand.NewPCG(1, 2))
		ends := map[*bindings.Op]time.Duration{}
		number := map[*bindings.Op]int{}
		const n = 3000
		for i := range n {
			op := readOf("", 0)
			// Few distinct instants, so that many are equal.
			ends[op] = clock.Now() + time.Millisecond*time.Duration(1+random.IntN(40))
			number[op] = i
			tm.push(op, ends[op], nil, l)
			if random.IntN(3) == 0 {
				time.Sleep(time.Millisecond * time.Duration(random.IntN(5)))
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(l.ops) != n {
			t.Fatalf("%d of %d were answered", len(l.ops), n)
		}
		for i, op := range l.ops {
			if l.at[i] != ends[op] {
				t.Errorf("answer %d came at %v, want %v", i, l.at[i], ends[op])
			}
			if i > 0 && l.at[i] == l.at[i-1] && number[op] < number[l.ops[i-1]] {
				t.Errorf("answer %d overtook an earlier one with the same end", i)
			}
		}
		tm.close()
	})
}

func TestOneGoroutineServesRisingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newBubbleClock()
		l := &log{clock: clock}
		tm := newTimer(clock, 0)
		for i := range 1000 {
			// Bursts too: many come before the goroutine first runs.
			for range 21 - i%2*20 {
				tm.push(readOf("", 0), clock.Now()+millis(100), nil, l)
			}
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		tm.mu.Lock()
		if n := tm.idles + len(tm.sleeps); n != 1 {
			t.Errorf("%d goroutines, want 1", n)
		}
		tm.mu.Unlock()
		tm.close()
		// The bubble demands that no goroutine is left then.
		time.Sleep(time.Second)
	})
}

// TestRemovalKeepsTheOrder takes operations out of the middle of the heap, at
// random: whatever takes their place may belong nearer to the top or further.
func TestRemovalKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newBubbleClock()
		random := rand.New(rand.NewPCG(5, 6))
		for range 200 {
			l := &log{clock: clock}
			tm := newTimer(clock, 0)
			start := clock.Now()
			ends := map[*bindings.Op]time.Duration{}
			for range 40 {
				op := readOf("", 0)
				ends[op] = start + millis(1+random.IntN(1000))
				tm.push(op, ends[op], nil, l)
			}
			for op := range ends {
				if len(ends) > 15 {
					tm.remove(op)
					delete(ends, op)
				}
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if len(l.ops) != len(ends) {
				t.Fatalf("%d were answered, want %d", len(l.ops), len(ends))
			}
			for i, op := range l.ops {
				if l.at[i] != ends[op] {
					t.Errorf("an answer came at %v, want %v", l.at[i]-start, ends[op]-start)
				}
			}
			tm.close()
		}
	})
}

func TestRemoveTakesAnOperationBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newBubbleClock()
		l := &log{clock: clock}
		tm := newTimer(clock, 0)
		var ops []*bindings.Op
		for i := range 20 {
			op := readOf("", 0)
			ops = append(ops, op)
			tm.push(op, millis(100+(i*7)%20), nil, l)
		}
		for i := 0; i < len(ops); i += 2 {
			if !tm.remove(ops[i]) {
				t.Errorf("operation %d is not there", i)
			}
			if tm.remove(ops[i]) {
				t.Errorf("operation %d is there twice", i)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(l.ops) != 10 {
			t.Errorf("%d were answered, want 10", len(l.ops))
		}
		for i := 1; i < len(l.at); i++ {
			if l.at[i] < l.at[i-1] {
				t.Errorf("answers are out of order at %d: %v after %v", i, l.at[i], l.at[i-1])
			}
		}
		if tm.remove(ops[1]) {
			t.Error("an answered operation could be taken back")
		}
		tm.close()
	})
}
