//go:build unix

package benchtable

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

var kept [][]byte

func TestCasesTakeTurns(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	var turns, processors []int
	step := func(name int) func() {
		return func() {
			turns, processors = append(turns, name), append(processors, runtime.GOMAXPROCS(0))
		}
	}
	Take(t, []Case{{1, 1, step(0)}, {2, 1, step(1)}})
	for i, name := range turns {
		if name != i%2 || processors[i] != name+1 {
			t.Fatalf("turns %v under %v processors", turns, processors)
		}
	}
	if len(turns) != 2*Rounds {
		t.Errorf("%d turns, want %d", len(turns), 2*Rounds)
	}
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("%d processors are left behind, want %d", after, before)
	}
}

func TestCostsAreOfOneOperation(t *testing.T) {
	const n = 1000
	c := Take(t, []Case{
		{1, n, func() {
			kept = kept[:0]
			for range 3 * n {
				kept = append(kept, make([]byte, 64))
			}
		}},
		{1, n, func() { time.Sleep(10 * time.Millisecond) }},
	})
	if a := c[0].Allocations; a < 3 || a > 4 {
		t.Errorf("%v allocations an operation, want 3", a)
	}
	if c[1].Wall < 10_000 || c[1].CPU >= c[1].Wall {
		t.Errorf("a sleep of 10 µs an operation took %v ns, and %v ns on processors", c[1].Wall, c[1].CPU)
	}
}

func TestMedian(t *testing.T) {
	if m := median(slices.Clone([]float64{9, 1, 5})); m != 5 {
		t.Errorf("median %v, want 5", m)
	}
}
