package traces

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	tracev1 "pianola/proto/trace/v1"
)

func forged(t testing.TB) *forgery {
	t.Helper()
	h, blocks := smallTrace()
	return dissect(t, writeBlocks(t, h, blocks))
}

func TestEveryFlippedBitIsRefused(t *testing.T) {
	h, blocks := smallTrace()
	data := writeBlocks(t, h, blocks)
	for i := range data {
		for bit := range 8 {
			flipped := bytes.Clone(data)
			flipped[i] ^= 1 << bit
			for way, err := range readBothWays(flipped) {
				if err == nil {
					t.Fatalf("byte %d bit %d flipped: read without an error (%s)", i, bit, way)
				}
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotTrace) && !errors.Is(err, ErrVersion) {
					t.Fatalf("byte %d bit %d flipped: unclassified error %v", i, bit, err)
				}
			}
		}
	}
}

func TestEveryTruncationAndExtensionIsRefused(t *testing.T) {
	h, blocks := smallTrace()
	data := writeBlocks(t, h, blocks)
	for n := range data {
		for way, err := range readBothWays(data[:n]) {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotTrace) {
				t.Fatalf("cut to %d bytes: %v (%s)", n, err, way)
			}
		}
	}
	for name, extended := range map[string][]byte{
		"a zero byte":          append(bytes.Clone(data), 0),
		"the trace again":      append(bytes.Clone(data), data...),
		"an empty skippable":   append(bytes.Clone(data), 0x5E, 0x2A, 0x4D, 0x18, 0, 0, 0, 0),
		"a skippable in front": append([]byte{0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0}, data...),
	} {
		for way, err := range readBothWays(extended) {
			if err == nil {
				t.Errorf("%s: read without an error (%s)", name, way)
			}
		}
	}
}

func TestAForgeryThatChangesNothingIsRead(t *testing.T) {
	for way, err := range readBothWays(forged(t).file(t)) {
		if err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
}

// Each of these has every checksum, offset and size right.
func TestRearrangedBlocksAreRefused(t *testing.T) {
	h, blocks := smallTrace()
	for _, b := range blocks {
		for i, k := range b.Kinds {
			if k != Insert {
				b.Keys[i]++
			}
		}
	}
	other := dissect(t, writeBlocks(t, h, blocks))
	swap := func(f *forgery, i, j int) { f.blocks[i], f.blocks[j] = f.blocks[j], f.blocks[i] }
	for _, c := range []struct {
		name      string
		change    func(f *forgery)
		invariant int
	}{
		{"two blocks swapped", func(f *forgery) { swap(f, 2, 3) }, invBlockOrder},
		{"swapped in the footer too", func(f *forgery) {
			swap(f, 2, 3)
			e := f.footer.Blocks
			e[2], e[3] = e[3], e[2]
		}, 0},
		{"phases swapped", func(f *forgery) { swap(f, 1, 2) }, invBlockOrder},
		{"a block twice", func(f *forgery) { f.blocks = slices.Insert(f.blocks, 3, f.blocks[2]) }, 0},
		{"a block twice, in the footer too", func(f *forgery) {
			f.blocks = slices.Insert(f.blocks, 3, f.blocks[2])
			f.footer.Blocks = slices.Insert(f.footer.Blocks, 3, proto.CloneOf(f.footer.Blocks[2]))
		}, 0},
		{"a block less", func(f *forgery) { f.blocks = slices.Delete(f.blocks, 3, 4) }, 0},
		{"a block less, in the footer too", func(f *forgery) {
			f.blocks = slices.Delete(f.blocks, 3, 4)
			f.footer.Blocks = slices.Delete(f.footer.Blocks, 3, 4)
		}, 0},
		{"no blocks", func(f *forgery) { f.blocks, f.footer.Blocks = nil, nil }, invTotals},
		{"a block of another trace", func(f *forgery) { f.blocks[3] = other.blocks[3] }, invDigest},
		{"the footer of another trace", func(f *forgery) { f.footer = other.footer }, invDigest},
		{"a header in place of a block", func(f *forgery) {
			f.blocks[3] = marshal(t, &tracev1.Trace{Header: f.header})
		}, invFrames},
		{"two blocks in a frame", func(f *forgery) { f.blocks[3] = append(bytes.Clone(f.blocks[3]), f.blocks[4]...) }, invFrames},
		{"half a block", func(f *forgery) { f.blocks[3] = f.blocks[3][:len(f.blocks[3])/2] }, invFrames},
	} {
		f := forged(t)
		c.change(f)
		data := f.file(t)
		if c.invariant > 0 {
			wantCorrupt(t, c.name, data, c.invariant)
			continue
		}
		// The file's index shows what a stream meets earlier: another reason.
		for way, err := range readBothWays(data) {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, %s: error %v, want one of a corrupt trace", c.name, way, err)
			}
		}
	}
}

func TestALaterFormatVersionIsNamed(t *testing.T) {
	for name, change := range map[string]func(f *forgery){
		"alone":               func(f *forgery) { f.header.FormatVersion = FormatVersion + 1 },
		"of an unknown shape": func(f *forgery) { f.header = &tracev1.Header{FormatVersion: 4e9} },
		"with unknown fields": func(f *forgery) {
			header := protowire.AppendVarint(protowire.AppendTag(nil, headerVersion, protowire.VarintType), 7)
			header = protowire.AppendString(protowire.AppendTag(header, headerPhases, protowire.BytesType), "\xff\xff")
			f.headerField = protowire.AppendBytes(protowire.AppendTag(nil, traceHeader, protowire.BytesType), header)
		},
	} {
		f := forged(t)
		change(f)
		data := f.file(t)
		for _, data := range [][]byte{data, data[:len(data)-9]} { // it may end in another way, too
			for way, err := range readBothWays(data) {
				if !errors.Is(err, ErrVersion) || errors.Is(err, ErrCorrupt) {
					t.Errorf("%s, %s: error %v, want one of an unknown version", name, way, err)
				}
			}
		}
	}
}

// strange returns encodings of m that mean m to generated code, and others that
// add what it does not know.
func strange(t *testing.T, m proto.Message) map[string][]byte {
	t.Helper()
	plain := marshal(t, m)
	first, _, n := protowire.ConsumeTag(plain)
	field := n + protowire.ConsumeFieldValue(first, protowire.VarintType, plain[n:])
	out := map[string][]byte{
		"unknown number": protowire.AppendVarint(protowire.AppendTag(bytes.Clone(plain), 99, protowire.VarintType), 1),
		"unknown bytes":  protowire.AppendString(protowire.AppendTag(bytes.Clone(plain), 2047, protowire.BytesType), "more"),
	}
	if _, kind, _ := protowire.ConsumeTag(plain); kind == protowire.VarintType {
		out["field twice"] = append(bytes.Clone(plain[:field]), plain...)
		v, _ := protowire.ConsumeVarint(plain[n:])
		long := append(plain[:n:n], byte(v&0x7f|0x80), byte(v>>7&0x7f|0x80), byte(v>>14&0x7f|0x80), byte(v>>21&0x7f|0x80), 0)
		out["overlong number"] = append(long, plain[field:]...)
	}
	return out
}

func TestUnknownAndStrangelyEncodedFieldsAreRefused(t *testing.T) {
	wrap := func(outer []byte, field protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(outer, field, protowire.BytesType), value)
	}
	f := forged(t)
	for name, header := range strange(t, f.header) {
		f := forged(t)
		f.headerField = wrap(nil, traceHeader, header)
		wantCorrupt(t, "header with "+name, f.file(t), invHeader)
	}
	for name, keys := range strange(t, f.header.Keys) {
		f := forged(t)
		f.header.Keys = nil
		f.headerField = wrap(nil, traceHeader, wrap(marshal(t, f.header), 7, keys))
		wantCorrupt(t, "key scheme with "+name, f.file(t), invHeader)
	}
	footers := 0
	for name, entry := range strange(t, f.footer.Blocks[4]) {
		f := forged(t)
		f.file(t) // for the offsets
		e := f.footer.Blocks
		f.footer.Blocks = nil
		footer := marshal(t, f.footer)
		for i := range e[:4] {
			footer = wrap(footer, footerBlocks, marshal(t, e[i]))
		}
		f.footerField = wrap(nil, traceFooter, wrap(footer, footerBlocks, entry))
		f.footer.Blocks = e
		wantCorrupt(t, "footer's entry with "+name, f.file(t), invFooter)
		footers++
	}
	if footers < 4 {
		t.Errorf("%d strange footers", footers)
	}
	for name, block := range strange(t, blockMessage(t, f.blocks[3])) {
		f := forged(t)
		f.blocks[3] = wrap(nil, traceBlock, block)
		wantCorrupt(t, "block with "+name, f.file(t), invColumns)
	}
	empty := protowire.AppendTag(body(t, f.blocks[0]), fieldWrittenFields, protowire.BytesType)
	f.blocks[0] = wrap(nil, traceBlock, append(empty, 0))
	wantCorrupt(t, "block with an empty column", f.file(t), invColumns)
}

func blockMessage(t testing.TB, field []byte) *tracev1.Block {
	t.Helper()
	msg := new(tracev1.Block)
	if err := proto.Unmarshal(body(t, field), msg); err != nil {
		t.Fatal(err)
	}
	return msg
}

// scalars calls change for each number, bool, string and bytes in m, at any
// depth. It may change the value, and is called again with it as it was.
func scalars(m protoreflect.Message, path string, visit func(path string, m protoreflect.Message, field protoreflect.FieldDescriptor)) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		name := path + "." + string(field.Name())
		switch {
		case field.IsList():
			for j := range m.Get(field).List().Len() {
				scalars(m.Get(field).List().Get(j).Message(), fmt.Sprintf("%s[%d]", name, j), visit)
			}
		case field.Message() != nil:
			scalars(m.Get(field).Message(), name, visit)
		default:
			visit(name, m, field)
		}
	}
}

// others returns values of a field unlike v.
func others(field protoreflect.FieldDescriptor, v protoreflect.Value) []protoreflect.Value {
	switch field.Kind() {
	case protoreflect.Uint64Kind:
		var out []protoreflect.Value
		for _, u := range []uint64{v.Uint() + 1, v.Uint() - 1, 0, 1 << 40, 1<<62 + 1, math.MaxInt64, math.MaxUint64} {
			out = append(out, protoreflect.ValueOfUint64(u))
		}
		return out
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		u := uint32(v.Uint())
		return []protoreflect.Value{protoreflect.ValueOfUint32(u + 1), protoreflect.ValueOfUint32(u - 1), protoreflect.ValueOfUint32(0), protoreflect.ValueOfUint32(math.MaxUint32)}
	case protoreflect.EnumKind:
		return []protoreflect.Value{protoreflect.ValueOfEnum(0), protoreflect.ValueOfEnum(v.Enum() + 1), protoreflect.ValueOfEnum(-1), protoreflect.ValueOfEnum(77)}
	case protoreflect.BoolKind:
		return []protoreflect.Value{protoreflect.ValueOfBool(!v.Bool())}
	case protoreflect.StringKind:
		return []protoreflect.Value{protoreflect.ValueOfString(v.String() + "x"), protoreflect.ValueOfString("")}
	case protoreflect.BytesKind:
		b := bytes.Clone(v.Bytes())
		if len(b) == 0 {
			return []protoreflect.Value{protoreflect.ValueOfBytes([]byte{1})}
		}
		b[len(b)/2] ^= 1
		return []protoreflect.Value{protoreflect.ValueOfBytes(b), protoreflect.ValueOfBytes(b[1:]), protoreflect.ValueOfBytes(nil), protoreflect.ValueOfBytes(append(v.Bytes()[:len(b):len(b)], 0))}
	}
	panic("kind of field: " + field.Kind().String())
}

// Checksums are made right behind each change, so that they are not what tells.
func TestEveryChangedNumberOfFooterAndBlocksIsRefused(t *testing.T) {
	changes := 0
	try := func(f *forgery, root proto.Message, name string, again func(f *forgery)) {
		scalars(root.ProtoReflect(), name, func(path string, m protoreflect.Message, field protoreflect.FieldDescriptor) {
			switch field.Name() {
			case "crc32c", "header_crc32c", "offset", "size":
				return // made right again; TestEveryFlippedBitIsRefused has them
			}
			was, had := m.Get(field), m.Has(field)
			for _, v := range others(field, was) {
				if v.Equal(was) {
					continue
				}
				m.Set(field, v)
				again(f)
				for way, err := range readBothWays(f.file(t)) {
					if !errors.Is(err, ErrCorrupt) {
						t.Errorf("%s = %v in place of %v, %s: error %v", path, v, was, way, err)
					}
				}
				changes++
			}
			if m.Set(field, was); !had {
				m.Clear(field)
			}
			again(f)
		})
	}
	f := forged(t)
	try(f, f.footer, "footer", func(*forgery) {})
	for i := range f.blocks {
		msg := blockMessage(t, f.blocks[i])
		try(f, msg, fmt.Sprintf("block[%d]", i), func(f *forgery) {
			f.blocks[i] = marshal(t, &tracev1.Trace{Block: []*tracev1.Block{msg}})
		})
	}
	if changes < 300 {
		t.Errorf("%d changes were tried", changes)
	}
}

func TestHeadersThatNoWriterWrites(t *testing.T) {
	for name, change := range map[string]func(h *tracev1.Header){
		"no phases":              func(h *tracev1.Header) { h.Phases = nil },
		"too many phases":        func(h *tracev1.Header) { h.Phases = manyPhases(phasesMax + 1) },
		"a phase twice":          func(h *tracev1.Header) { h.Phases[2].Name = h.Phases[1].Name },
		"a phase without a name": func(h *tracev1.Header) { h.Phases[2].Name = "" },
		"a phase with a comma":   func(h *tracev1.Header) { h.Phases[2].Name = "a,b" },
		"a load behind":          func(h *tracev1.Header) { h.Phases[0], h.Phases[1] = h.Phases[1], h.Phases[0] },
		"a tick of 0":            func(h *tracev1.Header) { h.TickNs = 0 },
		"a tick of 292 years":    func(h *tracev1.Header) { h.TickNs = math.MaxInt64 },
		"a negative tick":        func(h *tracev1.Header) { h.TickNs = math.MaxUint64 },
		"no key scheme":          func(h *tracev1.Header) { h.Keys = nil },
		"an unknown key order":   func(h *tracev1.Header) { h.Keys.Order = 3 },
		"endless padding":        func(h *tracev1.Header) { h.Keys.ZeroPadding = 1001 },
		"padding beyond 31 bits": func(h *tracev1.Header) { h.Keys.ZeroPadding = math.MaxUint32 },
		"no field scheme":        func(h *tracev1.Header) { h.Fields = nil },
		"no fields":              func(h *tracev1.Header) { h.Fields.Count = 0 },
		"too many fields":        func(h *tracev1.Header) { h.Fields.Count = 1<<15 + 1 },
		"unknown values":         func(h *tracev1.Header) { h.Fields.Values = "printable/2" },
		"endless values":         func(h *tracev1.Header) { h.Fields.Length = "constant 268435457" },
		"an unknown length law":  func(h *tracev1.Header) { h.Fields.Length = "uniform 1 100" },
		"a length twice spelt":   func(h *tracev1.Header) { h.Fields.Length = "constant 010" },
		"records beyond 63 bits": func(h *tracev1.Header) { h.FirstKey, h.RecordCount = 1, math.MaxInt64 },
		"wrapping records":       func(h *tracev1.Header) { h.FirstKey, h.RecordCount = 1<<62, math.MaxUint64-1<<61 },
		"a rate of n/0":          func(h *tracev1.Header) { h.Phases[1].RateDenominator = 0 },
		"a rate of 0/n":          func(h *tracev1.Header) { h.Phases[1].RateNumerator = 0 },
		"an unpaced rate":        func(h *tracev1.Header) { h.Phases[0].RateNumerator, h.Phases[0].RateDenominator = 5, 1 },
		"unpaced arrivals":       func(h *tracev1.Header) { h.Phases[0].Arrivals = "constant" },
		"endless visibility":     func(h *tracev1.Header) { h.Phases[1].VisibilityOps = 1<<24 + 1 },
		"an unknown kind":        func(h *tracev1.Header) { h.Phases[1].Mix[1].Kind = 7 },
		"a kind of 0":            func(h *tracev1.Header) { h.Phases[1].Mix[0].Kind = 0 },
		"a mix out of order":     func(h *tracev1.Header) { h.Phases[1].Mix[0].Kind = 4 },
		"a mix of one kind":      func(h *tracev1.Header) { h.Phases[1].Mix[0].Kind = h.Phases[1].Mix[1].Kind },
		"a mix without end":      func(h *tracev1.Header) { h.Phases[1].Mix = make([]*tracev1.Share, 7) },
		"too many hints":         func(h *tracev1.Header) { h.Hints = make([]*tracev1.Hint, hintsMax+1) },
	} {
		f := forged(t)
		change(f.header)
		wantCorrupt(t, name, f.file(t), invHeader)
	}
}

func manyPhases(n int) []*tracev1.Phase {
	out := make([]*tracev1.Phase, n)
	for i := range out {
		out[i] = &tracev1.Phase{Name: fmt.Sprint("p", i)}
	}
	return out
}

// Totals are known from the footer before a block is read; sums of them must
// not wrap around to what is there.
func TestTotalsThatWrapAroundAreRefused(t *testing.T) {
	const half = uint64(1) << 63
	for name, kinds := range map[string][]*tracev1.KindTotal{
		"two halves": {{Kind: 1, Ops: half}, {Kind: 2, Ops: half}},
		"six kinds":  {{Kind: 1, Ops: half - 1}, {Kind: 2, Ops: half - 1}, {Kind: 3, Ops: 1}, {Kind: 4, Ops: 1}, {Kind: 5, Ops: 1}, {Kind: 6, Ops: 1}},
		"one":        {{Kind: 1, Ops: math.MaxUint64}},
		"2^41":       {{Kind: 1, Ops: 1 << 41}},
	} {
		f := forged(t)
		f.footer.Phases[2].Kinds = kinds
		wantCorrupt(t, name, f.file(t), invFooter)
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

// A decoder would take these frames: it reads several, and passes over
// skippable ones.
func TestEachEntryOfTheSeekTableIsOneFrame(t *testing.T) {
	skippable := []byte{0x53, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 'n', 'o'}
	empty := newEncoder().EncodeAll(nil, nil)
	if len(empty) == 0 {
		empty = []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0}
	}
	last := len(forged(t).blocks) + 1
	for _, i := range []int{0, 3, last} {
		for name, reframe := range map[string]func(frame []byte) []byte{
			"a skippable frame behind":   func(b []byte) []byte { return append(bytes.Clone(b), skippable...) },
			"a skippable frame in front": func(b []byte) []byte { return append(bytes.Clone(skippable), b...) },
			"an empty frame behind":      func(b []byte) []byte { return append(bytes.Clone(b), empty...) },
			"an empty frame in front":    func(b []byte) []byte { return append(bytes.Clone(empty), b...) },
			"an empty frame":             func([]byte) []byte { return empty },
			"a skippable frame":          func([]byte) []byte { return skippable },
			"no frame":                   func([]byte) []byte { return nil },
			"half a frame":               func(b []byte) []byte { return b[:len(b)/2] },
			"text":                       func([]byte) []byte { return []byte("no frame at all") },
		} {
			f := forged(t)
			f.reframe = func(at int, frame []byte) []byte {
				if at == i {
					return reframe(frame)
				}
				return frame
			}
			for way, err := range readBothWays(f.file(t)) {
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotTrace) {
					t.Errorf("frame %d: %s, %s: error %v", i, name, way, err)
				}
			}
		}
	}
}

// rle returns a zstd frame of n bytes of zeros, four bytes for each 128 KiB.
func rle(head []byte, n int) []byte {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x70} // a window of 16 MiB
	frame = append(frame, byte(len(head)<<3), byte(len(head)>>5), byte(len(head)>>13))
	frame = append(frame, head...)
	for n -= len(head); n > 0; n -= 128 << 10 {
		size, last := min(n, 128<<10), 0
		if n <= 128<<10 {
			last = 1
		}
		block := size<<3 | 1<<1 | last
		frame = append(frame, byte(block), byte(block>>8), byte(block>>16), 0)
	}
	return frame
}

// allocated returns the bytes that f allocates in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A few hundred bytes that claim to be millions must not become millions.
func TestSmallFilesTakeLittleMemory(t *testing.T) {
	const most = 32 << 20
	// Repeats of empty messages: two bytes each, a hundred or so decoded.
	repeat := func(outer, inner protowire.Number, n int) []byte {
		one := protowire.AppendBytes(protowire.AppendTag(nil, inner, protowire.BytesType), nil)
		return protowire.AppendBytes(protowire.AppendTag(nil, outer, protowire.BytesType), bytes.Repeat(one, n))
	}
	bomb := func(i int, frame []byte) func(f *forgery) {
		return func(f *forgery) {
			f.reframe = func(at int, b []byte) []byte {
				if at == i {
					return frame
				}
				return b
			}
		}
	}
	footer := len(forged(t).blocks) + 1
	hugeClaim := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0} // 2^40 bytes in one segment
	for name, change := range map[string]func(f *forgery){
		"a header of 1 GiB":        bomb(0, rle([]byte{0x0a}, 1<<30)),
		"a block of 1 GiB":         bomb(3, rle([]byte{0x12}, 1<<30)),
		"a footer of 1 GiB":        bomb(footer, rle([]byte{0x1a}, 1<<30)),
		"a header claims 1 TiB":    bomb(0, hugeClaim),
		"a block claims 1 TiB":     bomb(3, hugeClaim),
		"a footer claims 1 TiB":    bomb(footer, hugeClaim),
		"a header of phases":       func(f *forgery) { f.headerField = repeat(traceHeader, headerPhases, 1<<23) },
		"a header of hints":        func(f *forgery) { f.headerField = repeat(traceHeader, headerHints, 1<<18) },
		"a header of shares":       func(f *forgery) { f.headerField = nested(traceHeader, headerPhases, phaseMix, 1<<18) },
		"a footer of blocks":       func(f *forgery) { f.footerField = repeat(traceFooter, footerBlocks, 1<<23) },
		"a footer of phases":       func(f *forgery) { f.footerField = repeat(traceFooter, footerPhases, 1<<23) },
		"a footer of kinds":        func(f *forgery) { f.footerField = nested(traceFooter, footerPhases, totalKinds, 1<<23) },
		"a footer of few kinds":    func(f *forgery) { f.footerField = nested(traceFooter, footerPhases, totalKinds, 300) },
		"a phase that sees late":   func(f *forgery) { f.header.Phases[1].VisibilityOps = 1 << 40 },
		"a block of unknown bytes": func(f *forgery) { f.blocks[3] = append([]byte{0x12, 0x80, 0x80, 0x80, 0x08}, make([]byte, 16<<20)...) },
	} {
		f := forged(t)
		change(f)
		data := f.file(t)
		bytes := allocated(func() {
			for way, err := range readBothWays(data) {
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotTrace) {
					t.Errorf("%s, %s: error %v", name, way, err)
				}
			}
		})
		if bytes > most+2*uint64(len(data)) {
			t.Errorf("%s: %d bytes of file took %d bytes of memory", name, len(data), bytes)
		}
	}
}

// nested returns a field of a Trace with one message that holds n empty ones.
func nested(outer, middle, inner protowire.Number, n int) []byte {
	one := protowire.AppendBytes(protowire.AppendTag(nil, inner, protowire.BytesType), nil)
	message := protowire.AppendBytes(protowire.AppendTag(nil, middle, protowire.BytesType), bytes.Repeat(one, n))
	return protowire.AppendBytes(protowire.AppendTag(nil, outer, protowire.BytesType), message)
}

func TestSeekTablesThatLie(t *testing.T) {
	data := forged(t).file(t)
	end := len(data)
	frames := int(binary.LittleEndian.Uint32(data[end-9:]))
	entry := func(i int) int { return end - 9 - (frames-i)*8 }
	put := func(at int, v uint32) []byte {
		out := bytes.Clone(data)
		binary.LittleEndian.PutUint32(out[at:], v)
		return out
	}
	size := binary.LittleEndian.Uint32(data[entry(2):])
	moved := put(entry(2), size+1) // a byte from one frame to the next
	binary.LittleEndian.PutUint32(moved[entry(3):], binary.LittleEndian.Uint32(moved[entry(3):])-1)
	flag := bytes.Clone(data)
	flag[end-5] = 0x80
	for name, data := range map[string][]byte{
		"no frames":               put(end-9, 0),
		"fewer frames":            put(end-9, uint32(frames-1)),
		"2^24 + 1 frames":         put(end-9, 1<<24+1),
		"2^28 frames":             put(end-9, 1<<28),
		"2^32 - 1 frames":         put(end-9, math.MaxUint32),
		"a flag":                  flag,
		"a frame of no bytes":     put(entry(2), 0),
		"a frame of 4 GiB":        put(entry(2), math.MaxUint32),
		"4 GiB, decompressed":     put(entry(2)+4, math.MaxUint32),
		"a footer of 4 GiB":       put(entry(frames-2)+4, math.MaxUint32),
		"a header of 4 GiB":       put(entry(0)+4, math.MaxUint32),
		"a byte moved":            moved,
		"a size of the table":     put(entry(0)-4, 77),
		"a decompressed checksum": put(entry(frames-1)+4, 1),
	} {
		taken := allocated(func() {
			for way, err := range readBothWays(data) {
				var c *CorruptError
				// A file can't know whether its footer or the table lies.
				if !errors.As(err, &c) || c.Invariant != invSeekTable && !(way == "file" && c.Invariant == invFooter) {
					t.Errorf("%s, %s: error %v", name, way, err)
				}
			}
		})
		if taken > 32<<20 {
			t.Errorf("%s: %d bytes of memory", name, taken)
		}
	}
}

func TestAFileThatShrinksIsBrokenAndNotAtItsEnd(t *testing.T) {
	data := forged(t).file(t)
	f := &memoryFile{data}
	r, err := newFileReader(f, int64(len(data)), "shrinking")
	if err != nil {
		t.Fatal(err)
	}
	f.data = data[:len(data)/3]
	for r.Scan() {
	}
	if err := r.Err(); !errors.Is(err, ErrCorrupt) || errors.Is(err, io.EOF) {
		t.Errorf("error %v, want one of a corrupt trace", err)
	}
}

func TestErrorsOfTheMediumAreNoneOfTheTrace(t *testing.T) {
	data := forged(t).file(t)
	broken := errors.New("input/output error")
	for n := range len(data) {
		r, err := NewReader(io.MultiReader(bytes.NewReader(data[:n]), errReader{broken}), "stream")
		if err == nil {
			for r.Scan() {
			}
			err = r.Err()
		}
		if !errors.Is(err, broken) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNotTrace) {
			t.Fatalf("after %d bytes: error %v", n, err)
		}
	}
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

func TestErrorsNameTheSameBlockFromFileAndStream(t *testing.T) {
	f := forged(t)
	data := f.file(t)
	for i, e := range f.footer.Blocks {
		flipped := bytes.Clone(data)
		flipped[e.Offset+uint64(e.Size)-1] ^= 1 // the frame's own checksum
		for way, err := range readBothWays(flipped) {
			var c *CorruptError
			if !errors.As(err, &c) || c.Block != i || c.Offset != int64(e.Offset) || c.Invariant != invChecksum ||
				!strings.Contains(err.Error(), fmt.Sprintf("offset %d, block %d", e.Offset, i)) {
				t.Errorf("block %d at %d, %s: error %v", i, e.Offset, way, err)
			}
		}
	}
}

func TestSkipToChecksWhatItReads(t *testing.T) {
	h, blocks := smallTrace()
	data := writeBlocks(t, h, blocks)
	f := dissect(t, data)
	open := func(data []byte) *Reader {
		path := filepath.Join(t.TempDir(), "x.trace.zst")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	ops := func(r *Reader) (n int) {
		for r.Scan() {
			n++
		}
		return n
	}
	r := open(data)
	if err := r.SkipTo(1); err != nil || ops(r) != 15 || r.Err() != nil {
		t.Errorf("from phase 1 on: %v, %v", err, r.Err())
	}
	r = open(data)
	r.Scan()
	if err := r.SkipTo(1); err != nil || ops(r) != 15 || r.Err() != nil {
		t.Errorf("from phase 1 on, out of a block of phase 0: %v, %v", err, r.Err())
	}
	r = open(data)
	if err := r.SkipTo(2); err != nil || ops(r) != 0 || r.Err() != nil {
		t.Errorf("to a phase without ops: %v, %v", err, r.Err())
	}
	r = open(data)
	for _, phase := range []int{-1, 3, 1 << 30} {
		if err := r.SkipTo(phase); err == nil {
			t.Errorf("skipped to phase %d of 3", phase)
		}
	}
	other := blockMessage(t, f.blocks[3])
	other.Keys[0] ^= 4
	f.blocks[3] = marshal(t, &tracev1.Trace{Block: []*tracev1.Block{other}})
	r = open(f.file(t))
	var c *CorruptError
	if err := r.SkipTo(1); err != nil || ops(r) != 15 || !errors.As(r.Err(), &c) || c.Invariant != invDigest {
		t.Errorf("a changed key behind the skip: %v, %v", err, r.Err())
	}
	stream, err := NewReader(bytes.NewReader(data), "stream")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SkipTo(1); err == nil || stream.Seekable() {
		t.Error("skipped in a stream")
	}
}

func FuzzReader(f *testing.F) {
	h, blocks := smallTrace()
	data := writeBlocks(f, h, blocks)
	f.Add(data)
	f.Add(data[:len(data)-20])
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, err := range readBothWays(data) {
			if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotTrace) && !errors.Is(err, ErrVersion) {
				t.Errorf("unclassified error %v", err)
			}
		}
	})
}
