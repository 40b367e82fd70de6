package traces

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	tracev1 "pianola/proto/trace/v1"
	"pianola/traces/payload"
)

// forgery is a trace taken apart, to be put together again with all checksums,
// offsets and sizes right: what is wrong with it then is what a test changed.
type forgery struct {
	header *tracev1.Header
	// blocks are fields of a Trace; block[i] is described by footer.Blocks[i].
	blocks [][]byte
	footer *tracev1.Footer
	// If set they replace what is made of header and footer.
	headerField, footerField []byte
	// If set it changes frame i, compressed, before it is placed; frame 0 is
	// the header's, the last the footer's.
	reframe func(i int, frame []byte) []byte
}

// smallTrace returns a header and blocks: a load of 6 records in blocks of 4, a
// paced run with every kind in blocks of 5, and a phase without ops.
func smallTrace() (*Header, []*Block) {
	h := testHeader()
	h.Keys = payload.Keys{Prefix: "user", Padding: 1}
	h.Fields.Prefix, h.Table, h.Records, h.Seed = "field", "usertable", 6, 3
	h.Phases[1].Rate = Rate{1000, 1}
	h.Phases[1].VisibilityOps = 2
	h.Phases[1].Mix = []Share{{Read, "0.5"}, {Insert, "0.5"}}
	h.Hints = []Hint{{"threadcount", "4"}}
	h.Phases = append(h.Phases, Phase{Name: "after"})
	var blocks []*Block
	add := func(b *Block, n int) {
		for range n {
			b.Kinds = append(b.Kinds, Insert)
			b.Keys = append(b.Keys, b.InsertBase+uint64(len(b.Keys)))
		}
		blocks = append(blocks, b)
	}
	add(&Block{}, 4)
	add(&Block{First: 4, InsertBase: 4}, 2)
	for i := range uint64(3) {
		blocks = append(blocks, &Block{
			First: 6 + 5*i, Phase: 1, InsertBase: 6 + i, VisibleRecords: 6 + max(i, 1) - 1, DeletesBefore: i,
			Kinds:       []Kind{Read, Update, Scan, Insert, Delete},
			Keys:        []uint64{i, 300, 5, 6 + i, 1},
			Due:         []uint64{1000 * i, 1000*i + 10, 1000*i + 20, 1000*i + 300, 1000*i + 999},
			ScanLengths: []uint32{0, 0, 7, 0, 0},
			Read:        []FieldSet{OneField(3), 0, 0, 0, 0},
			Written:     []FieldSet{0, OneField(9), 0, 0, 0},
		})
	}
	return h, blocks
}

func writeBlocks(t testing.TB, h *Header, blocks []*Block) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if err := w.WriteBlock(b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// dissect takes a trace apart that a Writer wrote.
func dissect(t testing.TB, data []byte) *forgery {
	t.Helper()
	f := &forgery{header: new(tracev1.Header), footer: new(tracev1.Footer)}
	s := frameScanner{r: bytes.NewReader(data)}
	for {
		frame, err := s.next(nil, len(data))
		if err != nil {
			t.Fatal(err)
		}
		if isSkippable(frame) {
			return f
		}
		field, err := newDecoder(blockBytesMax).decode(frame, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch field[0] >> 3 {
		case traceHeader:
			err = proto.Unmarshal(body(t, field), f.header)
		case traceBlock:
			f.blocks = append(f.blocks, field)
		case traceFooter:
			err = proto.Unmarshal(body(t, field), f.footer)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// body returns the message in a field of a Trace.
func body(t testing.TB, field []byte) []byte {
	t.Helper()
	msg, err := unwrap(field, traceHeader)
	if err != nil {
		if msg, err = unwrap(field, traceBlock); err != nil {
			msg, err = unwrap(field, traceFooter)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// compress returns the frame of a field.
func compress(t testing.TB, field []byte) []byte {
	t.Helper()
	frame, err := newFrameEncoder().encode(field, nil)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// file puts the trace together.
func (f *forgery) file(t testing.TB) []byte {
	t.Helper()
	var out []byte
	var frames []frameSize
	place := func(field []byte) (frame []byte) {
		frame = compress(t, field)
		if f.reframe != nil {
			frame = f.reframe(len(frames), frame)
		}
		frames = append(frames, frameSize{uint32(len(frame)), uint32(len(field))})
		out = append(out, frame...)
		return frame
	}
	header := f.headerField
	if header == nil {
		header = marshal(t, &tracev1.Trace{Header: f.header})
	}
	f.footer.HeaderCrc32C = crc32c(place(header))
	for i, block := range f.blocks {
		offset := len(out)
		frame := place(block)
		if i < len(f.footer.Blocks) {
			e := f.footer.Blocks[i]
			e.Offset, e.Size, e.Crc32C = uint64(offset), uint32(len(frame)), crc32c(frame)
		}
	}
	footer := f.footerField
	if footer == nil {
		footer = marshal(t, &tracev1.Trace{Footer: f.footer})
	}
	out = appendChecksumFrame(out, place(footer))
	return appendSeekTable(out, append(frames, frameSize{uint32(checksumFrameBytes), 0}))
}

// memoryFile is a file that needs no disk.
type memoryFile struct{ data []byte }

func (m *memoryFile) ReadAt(b []byte, offset int64) (int, error) {
	return bytes.NewReader(m.data).ReadAt(b, offset)
}
func (m *memoryFile) Close() error { return nil }

// readBothWays reads data as a file, as one that is decoded ahead and as a
// stream, and returns the first error of each.
func readBothWays(data []byte) map[string]error {
	all := func(r *Reader, err error) error {
		if err != nil {
			return err
		}
		defer r.Close()
		for r.Scan() {
		}
		return r.Err()
	}
	ahead := func() (*Reader, error) {
		r, err := newFileReader(&memoryFile{data}, int64(len(data)), "memory")
		if err == nil {
			r.DecodeAhead(2)
		}
		return r, err
	}
	return map[string]error{
		"file":   all(newFileReader(&memoryFile{data}, int64(len(data)), "memory")),
		"ahead":  all(ahead()),
		"stream": all(NewReader(bytes.NewReader(data), "stream")),
	}
}

// wantCorrupt checks that data is refused in both ways for the same reason.
func wantCorrupt(t *testing.T, name string, data []byte, invariant int) {
	t.Helper()
	for way, err := range readBothWays(data) {
		var c *CorruptError
		if !errors.As(err, &c) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s, %s: error %v, want one of a corrupt trace", name, way, err)
		} else if c.Invariant != invariant {
			t.Errorf("%s, %s: error %v, want invariant %d", name, way, err, invariant)
		}
	}
}
