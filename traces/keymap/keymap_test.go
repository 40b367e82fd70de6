package keymap

import (
	"math"
	"testing"
)

// TestMapsStay holds the maps that traces are read by; those of a scramble were
// computed by another implementation. They may never change.
func TestMapsStay(t *testing.T) {
	s, err := NewScramble(1000, [Rounds]uint64{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[uint64]uint64{0: 589, 1: 7, 2: 948, 500: 798, 999: 327} {
		if got := s.Map(x); got != want {
			t.Errorf("the scramble takes %d to %d, not to %d", x, got, want)
		}
	}
	f, err := NewFold(1001)
	if err != nil {
		t.Fatal(err)
	}
	// As YCSB 0.17.0 makes them.
	for rank, want := range []uint64{144, 610, 213, 679, 10, 545, 942, 476, 436, 902, 505, 971} {
		if got := f.Key(uint64(rank)); got != want {
			t.Errorf("rank %d folds to %d, not to %d", rank, got, want)
		}
	}
}

func TestScrambleIsBijection(t *testing.T) {
	for n := uint64(1); n <= 2000; n += 1 + n/10 {
		s, err := NewScramble(n, [Rounds]uint64{n, 5, 7 * n, math.MaxUint64})
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]bool, n)
		for x := range n {
			y := s.Map(x)
			if y >= n || seen[y] || s.Inverse(y) != x {
				t.Fatalf("%d numbers: %d goes to %d, which goes back to %d", n, x, y, s.Inverse(y))
			}
			seen[y] = true
		}
	}
}

func TestMapsRefuse(t *testing.T) {
	for _, n := range []uint64{0, MaxItems + 1, math.MaxUint64} {
		if _, err := NewScramble(n, [Rounds]uint64{}); err == nil {
			t.Errorf("a scramble of %d numbers is taken", n)
		}
	}
	if _, err := NewFold(0); err == nil {
		t.Error("a modulus of 0 is taken")
	}
}
