package traces

import (
	"math/rand/v2"
	"testing"
)

func TestVisibleInsertsAreThoseOlderThanTheDelay(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, delay := range []uint64{1, 2, 63, 64, 65, 1000, 70_000, visibilityMax} {
		v := newVisibility(delay)
		var kinds []Kind
		for range 60 {
			first := uint64(len(kinds))
			want := uint64(0)
			for i, k := range kinds {
				if k == Insert && uint64(i)+delay < first {
					want++
				}
			}
			if got := v.at(first); got != want {
				t.Fatalf("delay %d: op %d sees %d inserts, want %d", delay, first, got, want)
			}
			block := make([]Kind, 1+r.IntN([]int{3, 70, 9000}[r.IntN(3)]))
			for i := range block {
				block[i] = []Kind{Read, Insert}[r.IntN(2)]
			}
			v.add(first, block)
			kinds = append(kinds, block...)
		}
	}
}
