package arrival

import (
	"math"
	"testing"
)

// TestSearch looks for limits in ranges that an int of 32 bits can't count, too.
func TestSearch(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 1000, 1<<32 + 1, math.MaxUint64} {
		for _, limit := range []uint64{0, 1, n / 3, n - n/3, n} {
			limit = min(limit, n)
			got := search(n, func(i uint64) bool {
				if i >= n {
					t.Fatalf("asks for %d of %d", i, n)
				}
				return i >= limit
			})
			if got != limit {
				t.Errorf("finds %d of %d, want %d", got, n, limit)
			}
		}
	}
}
