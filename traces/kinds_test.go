package traces

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Kinds are counted and packed eight at a time; here one at a time.
func TestKindsAreCountedAndPackedOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := r.IntN(5000)
		from, limit := 1+r.IntN(int(KindLimit)-1), int(KindLimit)
		if r.IntN(3) == 0 {
			from, limit = 0, 256>>r.IntN(7) // unknown ones too, or 0 alone of them
		} else if r.IntN(2) == 0 {
			limit = min(from+2, limit)
		}
		kinds := make([]Kind, n)
		var want [KindLimit]int
		for i := range kinds {
			kinds[i] = Kind(from + r.IntN(limit-from))
			if kinds[i] < KindLimit {
				want[kinds[i]]++
			} else {
				want[0]++
			}
		}
		counts := kindCounts(kinds)
		if counts != want {
			t.Fatalf("%d kinds of %d to %d: counted %v, want %v", n, from, limit-1, counts, want)
		}
		if counts[0] > 0 || n == 0 {
			continue
		}
		var c kindColumn
		c.encode(kinds, &counts)
		width := int(indexBits(len(c.table)))
		for i, k := range kinds {
			index := 0
			if width > 0 {
				index = int(c.indexes[i*width/8]>>(i*width%8)) & (1<<width - 1)
			}
			if Kind(c.table[index]) != k {
				t.Fatalf("op %d of %d is a %v, packed as %v", i, n, k, Kind(c.table[index]))
			}
		}
		got := make([]Kind, n)
		if again, err := c.decode(got); err != nil || again != counts || !slices.Equal(got, kinds) {
			t.Fatalf("%d kinds of %d to %d came back otherwise: %v", n, from, limit-1, err)
		}
	}
}
