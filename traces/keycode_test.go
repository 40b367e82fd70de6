package traces

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pianola/traces/keymap"
)

// keyTrace returns a trace whose phase run has keys of the given code, and all
// else that keys depend on: inserts, deletes, a slice of the key numbers, two
// phases with inserts, blocks cut anywhere.
func keyTrace(code KeyCode, victims bool, cut int) (*Header, []*Block) {
	const loaded = 1000
	h := testHeader()
	h.Keys.Prefix, h.Table, h.Seed = "k", "t", 5
	h.FirstKey, h.Records, h.InsertFrom = 3000, loaded, 9000
	m := KeyMap{Code: code}
	switch code {
	case CodeScrambled:
		m.Items, m.RoundKeys = loaded, [keymap.Rounds]uint64{5, 6, 7, 8}
	case CodeFolded:
		m.Items = loaded
	}
	if victims {
		h.Victims = &[keymap.Rounds]uint64{9, 8, 7, 6}
	}
	h.Phases[1].VisibilityOps, h.Phases[1].KeyMap = 70, m
	h.Phases = append(h.Phases, Phase{Name: "again", VisibilityOps: 3, KeyMap: m})
	t := keyTracer{h: h, r: rand.New(rand.NewPCG(uint64(code), 1)), cut: cut, insert: h.FirstKey}
	for range loaded {
		t.add(Insert, t.insert, 0)
	}
	for phase, ops := range []int{0, 3000, 500} {
		if phase == 0 {
			continue
		}
		t.begin(phase)
		for range ops {
			t.draw()
		}
	}
	t.flush()
	return h, t.blocks
}

type keyTracer struct {
	h             *Header
	r             *rand.Rand
	cut           int
	b             Block
	blocks        []*Block
	ops, phaseOps uint64
	insert        uint64
	before        uint64
	deletes       uint64
	inserts       []uint64 // indexes over the phase
	due           uint64
}

func (t *keyTracer) begin(phase int) {
	t.flush()
	t.before = t.h.Records
	if phase > 1 {
		t.before = t.insert - t.h.InsertFrom + t.h.Records
	}
	if phase == 1 {
		t.insert = t.h.InsertFrom
	}
	t.b.Phase, t.phaseOps, t.inserts = phase, 0, nil
}

func (t *keyTracer) visible() uint64 {
	v := t.h.Phases[t.b.Phase].VisibilityOps
	if v == 0 {
		return 0
	}
	n := t.before
	for _, i := range t.inserts {
		if i+v < t.phaseOps {
			n++
		}
	}
	return n
}

func (t *keyTracer) draw() {
	records := recordRange{t.h.FirstKey, t.h.Records, t.h.InsertFrom}
	m := &t.h.Phases[t.b.Phase].KeyMap
	switch x := t.r.IntN(10); {
	case x < 2:
		t.add(Insert, t.insert, 0)
	case x < 3 && t.h.Victims != nil && t.deletes < t.h.Records:
		t.add(Delete, records.key(mustScramble(t.h.Records, *t.h.Victims).Map(t.deletes)), 0)
	case x < 3:
		t.add(Delete, records.key(t.r.Uint64N(t.h.Records)), ^uint64(0))
	default:
		limit := t.visible()
		if m.Code == CodeScrambled || m.Code == CodeSuccessor {
			limit = t.h.Records
		}
		t.add(Read, records.key(t.r.Uint64N(limit)), ^uint64(0))
	}
}

func (t *keyTracer) add(k Kind, key, rank uint64) {
	b := &t.b
	if b.Len() == 0 {
		b.First, b.InsertBase, b.DeletesBefore, b.VisibleRecords = t.ops, t.insert, t.deletes, t.visible()
	}
	b.Kinds, b.Keys = append(b.Kinds, k), append(b.Keys, key)
	if t.h.Phases[b.Phase].Paced {
		t.due += t.r.Uint64N(1000)
		b.Due = append(b.Due, t.due)
	}
	if k == Insert {
		t.insert = key + 1
		t.inserts = append(t.inserts, t.phaseOps)
	}
	if k == Delete {
		t.deletes++
	}
	t.ops++
	t.phaseOps++
	if b.Len() == t.cut {
		t.flush()
	}
}

func (t *keyTracer) flush() {
	if t.b.Len() > 0 {
		b := t.b
		t.blocks = append(t.blocks, &b)
	}
	t.b = Block{Phase: t.b.Phase}
}

// readOps reads all ops from where the reader is.
func readOps(t *testing.T, r *Reader) (ops []Op) {
	t.Helper()
	for r.Scan() {
		ops = append(ops, *r.Op())
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return ops
}

func blockOps(blocks []*Block) (ops []Op) {
	for _, b := range blocks {
		for i := range b.Len() {
			var op Op
			b.Op(i, &op)
			ops = append(ops, op)
		}
	}
	return ops
}

func TestKeysOfEveryCodeComeBack(t *testing.T) {
	program(t, "zstd", "zstd")
	for code := range keyCodeLimit {
		for _, victims := range []bool{false, true} {
			for _, cut := range []int{BlockOps, 1500, 64, 7} {
				name := fmt.Sprintf("code %d, victims %v, blocks of %d", code, victims, cut)
				h, blocks := keyTrace(code, victims, cut)
				want := blockOps(blocks)
				data := writeBlocks(t, h, blocks)
				file := func() *Reader {
					r, err := newFileReader(&memoryFile{data}, int64(len(data)), "memory")
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					return r
				}
				stream, err := NewReader(bytes.NewReader(data), "stream")
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				ahead := file()
				ahead.DecodeAhead(3)
				for way, r := range map[string]*Reader{"file": file(), "stream": stream, "ahead": ahead} {
					sameOpLists(t, name+", "+way, readOps(t, r), want)
					if err := r.Close(); err != nil {
						t.Error(err)
					}
				}
				seekEverywhere(t, name, file, want, h)
				if cut == 1500 {
					out, err := program(t, "python3", "python3", "testdata/reader.py", traceFile(t, data)).Output()
					if err != nil || string(out) != dumpText(t, data) {
						t.Errorf("%s: testdata/reader.py: %v, or another dump", name, err)
					}
				}
			}
		}
	}
}

func sameOpLists(t *testing.T, name string, got, want []Op) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d ops, want %d", name, len(got), len(want))
	}
	for i := range want {
		want[i].Index = got[i].Index
		if got[i] != want[i] {
			t.Fatalf("%s: op %d is %+v, want %+v", name, i, got[i], want[i])
		}
	}
}

// seekEverywhere seeks ops and due times, also with blocks decoded ahead, and
// one place behind the other in one reader.
func seekEverywhere(t *testing.T, name string, open func() *Reader, want []Op, h *Header) {
	t.Helper()
	r := open()
	defer r.Close()
	for i, at := range []int{0, 999, 1000, 1001, 2500, 64 * 20, 3999, 4000, len(want) - 1, 7} {
		r.DecodeAhead(i % 3)
		if err := r.SeekOp(uint64(at)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !r.Scan() || r.Op().Index != uint64(at) {
			t.Fatalf("%s: sought op %d, found %+v, %v", name, at, r.Op(), r.Err())
		}
		for j := range 100 {
			if got := r.Op(); at+j < len(want) && (got.Key != want[at+j].Key || got.Kind != want[at+j].Kind || got.Due != want[at+j].Due) {
				t.Fatalf("%s: op %d behind op %d: %+v, want %+v", name, j, at, *got, want[at+j])
			}
			if !r.Scan() {
				break
			}
		}
		if err := r.Err(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	run := want[h.Records : h.Records+3000]
	for _, tick := range []uint64{0, run[0].Due, run[0].Due + 1, run[1700].Due, run[1700].Due + 1, run[2999].Due, run[2999].Due + 1} {
		r := open()
		if err := r.SeekDue(1, tick); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		first := 0
		for first < len(run) && run[first].Due < tick {
			first++
		}
		sameOpLists(t, fmt.Sprintf("%s, from tick %d on", name, tick), readOps(t, r), append([]Op(nil), want[int(h.Records)+first:]...))
		r.Close()
	}
}

func TestSeeksThatCantBe(t *testing.T) {
	h, blocks := smallTrace()
	data := writeBlocks(t, h, blocks)
	open := func() *Reader {
		r, err := newFileReader(&memoryFile{data}, int64(len(data)), "memory")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	stream, err := NewReader(bytes.NewReader(data), "stream")
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"an op behind the last":    open().SeekOp(21),
		"an op of a stream":        stream.SeekOp(3),
		"a time of a stream":       stream.SeekDue(1, 0),
		"a time of an unpaced one": open().SeekDue(0, 0),
		"a time of no phase":       open().SeekDue(3, 0),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "seek ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A block that is wrong is found behind a seek as well.
func TestASeekChecksWhatItReads(t *testing.T) {
	h, blocks := keyTrace(CodeAge, true, 64)
	data := writeBlocks(t, h, blocks)
	f := dissect(t, data)
	offset := f.footer.Blocks[40].Offset + 20
	data[offset] ^= 1
	for _, ahead := range []int{0, 2} {
		// The block itself, the one behind it, which is blind for its inserts, and
		// one before.
		for _, k := range []int{40, 41, 39} {
			r, err := newFileReader(&memoryFile{data}, int64(len(data)), "memory")
			if err != nil {
				t.Fatal(err)
			}
			r.DecodeAhead(ahead)
			err = r.SeekOp(f.footer.Blocks[k].FirstOp)
			for err == nil && r.Scan() {
			}
			if err == nil {
				err = r.Err()
			}
			if err == nil || !strings.Contains(err.Error(), "block 40") {
				t.Errorf("from block %d on, %d ahead: error %v", k, ahead, err)
			}
			r.Close()
		}
	}
}

// A rank takes the place of its key where it is given, and is found where it is
// not.
func TestRanksAreWhatKeysAreStoredBy(t *testing.T) {
	for code, limit := range map[KeyCode]uint64{CodeScrambled: 1000, CodeFolded: FoldedRanks} {
		h, blocks := keyTrace(code, false, BlockOps)
		h.Phases[1].KeyMap.Items = 1000
		c := newKeyCoder(h)
		c.use(h, 1)
		b := blocks[1]
		ranked := *b
		ranked.Ranks = make([]uint64, b.Len())
		for i, k := range b.Kinds {
			if k == Insert {
				continue
			}
			record, _ := c.records.record(b.Keys[i])
			ranked.Ranks[i] = ^uint64(0)
			for rank := range min(limit, 3000) {
				if c.hot[min(rank, c.hotBelow-1)] == record && rank < c.hotBelow {
					ranked.Ranks[i] = rank
					break
				}
			}
		}
		field := encodeField(t, h, &ranked)
		got, err := decodeField(h, field)
		if err != nil {
			t.Fatal(err)
		}
		sameOps(t, b, got)
		if plain := encodeField(t, h, b); code == CodeFolded && len(field) >= len(plain) {
			t.Errorf("%d bytes with ranks, %d without", len(field), len(plain))
		}
	}
}

// A block in which every op has a code takes its ranks as they are, and is
// refused as any other.
func TestRanksOfEveryOpAreStored(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, code := range []KeyCode{CodeScrambled, CodeFolded} {
		h, _ := keyTrace(code, false, BlockOps)
		items := h.Phases[1].KeyMap.Items
		c := newKeyCoder(h)
		c.use(h, 1)
		b := &Block{Phase: 1}
		for range 3000 {
			rank := r.Uint64N(items)
			record := rank
			if code == CodeScrambled {
				record = c.scramble.Map(rank)
			} else if r.IntN(2) == 0 {
				rank = FoldedRanks + r.Uint64()>>1
			} else {
				record = c.fold.Key(rank)
			}
			b.Kinds, b.Keys, b.Ranks = append(b.Kinds, Read), append(b.Keys, c.records.key(record)), append(b.Ranks, rank)
		}
		counts := kindCounts(b.Kinds)
		codes, err := c.encodeRanks(b, &counts)
		if err != nil {
			t.Fatal(err)
		}
		for j, got := range codes {
			want := b.Ranks[j]
			if record, _ := c.records.record(b.Keys[j]); code == CodeFolded && want >= FoldedRanks {
				want = FoldedRanks + record
			}
			if got != want {
				t.Fatalf("code %d: op %d has code %d, want %d", code, j, got, want)
			}
		}
		if code != CodeScrambled {
			continue
		}
		for _, rank := range []uint64{items, 1 << 63, ^uint64(0)} {
			b.Ranks[1234] = rank
			if _, err := c.encodeRanks(b, &counts); err == nil {
				t.Errorf("rank %d of %d is taken", rank, items)
			}
		}
	}
}

// A record so great that its key number would pass 2^64 is no record.
func TestRecordsBeyondEveryKey(t *testing.T) {
	const first = 1 << 40
	c := &keyCoder{
		records: recordRange{first, 10, first + 10}, m: KeyMap{Code: CodeFolded, Items: 10},
		hot: make([]uint64, FoldedRanks), hotBelow: FoldedRanks,
	}
	var column codeColumn
	column.encode([]uint64{1<<64 - 1})
	b := &Block{Kinds: []Kind{Read}}
	counts := kindCounts(b.Kinds)
	if err := c.decode(b, &column, &counts, nil); err == nil {
		t.Errorf("decoded to key number %d", b.Keys[0])
	}
}
