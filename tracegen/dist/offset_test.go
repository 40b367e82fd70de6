package dist

import (
	"testing"

	"pianola/tracegen/random"
)

// TestOffsetIsSplit compares the two on words at random and at the edges, with
// the slope that a span stands for.
func TestOffsetIsSplit(t *testing.T) {
	src := random.NewStream(1, "offsets").At(0)
	sures := 0
	for range 200_000 {
		shift := src.Below(58)
		slope := src.Uint64() >> (4 + src.Below(16)) &^ 63
		if shift == 0 {
			slope = 0
		}
		word := src.Uint64()
		switch src.Below(4) {
		case 0: // a fraction near 1
			word |= 1<<(64-shift) - 1
		case 1: // at the edge of being sure
			word = word&^(1<<(64-shift)-1) | (1<<(64-shift)-1)&^((slope>>shift)+src.Below(3)-1)
		}
		wantOffset, _, want := split(word, shift, slope|shift)
		offset, sure := offsetIn(word, slope|shift)
		if offset != wantOffset || sure != want {
			t.Fatalf("offset %d, sure %v of word %x, shift %d and slope %x, want %d, %v", offset, sure, word, shift, slope, wantOffset, want)
		}
		if sure {
			sures++
		}
	}
	if sures < 50_000 || sures > 190_000 {
		t.Errorf("sure of %d words: the test has little to compare", sures)
	}
}
