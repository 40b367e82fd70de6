package traces

import (
	"bytes"
	"errors"
	"math"
	"testing"

	tracev1 "pianola/proto/trace/v1"
)

func TestKeyNumbersStayInTheirBounds(t *testing.T) {
	h, blocks := smallTrace()
	for name, change := range map[string]func(b *tracev1.Block){
		"a key beyond 2^63 - 1":     func(b *tracev1.Block) { b.KeyTokens[0], b.KeyBits = tokenMax, bytes.Repeat([]byte{0xff}, 9) },
		"a token that isn't one":    func(b *tracev1.Block) { b.KeyTokens[0] = tokenMax + 1 },
		"a key too few":             func(b *tracev1.Block) { b.KeyTokens = b.KeyTokens[1:] },
		"a key too many":            func(b *tracev1.Block) { b.KeyTokens = append(b.KeyTokens, 0) },
		"open bits too few":         func(b *tracev1.Block) { b.KeyBits = b.KeyBits[1:] },
		"open bits too many":        func(b *tracev1.Block) { b.KeyBits = append(b.KeyBits, 0) },
		"bits behind the open ones": func(b *tracev1.Block) { b.KeyBits[0] |= 0x80 },
		"inserts beyond 2^63 - 1":   func(b *tracev1.Block) { b.InsertBase = keyMax - BlockOps + 1 },
		"inserts far beyond":        func(b *tracev1.Block) { b.InsertBase = math.MaxUint64 },
		"more inserts than numbers": func(b *tracev1.Block) { b.InsertBase = keyMax },
	} {
		msg := blockMessage(t, encodeField(t, h, blocks[3]))
		change(msg)
		_, err := decodeField(h, marshal(t, &tracev1.Trace{Block: []*tracev1.Block{msg}}))
		if inv := (*invariantError)(nil); !errors.As(err, &inv) || inv.number != invKeys {
			t.Errorf("%s: error %v, want invariant %d", name, err, invKeys)
		}
	}
	b := &Block{Kinds: []Kind{Insert}, InsertBase: keyMax - BlockOps + 1, Keys: []uint64{keyMax - BlockOps + 1}}
	if _, _, err := checkBlock(b, h); err == nil {
		t.Error("a Writer takes inserts that a Reader refuses")
	}
}

func TestDueTimesStayInTheirBounds(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(f *forgery, b *tracev1.Block)
		invariant int
	}{
		{"no due times in a paced phase", func(_ *forgery, b *tracev1.Block) { b.GapTokens, b.GapBits = nil, nil }, invDue},
		{"a gap too few", func(_ *forgery, b *tracev1.Block) { b.GapTokens = b.GapTokens[:3] }, invDue},
		{"a gap too many", func(_ *forgery, b *tracev1.Block) { b.GapTokens = append(b.GapTokens, 1) }, invDue},
		{"a token that isn't one", func(_ *forgery, b *tracev1.Block) { b.GapTokens[1] = 0xff }, invDue},
		{"open bits too few", func(_ *forgery, b *tracev1.Block) { b.GapBits = b.GapBits[1:] }, invDue},
		{"a sum beyond 2^62", func(_ *forgery, b *tracev1.Block) {
			b.StartTick, b.GapTokens, b.GapBits = 1<<62, []byte{0, 0, 0, 1}, nil
		}, invDue},
		{"gaps and constant ones", func(_ *forgery, b *tracev1.Block) { b.ConstantGaps = true }, invDue},
		{"constant gaps that the rate does not give", func(_ *forgery, b *tracev1.Block) {
			b.ConstantGaps, b.GapTokens, b.GapBits = true, nil, nil
		}, invDue},
		{"a start beyond 2^62", func(_ *forgery, b *tracev1.Block) { b.StartTick = 1<<62 + 1 }, invDue},
		{"a due time beyond 2^62 ns", func(f *forgery, b *tracev1.Block) { f.header.TickNs, b.StartTick = 1e6, 1<<62/1_000_000+1 }, invDue},
		{"a start before the last block's end", func(_ *forgery, b *tracev1.Block) { b.StartTick = 998 }, invDue},
		{"paced ops of an unpaced phase", func(f *forgery, _ *tracev1.Block) {
			f.header.Phases[1].Paced, f.header.Phases[1].RateNumerator, f.header.Phases[1].RateDenominator = false, 0, 0
		}, invDue},
	} {
		f := forged(t)
		block := blockMessage(t, f.blocks[3])
		c.change(f, block)
		f.blocks[3] = marshal(t, &tracev1.Trace{Block: []*tracev1.Block{block}})
		for way, err := range readBothWays(f.file(t)) {
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) {
				t.Errorf("%s, %s: error %v", c.name, way, err)
				continue
			}
			// Where the header changed, the file's footer tells at once.
			if corrupt.Invariant != c.invariant && !(way != "stream" && corrupt.Invariant == invDigest) {
				t.Errorf("%s, %s: error %v, want invariant %d", c.name, way, err, c.invariant)
			}
		}
	}
}
