package traces

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	tracev1 "pianola/proto/trace/v1"
	"pianola/traces/payload"
)

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
		"an unknown length law":  func(h *tracev1.Header) { h.Fields.Length = "normal 1 100" },
		"a length law backwards": func(h *tracev1.Header) { h.Fields.Length = "uniform 100 1" },
		"endless buckets":        func(h *tracev1.Header) { h.Fields.Length = "histogram 1" + strings.Repeat(" 1", payload.MaxBuckets+1) },
		"integrity of lengths":   func(h *tracev1.Header) { h.Fields.Length, h.Fields.Values = "uniform 1 100", "ycsb-integrity/1" },
		"too much saved":         func(h *tracev1.Header) { h.Fields.Values = "compressible/1 0.99" },
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

// A file's totals are there before its blocks are read, so they are checked
// before.
func TestAFileWhoseFooterContradictsItselfIsNotOpened(t *testing.T) {
	for name, change := range map[string]func(f *tracev1.Footer){
		"more ops":             func(f *tracev1.Footer) { f.Phases[1].Kinds[0].Ops++ },
		"a first op":           func(f *tracev1.Footer) { f.Blocks[2].FirstOp++ },
		"a block without ops":  func(f *tracev1.Footer) { f.Blocks[3].FirstOp = f.Blocks[4].FirstOp },
		"a falling first op":   func(f *tracev1.Footer) { f.Blocks[3].FirstOp = f.Blocks[1].FirstOp },
		"a block of 2^17":      func(f *tracev1.Footer) { f.Phases[1].Kinds[0].Ops, f.Blocks[4].FirstOp = 1<<17, 1<<16 },
		"a later phase":        func(f *tracev1.Footer) { f.Blocks[1].Phase = 1 },
		"an earlier phase":     func(f *tracev1.Footer) { f.Blocks[4].Phase = 0 },
		"a phase not there":    func(f *tracev1.Footer) { f.Blocks[4].Phase = 3 },
		"a free key":           func(f *tracev1.Footer) { f.FirstFreeKey++ },
		"a chunk digest":       func(f *tracev1.Footer) { f.Phases[1].ChunkDigests[0] ^= 1 },
		"a phase digest":       func(f *tracev1.Footer) { f.Phases[1].Digest[0] ^= 1 },
		"the digest":           func(f *tracev1.Footer) { f.Digest[0] ^= 1 },
		"digests of less":      func(f *tracev1.Footer) { f.Phases[1].ChunkDigests = nil },
		"updates for inserts":  func(f *tracev1.Footer) { f.Phases[0].Kinds[0].Kind = 2 },
		"a kind twice":         func(f *tracev1.Footer) { f.Phases[1].Kinds[1].Kind = f.Phases[1].Kinds[0].Kind },
		"a kind of no ops":     func(f *tracev1.Footer) { f.Phases[2].Kinds = []*tracev1.KindTotal{{Kind: 1}} },
		"a phase less":         func(f *tracev1.Footer) { f.Phases = f.Phases[:2] },
		"a phase more":         func(f *tracev1.Footer) { f.Phases = append(f.Phases, f.Phases[2]) },
		"a block entry less":   func(f *tracev1.Footer) { f.Blocks = f.Blocks[:4] },
		"a block entry more":   func(f *tracev1.Footer) { f.Blocks = append(f.Blocks, f.Blocks[4]) },
		"a digest of 33 bytes": func(f *tracev1.Footer) { f.Digest = append(f.Digest, 0) },
	} {
		f := forged(t)
		change(f.footer)
		data := f.file(t)
		if _, err := newFileReader(&memoryFile{data}, int64(len(data)), "memory"); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: opened with error %v", name, err)
		}
		if err := readBothWays(data)["stream"]; !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s, stream: error %v", name, err)
		}
	}
}

func TestTheFootersPlacesAndChecksumsAreThoseOfTheFrames(t *testing.T) {
	h, blocks := smallTrace()
	good := forged(t)
	good.file(t)
	for name, c := range map[string]struct {
		change    func(f *tracev1.Footer)
		invariant int
	}{
		"an offset":             {func(f *tracev1.Footer) { f.Blocks[2].Offset++ }, invFooter},
		"an offset beyond 2^63": {func(f *tracev1.Footer) { f.Blocks[2].Offset = math.MaxUint64 }, invFooter},
		"a size":                {func(f *tracev1.Footer) { f.Blocks[2].Size++ }, invFooter},
		"a checksum":            {func(f *tracev1.Footer) { f.Blocks[2].Crc32C ^= 1 }, invChecksum},
		"the header's checksum": {func(f *tracev1.Footer) { f.HeaderCrc32C ^= 1 }, invChecksum},
	} {
		f := dissect(t, writeBlocks(t, h, blocks))
		footer := proto.CloneOf(good.footer)
		c.change(footer)
		f.footerField = marshal(t, &tracev1.Trace{Footer: footer})
		wantCorrupt(t, name, f.file(t), c.invariant)
	}
}
