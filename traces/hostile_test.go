package traces

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

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

// A decoder would take these frames: it reads several, and passes over
// skippable ones.
func TestEachEntryOfTheSeekTableIsOneFrame(t *testing.T) {
	skippable := []byte{0x53, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 'n', 'o'}
	empty := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0}
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
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x50} // a window of 1 MiB
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
	const most = 64 << 20 // allocated in all, in both ways; a block that grows to its limit takes some
	// Repeats of empty messages: two bytes each, a hundred or so decoded.
	repeat := func(outer, inner protowire.Number, n int) []byte {
		one := protowire.AppendBytes(protowire.AppendTag(nil, inner, protowire.BytesType), nil)
		msg := bytes.Repeat(one, n)
		if outer == traceHeader {
			msg = append([]byte{headerVersion << 3, FormatVersion}, msg...)
		}
		return protowire.AppendBytes(protowire.AppendTag(nil, outer, protowire.BytesType), msg)
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
	if outer == traceHeader {
		message = append([]byte{headerVersion << 3, FormatVersion}, message...)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, outer, protowire.BytesType), message)
}

// Each of these, decoded before it is counted, would take a hundred times its
// size.
func TestFootersAreCountedBeforeTheyAreDecoded(t *testing.T) {
	h, _ := smallTrace()
	f := forged(t)
	good := marshal(t, &tracev1.Trace{Footer: f.footer})
	if _, err := decodeFooter(good, h, len(f.blocks)); err != nil {
		t.Fatal(err)
	}
	const n = 1 << 20
	blocks := bytes.Repeat([]byte{footerBlocks<<3 | 2, 0}, n)
	for name, body := range map[string][]byte{
		"blocks": blocks,
		"phases": bytes.Repeat([]byte{footerPhases<<3 | 2, 0}, n),
		"kinds":  body(t, nested(traceFooter, footerPhases, totalKinds, n)),
	} {
		field := protowire.AppendBytes(protowire.AppendTag(nil, traceFooter, protowire.BytesType), body)
		for _, count := range []int{0, len(f.blocks)} {
			var err error
			taken := allocated(func() { _, err = decodeFooter(field, h, count) })
			if c := (*invariantError)(nil); !errors.As(err, &c) || c.number != invFooter || taken > 1<<20 {
				t.Errorf("2^20 %s: error %v, %d bytes of memory", name, err, taken)
			}
		}
	}
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
				if !errors.As(err, &c) || c.Invariant != invSeekTable && !(way != "stream" && c.Invariant == invFooter) {
					t.Errorf("%s, %s: error %v", name, way, err)
				}
			}
		})
		if taken > 32<<20 {
			t.Errorf("%s: %d bytes of memory", name, taken)
		}
	}
}

// A stream can't tell a footer from a block before it is decompressed, and many
// blocks make a footer larger than a block may be.
func TestLargeFramesBehindManyBlocks(t *testing.T) {
	head, _ := smallTrace()
	const many = 1 << 16
	next := func(frame []byte, frames int) error {
		s := &streamSource{
			scanner: frameScanner{r: bytes.NewReader(frame)}, head: &headerFrame{header: head},
			blocks: newDecoder(blockBytesMax), frames: make([]frameSize, frames),
		}
		_, err := s.nextBlock()
		return err
	}
	for _, c := range []struct {
		name      string
		frame     []byte
		frames    int
		invariant int
	}{
		{"a block of 5 MiB", rle([]byte{0x12}, 5<<20), many, invBlockCount},
		{"a block of 5 MiB behind few", rle([]byte{0x12}, 5<<20), 10, invChecksum},
		{"a padded block", padded([]byte{0x12, 0}, blockBytesMax), many, invBlockCount},
		{"a footer of 5 MiB", rle([]byte{0x1a}, 5<<20), many, invSeekTable}, // it ends behind it
		{"a footer of 5 MiB behind few", rle([]byte{0x1a}, 5<<20), 10, invChecksum},
		{"a footer of 20 MiB", rle([]byte{0x1a}, 20<<20), many, invChecksum},
		{"a padded footer", padded([]byte{0x1a, 0}, 1<<20), 10, invFooter},
		{"a footer of 1 MiB behind few", rle([]byte{0x1a}, 1<<20), 10, invFooter},
	} {
		err := next(c.frame, c.frames)
		if inv := (*invariantError)(nil); !errors.As(err, &inv) || inv.number != c.invariant {
			t.Errorf("%s: error %v, want invariant %d", c.name, err, c.invariant)
		}
	}
}

// padded returns a zstd frame of head and more than n bytes of empty blocks.
func padded(head []byte, n int) []byte {
	frame := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x50}, bytes.Repeat([]byte{0, 0, 0}, n/3+1)...)
	return append(append(frame, byte(len(head)<<3|1), 0, 0), head...)
}

// sparseFile has nothing but zeros before its end.
type sparseFile struct {
	head, end []byte
	size      int64
}

func (s *sparseFile) ReadAt(b []byte, offset int64) (int, error) {
	for i := range b {
		switch at := offset + int64(i); {
		case at >= s.size:
			return i, io.EOF
		case at < int64(len(s.head)):
			b[i] = s.head[at]
		case at >= s.size-int64(len(s.end)):
			b[i] = s.end[at-s.size+int64(len(s.end))]
		default:
			b[i] = 0
		}
	}
	return len(b), nil
}
func (s *sparseFile) Close() error { return nil }

func TestSeekTablesOfTooFewAndTooManyFrames(t *testing.T) {
	data := forged(t).file(t)
	scanner := frameScanner{r: bytes.NewReader(data)}
	header, err := scanner.next(nil, len(data))
	if err != nil {
		t.Fatal(err)
	}
	size := frameSize{uint32(len(header)), 0}
	checksum := frameSize{uint32(checksumFrameBytes), 0}
	for name, data := range map[string][]byte{
		"none":                appendSeekTable(bytes.Clone(header), nil),
		"the header":          appendSeekTable(bytes.Clone(header), []frameSize{size}),
		"header and checksum": appendSeekTable(appendChecksumFrame(bytes.Clone(header), nil), []frameSize{size, checksum}),
	} {
		for way, err := range readBothWays(data) {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, %s: error %v", name, way, err)
			}
		}
	}
	table := appendSeekTable(nil, nil)
	binary.LittleEndian.PutUint32(table[skippableHeader:], framesMax+1)
	sparse := &sparseFile{header, table[skippableHeader:], 1 << 40}
	taken := allocated(func() { _, err = newFileReader(sparse, sparse.size, "sparse") })
	if c := (*CorruptError)(nil); !errors.As(err, &c) || c.Invariant != invSeekTable || taken > 8<<20 {
		t.Errorf("2^24 + 1 frames: error %v, %d bytes of memory", err, taken)
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
	var c *CorruptError
	if err := r.Err(); !errors.As(err, &c) || c.Invariant != invFrames || errors.Is(err, io.EOF) {
		t.Errorf("error %v, want one of a broken frame", err)
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

// A block that breaks in its middle has fewer keys than kinds.
func TestScanStaysAtAnError(t *testing.T) {
	f := forged(t)
	block := blockMessage(t, f.blocks[2])
	block.KeyTokens = block.KeyTokens[1:]
	f.blocks[2] = marshal(t, &tracev1.Trace{Block: []*tracev1.Block{block}})
	r, err := NewReader(bytes.NewReader(f.file(t)), "stream")
	if err != nil {
		t.Fatal(err)
	}
	ops := 0
	for r.Scan() {
		ops++
	}
	for range 10 {
		if r.Scan() || !errors.Is(r.Err(), ErrCorrupt) {
			t.Fatalf("behind the error: op %+v, error %v", r.Op(), r.Err())
		}
	}
	if ops != 6 {
		t.Errorf("%d ops before the broken block, want 6", ops)
	}
}

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

// refusedAlike checks that file and stream agree about data, and that errors say
// of what kind they are.
func refusedAlike(t *testing.T, data []byte) {
	t.Helper()
	errs := readBothWays(data)
	for way, err := range errs {
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotTrace) && !errors.Is(err, ErrVersion) {
			t.Errorf("%s: unclassified error %v", way, err)
		}
	}
	if file, stream := errs["file"], errs["stream"]; (file == nil) != (stream == nil) {
		t.Errorf("file: %v, stream: %v", file, stream)
	}
}

func FuzzReader(f *testing.F) {
	h, blocks := smallTrace()
	data := writeBlocks(f, h, blocks)
	f.Add(data)
	f.Add(data[:len(data)-20])
	f.Fuzz(refusedAlike)
}

// FuzzDump prints what can be read of a trace: each line is of a header or of an
// op, and ends.
func FuzzDump(f *testing.F) {
	h, blocks := smallTrace()
	f.Add(writeBlocks(f, h, blocks), false)
	f.Add(writeBlocks(f, h, blocks[:3]), true)
	f.Fuzz(func(t *testing.T, data []byte, asJSON bool) {
		r, err := NewReader(bytes.NewReader(data), "stream")
		if err != nil {
			return
		}
		var out bytes.Buffer
		_ = Dump(&out, r, asJSON) // what is broken is refused: FuzzReader looks at that
		for line := range bytes.Lines(out.Bytes()) {
			switch {
			case asJSON && !json.Valid(line):
				t.Fatalf("no JSON: %q", line)
			case !asJSON && line[0] != '#' && bytes.Count(line, []byte("\t")) < 4:
				t.Fatalf("no op: %q", line)
			}
		}
	})
}

// FuzzForgedTrace makes checksums and places right behind what it changes, so
// that the decoders are reached.
func FuzzForgedTrace(f *testing.F) {
	h, blocks := smallTrace()
	good := dissect(f, writeBlocks(f, h, blocks))
	header := marshal(f, &tracev1.Trace{Header: good.header})
	footer := marshal(f, &tracev1.Trace{Footer: good.footer})
	for i := range good.blocks {
		f.Add(i, header, good.blocks[i], footer)
	}
	f.Fuzz(func(t *testing.T, i int, header, block, footer []byte) {
		forged := &forgery{headerField: header, footer: new(tracev1.Footer), footerField: footer}
		forged.blocks = append(forged.blocks, good.blocks...)
		if i >= 0 && i < len(forged.blocks) {
			forged.blocks[i] = block
		}
		if body, err := unwrap(footer, traceFooter); err == nil && proto.Unmarshal(body, forged.footer) == nil {
			forged.footerField = nil
		}
		refusedAlike(t, forged.file(t))
	})
}
