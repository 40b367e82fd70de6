package traces

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"

	tracev1 "pianola/proto/trace/v1"
	"pianola/traces/payload"
)

func testHeader() *Header {
	return &Header{
		Tick:   1,
		Fields: payload.Fields{Count: 10, Length: payload.Length{Constant: 10}},
		Phases: []Phase{{Name: "load"}, {Name: "run", Paced: true}},
	}
}

// randomBlock returns a block with every kind, of widely differing numbers.
func randomBlock(r *rand.Rand, n, phase int) *Block {
	b := &Block{First: r.Uint64() >> 2, Phase: phase, InsertBase: r.Uint64() >> 2, VisibleRecords: r.Uint64() >> 2, DeletesBefore: r.Uint64() >> 2}
	span := uint64(1) << r.IntN(60)
	insert, due := b.InsertBase, r.Uint64()>>3
	for range n {
		op := Op{Kind: Kind(1 + r.IntN(int(KindLimit)-1)), Key: r.Uint64N(span)}
		if op.Kind == Insert {
			op.Key = insert
			insert++
		}
		if op.Kind == Scan {
			op.ScanLength = uint32(r.IntN(1000))
		}
		if op.Kind.Reads() {
			op.Read = FieldSet(r.IntN(11))
		}
		if op.Kind.Writes() {
			op.Written = FieldSet(r.IntN(11))
		}
		b.Kinds = append(b.Kinds, op.Kind)
		b.Keys = append(b.Keys, op.Key)
		b.ScanLengths = append(b.ScanLengths, op.ScanLength)
		b.Read = append(b.Read, op.Read)
		b.Written = append(b.Written, op.Written)
		if phase == 1 {
			b.Due = append(b.Due, due)
			due += r.Uint64N(1 << r.IntN(40))
		}
	}
	return b
}

// encodeField returns a block as a field of a Trace.
func encodeField(t testing.TB, h *Header, b *Block) []byte {
	t.Helper()
	counts := kindCounts(b.Kinds)
	field, _, err := newBlockCodec(h).encode(b, &counts, isConstant(b, h), b.Seen)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(field)
}

// decodeField reads what encodeField returned of a block that begins its phase.
func decodeField(h *Header, field []byte) (*Block, error) {
	c, b := newBlockCodec(h), new(Block)
	o, err := c.open(field, b)
	if err != nil {
		return nil, err
	}
	return b, c.finish(o, b, 0, nil)
}

func TestHandWrittenEncodingIsThatOfGeneratedCode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 200 {
		b := randomBlock(r, 1+r.IntN(300), i%2)
		if _, _, err := checkBlock(b, testHeader()); err != nil {
			t.Fatal(err)
		}
		got := encodeField(t, testHeader(), b)
		var msg tracev1.Trace
		if err := proto.Unmarshal(got, &msg); err != nil {
			t.Fatal(err)
		}
		again, err := proto.MarshalOptions{Deterministic: true}.Marshal(&msg)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, again) {
			t.Fatalf("block %d: %d bytes by hand, %d by generated code, or others", i, len(got), len(again))
		}
		if len(msg.Block) != 1 || len(msg.Block[0].ProtoReflect().GetUnknown()) > 0 || msg.Block[0].Count != uint32(b.Len()) || msg.Block[0].FirstOp != b.First {
			t.Fatalf("block %d: generated code reads %v", i, &msg)
		}
		back, err := decodeField(testHeader(), got)
		if err != nil {
			t.Fatal(err)
		}
		sameOps(t, b, back)
	}
}

func sameOps(t *testing.T, want, got *Block) {
	t.Helper()
	if want.Len() != got.Len() || want.InsertBase != got.InsertBase || want.VisibleRecords != got.VisibleRecords || want.DeletesBefore != got.DeletesBefore {
		t.Fatalf("block of %d ops written, of %d read, or of other bases", want.Len(), got.Len())
	}
	var x, y Op
	for j := range want.Len() {
		want.Op(j, &x)
		got.Op(j, &y)
		if x != y {
			t.Fatalf("op %d: %+v written, %+v read", j, x, y)
		}
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	h := testHeader()
	field := encodeField(t, h, randomBlock(r, 5000, 1))
	var b Block
	c := newBlockCodec(h)
	allocs := testing.AllocsPerRun(20, func() {
		o, err := c.open(field, &b)
		if err == nil {
			err = c.finish(o, &b, 0, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations per block", allocs)
	}
}

func FuzzDecodeBlock(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 4 {
		f.Add(encodeField(f, testHeader(), randomBlock(r, 1+r.IntN(30), i%2)))
	}
	f.Fuzz(func(t *testing.T, field []byte) {
		b, err := decodeField(testHeader(), field)
		if err != nil {
			return
		}
		if _, _, err := checkBlock(b, testHeader()); err != nil {
			t.Fatalf("a block that was read can't be written: %v", err)
		}
		if second := encodeField(t, testHeader(), b); !bytes.Equal(second, field) {
			t.Fatalf("%x was read, its ops are written %x", field, second)
		}
	})
}

func TestHostileLengthsAllocateLittle(t *testing.T) {
	// A skippable frame that claims 4 GiB, and a zstd frame of one raw block
	// that claims 2 MiB, each with nothing behind it.
	for name, data := range map[string][]byte{
		"skippable": binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, skippableMagic), 0xffffffff),
		"raw block": {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00, 0xf8, 0xff, 0xff},
	} {
		s := frameScanner{r: bytes.NewReader(data)}
		frame, err := s.next(nil, 1<<30)
		if err == nil || cap(frame) > 3<<20 {
			t.Errorf("%s: error %v, %d bytes taken", name, err, cap(frame))
		}
	}
}
