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
		"a key beyond 2^63 - 1":    func(b *tracev1.Block) { b.KeyBase = math.MaxInt64 },
		"a base beyond 2^63 - 1":   func(b *tracev1.Block) { b.KeyBase = 1 << 63 },
		"keys that wrap around":    func(b *tracev1.Block) { b.KeyBase, b.KeyWidth, b.Keys = 1, 8, bytes.Repeat([]byte{0xff}, 32) },
		"keys of 9 bytes":          func(b *tracev1.Block) { b.KeyWidth, b.Keys = 9, make([]byte, 36) },
		"keys of 2^32 - 1 bytes":   func(b *tracev1.Block) { b.KeyWidth = math.MaxUint32 },
		"a key too few":            func(b *tracev1.Block) { b.Keys = b.Keys[2:] },
		"a key too many":           func(b *tracev1.Block) { b.Keys = append(b.Keys, 0, 0) },
		"a base not the least":     func(b *tracev1.Block) { b.KeyBase, b.Keys = 0, []byte{1, 0, 44, 1, 5, 0, 1, 0} },
		"a width not the least":    func(b *tracev1.Block) { b.KeyWidth, b.Keys = 3, []byte{0, 0, 0, 44, 1, 0, 5, 0, 0, 1, 0, 0} },
		"inserts beyond 2^63 - 1":  func(b *tracev1.Block) { b.InsertBase = keyMax - BlockOps + 1 },
		"inserts far beyond":       func(b *tracev1.Block) { b.InsertBase = math.MaxUint64 },
		"a base where nothing is":  func(b *tracev1.Block) { b.Kinds, b.Keys, b.KeyWidth, b.KeyBase = bytes.Repeat([]byte{3}, 5), nil, 0, 7 },
		"a width where nothing is": func(b *tracev1.Block) { b.Kinds, b.Keys, b.KeyWidth, b.KeyBase = bytes.Repeat([]byte{3}, 5), nil, 1, 0 },
		"a base of only one key": func(b *tracev1.Block) {
			b.Kinds, b.Keys, b.KeyWidth, b.KeyBase = []byte{3, 3, 3, 3, 6}, []byte{1}, 1, 7
		},
		"more inserts than numbers": func(b *tracev1.Block) { b.InsertBase = keyMax },
	} {
		b := blocks[3]
		b.Keys[0] = 0
		var c blockCodec
		msg := blockMessage(t, c.encode(b, true))
		change(msg)
		var into Block
		err := c.decode(marshal(t, &tracev1.Trace{Block: []*tracev1.Block{msg}}), h, &into)
		if inv := (*invariantError)(nil); !errors.As(err, &inv) || inv.number != invKeys {
			t.Errorf("%s: error %v, want invariant %d", name, err, invKeys)
		}
	}
	b := &Block{Kinds: []Kind{Insert}, InsertBase: keyMax - BlockOps + 1, Keys: []uint64{keyMax - BlockOps + 1}}
	if err := checkBlock(b, h); err == nil {
		t.Error("a Writer takes inserts that a Reader refuses")
	}
}

func TestDueTimesStayInTheirBounds(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(f *forgery, b *tracev1.Block)
		invariant int
	}{
		{"no due times in a paced phase", func(_ *forgery, b *tracev1.Block) { b.Gaps = nil }, invDue},
		{"a gap too few", func(_ *forgery, b *tracev1.Block) { b.Gaps = b.Gaps[:3] }, invDue},
		{"a gap too many", func(_ *forgery, b *tracev1.Block) { b.Gaps = append(b.Gaps, 1) }, invDue},
		{"an open gap", func(_ *forgery, b *tracev1.Block) { b.Gaps = []byte{1, 1, 1, 0x80} }, invDue},
		{"an overlong gap", func(_ *forgery, b *tracev1.Block) { b.Gaps = []byte{1, 1, 1, 0x81, 0} }, invDue},
		{"a gap beyond 64 bits", func(_ *forgery, b *tracev1.Block) {
			b.Gaps = append([]byte{1, 1, 1}, bytes.Repeat([]byte{0xff}, 10)...)
		}, invDue},
		{"a sum beyond 2^62", func(_ *forgery, b *tracev1.Block) {
			b.StartTick, b.Gaps = 1<<62, []byte{0, 0, 0, 1}
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
			if corrupt.Invariant != c.invariant && !(way == "file" && corrupt.Invariant == invDigest) {
				t.Errorf("%s, %s: error %v, want invariant %d", c.name, way, err, c.invariant)
			}
		}
	}
}
