package traces_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pianola/traces"
	"pianola/traces/payload"
	"pianola/traces/tracetest"
)

// mixed returns a load and a paced run of every kind, from a fixed seed.
func mixed(records, ops int) (*traces.Header, []traces.Op) {
	r := rand.New(rand.NewPCG(1, 2))
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Hints = []traces.Hint{{Name: "threadcount", Value: "4"}}
	h.Phases[1].Mix = []traces.Share{{Kind: traces.Read, Share: "0.5"}}
	h.Records = uint64(records)
	out := tracetest.Inserts(records)
	next, due := uint64(records), uint64(0)
	for range ops {
		op := traces.Op{Phase: 1, Kind: traces.Kind(1 + r.IntN(int(traces.KindLimit)-1)), Due: due, Key: r.Uint64N(next)}
		due += r.Uint64N(2_000_000)
		switch op.Kind {
		case traces.Insert:
			op.Key = next
			next++
		case traces.Scan:
			op.ScanLength = 1 + uint32(r.IntN(100))
		}
		if op.Kind.Reads() {
			op.Read = traces.FieldSet(r.IntN(11))
		}
		if op.Kind.Writes() {
			op.Written = traces.FieldSet(r.IntN(11))
		}
		out = append(out, op)
	}
	return h, out
}

func read(t *testing.T, r *traces.Reader) []traces.Op {
	t.Helper()
	var out []traces.Op
	for r.Scan() {
		out = append(out, *r.Op())
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRoundTripFromFileAndFromStream(t *testing.T) {
	h, ops := mixed(300, 2000)
	for _, blockOps := range []int{1, 7, 300, traces.BlockOps} {
		data := tracetest.Write(t, h, ops, blockOps)
		path := filepath.Join(t.TempDir(), "x.trace.zst")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := traces.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		stream, err := traces.NewReader(bytes.NewReader(data), "stream")
		if err != nil {
			t.Fatal(err)
		}
		if _, known := stream.Totals(); known {
			t.Error("a stream knows its totals before its end")
		}
		for _, r := range []*traces.Reader{file, stream} {
			if got := read(t, r); !slices.Equal(got, ops) {
				t.Fatalf("blocks of %d: %d ops read differ from %d written", blockOps, len(got), len(ops))
			}
			totals, known := r.Totals()
			if !known || totals.Phases[0].Ops[traces.Insert] != 300 || totals.Phases[1].Count() != 2000 {
				t.Errorf("totals %+v, known %v", totals, known)
			}
			if r.Header().Hints[0] != h.Hints[0] || r.Header().Keys != h.Keys || r.Header().Fields != h.Fields {
				t.Errorf("header %+v", r.Header())
			}
		}
	}
}

func TestDigestDependsOnOpsAloneAndNeverChanges(t *testing.T) {
	h, ops := mixed(300, 2000)
	var digests []string
	for _, blockOps := range []int{1, 7, 300, traces.BlockOps} {
		r, err := traces.NewReader(bytes.NewReader(tracetest.Write(t, h, ops, blockOps)), "stream")
		if err != nil {
			t.Fatal(err)
		}
		read(t, r)
		totals, _ := r.Totals()
		digests = append(digests, hex.EncodeToString(totals.Digest[:]))
	}
	// Computed by the second implementation in testdata/digest.py.
	const want = "f66682b8301dd0f752de90b8477a88f012f69b601809b189e73446e632594ed4"
	for _, got := range digests {
		if got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
	}
	change := func(name string, f func(h *traces.Header, ops []traces.Op)) {
		h, ops := mixed(300, 2000)
		f(h, ops)
		r, err := traces.NewReader(bytes.NewReader(tracetest.Write(t, h, ops, 512)), "stream")
		if err != nil {
			t.Fatal(err)
		}
		read(t, r)
		totals, _ := r.Totals()
		if hex.EncodeToString(totals.Digest[:]) == want {
			t.Errorf("%s does not change the digest", name)
		}
	}
	first := func(ops []traces.Op, k traces.Kind) *traces.Op {
		i := slices.IndexFunc(ops, func(op traces.Op) bool { return op.Phase == 1 && op.Kind == k })
		return &ops[i]
	}
	change("the seed", func(h *traces.Header, _ []traces.Op) { h.Seed++ })
	change("the table", func(h *traces.Header, _ []traces.Op) { h.Table = "t" })
	change("the tick", func(h *traces.Header, _ []traces.Op) { h.Tick = 10 })
	change("the key prefix", func(h *traces.Header, _ []traces.Op) { h.Keys.Prefix = "key" })
	change("the key order", func(h *traces.Header, _ []traces.Op) { h.Keys.Order = payload.Hashed })
	change("the padding", func(h *traces.Header, _ []traces.Op) { h.Keys.Padding = 9 })
	change("the field count", func(h *traces.Header, _ []traces.Op) { h.Fields.Count = 11 })
	change("the value length", func(h *traces.Header, _ []traces.Op) { h.Fields.Length.Constant = 99 })
	change("a phase name", func(h *traces.Header, _ []traces.Op) { h.Phases[1].Name = "other" })
	change("a key", func(_ *traces.Header, ops []traces.Op) { first(ops, traces.Read).Key ^= 1 })
	change("a due time", func(_ *traces.Header, ops []traces.Op) { ops[len(ops)-1].Due++ })
	change("a scan length", func(_ *traces.Header, ops []traces.Op) { first(ops, traces.Scan).ScanLength++ })
	change("a read field", func(_ *traces.Header, ops []traces.Op) { op := first(ops, traces.Read); op.Read = (op.Read + 1) % 11 })
	change("a written field", func(_ *traces.Header, ops []traces.Op) {
		op := first(ops, traces.Update)
		op.Written = (op.Written + 1) % 11
	})
	change("a kind", func(_ *traces.Header, ops []traces.Op) {
		op := first(ops, traces.Delete)
		op.Kind = traces.Update
	})
	r, err := traces.NewReader(bytes.NewReader(tracetest.Write(t, func() *traces.Header {
		h, _ := mixed(300, 2000)
		h.Hints, h.Spec, h.Generator, h.ToolVersion, h.Phases[1].KeyLaw = nil, "other", "other", "other", "other"
		return h
	}(), ops, 512)), "stream")
	if err != nil {
		t.Fatal(err)
	}
	read(t, r)
	if totals, _ := r.Totals(); hex.EncodeToString(totals.Digest[:]) != want {
		t.Error("how the ops were made changes the digest")
	}
}

func TestASecondImplementationComputesTheDigestFromTheDump(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatal("python3 is missing; this test runs testdata/digest.py (Debian package python3)")
	}
	small, few := mixed(300, 2000)
	large, many := mixed(70_000, 140_000) // more than a chunk in each phase
	small.Fields.Prefix, small.Table = "f\t\\", "täble"
	for _, c := range []struct {
		h   *traces.Header
		ops []traces.Op
	}{{small, few}, {large, many}} {
		r, err := traces.NewReader(bytes.NewReader(tracetest.Write(t, c.h, c.ops, 50_000)), "stream")
		if err != nil {
			t.Fatal(err)
		}
		var dump bytes.Buffer
		if err := traces.Dump(&dump, r, false); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("python3", "testdata/digest.py")
		cmd.Stdin, cmd.Stderr = &dump, os.Stderr
		out, err := cmd.Output()
		totals, _ := r.Totals()
		if want := hex.EncodeToString(totals.Digest[:]); strings.TrimSpace(string(out)) != want || err != nil {
			t.Errorf("testdata/digest.py: %v, digest %s, want %s", err, out, want)
		}
	}
}

func TestSkipToReadsTheLaterPhasesOnly(t *testing.T) {
	h, ops := mixed(300, 200)
	path := tracetest.File(t, h, ops)
	r, err := traces.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.SkipTo(1); err != nil {
		t.Fatal(err)
	}
	if got := read(t, r); !slices.Equal(got, ops[300:]) {
		t.Errorf("read %d ops, want the 200 of phase run", len(got))
	}
}

// open reads data in both ways and returns the first error of each.
func open(t *testing.T, data []byte) [2]error {
	t.Helper()
	all := func(r *traces.Reader, err error) error {
		if err != nil {
			return err
		}
		defer r.Close()
		for r.Scan() {
		}
		return r.Err()
	}
	path := filepath.Join(t.TempDir(), "x.trace.zst")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return [2]error{all(traces.Open(path)), all(traces.NewReader(bytes.NewReader(data), "stream"))}
}

func TestErrorsNamePlaceAndReason(t *testing.T) {
	h, ops := mixed(20, 100)
	data := tracetest.Write(t, h, ops, 64)
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "not a trace: it is empty"},
		{"text", []byte("recordcount=1000\n"), "not a trace"},
		{"other zstd", []byte("\x28\xb5\x2f\xfd\x04\x00\x29\x00\x00hello\x89\x8a\xd2\x9f"), ""},
		{"cut", data[:len(data)-30], "corrupt trace at offset"},
	} {
		for way, err := range open(t, c.data) {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want one with %q (way %d)", c.name, err, c.want, way)
			}
		}
	}
	if _, err := traces.Open(filepath.Join(t.TempDir(), "absent")); err == nil || !strings.Contains(err.Error(), "open trace") {
		t.Errorf("absent file: %v", err)
	}
	if _, err := traces.Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("directory: %v", err)
	}
}

func TestWriterRefusesWhatNoTraceHolds(t *testing.T) {
	for name, f := range map[string]func(b *traces.Block){
		"no ops":               func(b *traces.Block) { b.Reset() },
		"an unknown kind":      func(b *traces.Block) { b.Kinds[0] = 77 },
		"a short column":       func(b *traces.Block) { b.Keys = b.Keys[:1] },
		"a wrong first op":     func(b *traces.Block) { b.First = 5 },
		"falling due times":    func(b *traces.Block) { b.Due[0], b.Due[1] = 9, 3 },
		"a key beyond 63 bits": func(b *traces.Block) { b.Keys[0] = 1 << 63 },
		"a field not there":    func(b *traces.Block) { b.Read = []traces.FieldSet{11, 0} },
		"an unknown phase":     func(b *traces.Block) { b.Phase = 1 },
		"a misnumbered insert": func(b *traces.Block) { b.Kinds[0], b.InsertBase = traces.Insert, 1000 },
		"no due times":         func(b *traces.Block) { b.Due = nil },
	} {
		w, err := traces.NewWriter(io.Discard, tracetest.Header(tracetest.Run(1000)))
		if err != nil {
			t.Fatal(err)
		}
		b := traces.Block{InsertBase: 1000, Kinds: []traces.Kind{traces.Read, traces.Read}, Keys: []uint64{1, 2}, Due: []uint64{0, 10}}
		f(&b)
		if err := w.WriteBlock(&b); err == nil {
			t.Errorf("%s: written", name)
		}
		if _, err := w.Close(); err == nil {
			t.Errorf("%s: closed without an error", name)
		}
	}
}

// shortWriter fails once n bytes are written, as a full disk does.
type shortWriter struct{ n int }

func (s *shortWriter) Write(p []byte) (int, error) {
	if len(p) > s.n {
		n := s.n
		s.n = 0
		return n, errors.New("no space left on device")
	}
	s.n -= len(p)
	return len(p), nil
}

func TestWriterReportsAFullDisk(t *testing.T) {
	h, ops := mixed(20, 100)
	size := len(tracetest.Write(t, h, ops, 200))
	for n := range size {
		out := &shortWriter{n}
		w, err := traces.NewWriter(out, h)
		if err == nil {
			b := block(ops[:20])
			err = w.WriteBlock(&b)
		}
		if err == nil {
			_, err = w.Close()
		}
		if n < size/4 && err == nil {
			t.Fatalf("after %d bytes: no error", n)
		}
	}
}

func block(ops []traces.Op) traces.Block {
	b := traces.Block{First: ops[0].Index, Phase: ops[0].Phase}
	for _, op := range ops {
		b.Kinds = append(b.Kinds, op.Kind)
		b.Keys = append(b.Keys, op.Key)
	}
	return b
}

func TestDump(t *testing.T) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Records = 1
	h.Tick = 1000
	ops := []traces.Op{
		{Kind: traces.Insert},
		{Phase: 1, Kind: traces.Read, Due: 1},
		{Phase: 1, Kind: traces.Update, Due: 2, Written: traces.OneField(3)},
		{Phase: 1, Kind: traces.Scan, Due: 3, ScanLength: 7, Read: traces.OneField(0)},
		{Phase: 1, Kind: traces.ReadModifyWrite, Due: 4, Written: traces.OneField(9)},
		{Phase: 1, Kind: traces.Delete, Due: 5},
	}
	dump := func(asJSON bool) []string {
		r, err := traces.NewReader(bytes.NewReader(tracetest.Write(t, h, ops, 100)), "stream")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := traces.Dump(&out, r, asJSON); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, "#") {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
			}
		}
		return lines
	}
	want := []string{
		"0\tload\t-\tINSERT\tuser0\tn=0\tfields=all\tbytes=100",
		"1\trun\t1000\tREAD\tuser0\tn=0\tfields=all",
		"2\trun\t2000\tUPDATE\tuser0\tn=0\tfields=field3\tbytes=100",
		"3\trun\t3000\tSCAN\tuser0\tn=0\tfields=field0\tlen=7",
		"4\trun\t4000\tREADMODIFYWRITE\tuser0\tn=0\tfields=field9\tread=all\tbytes=100",
		"5\trun\t5000\tDELETE\tuser0\tn=0",
	}
	if got := dump(false); !slices.Equal(got, want) {
		t.Errorf("dump:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	asJSON := strings.Join(dump(true), "\n")
	for _, line := range []string{
		`{"index":0,"phase":"load","due":null,"kind":"INSERT","key":"user0","n":0,"fields":"all","bytes":100}`,
		`{"index":3,"phase":"run","due":3000,"kind":"SCAN","key":"user0","n":0,"fields":"field0","len":7}`,
	} {
		if !strings.Contains(asJSON, line) {
			t.Errorf("JSON dump lacks %s:\n%s", line, asJSON)
		}
	}
}

// Where lengths vary, a dump lists that of each value written.
func TestDumpOfVaryingLengths(t *testing.T) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Records, h.Tick, h.Fields.Count = 1, 1000, 3
	var err error
	if h.Fields.Length, err = payload.UniformLength(0, 1000); err != nil {
		t.Fatal(err)
	}
	ops := []traces.Op{
		{Kind: traces.Insert},
		{Phase: 1, Kind: traces.Update, Due: 1, Written: traces.OneField(2)},
		{Phase: 1, Kind: traces.Update, Due: 2, Written: traces.OneField(2)},
	}
	length := func(field int, version uint64) int {
		return len(h.Fields.Append(nil, h.Seed, 0, field, version))
	}
	for asJSON, want := range map[bool][]string{
		false: {
			fmt.Sprintf("fields=all\tbytes=%d,%d,%d\n", length(0, 0), length(1, 0), length(2, 0)),
			fmt.Sprintf("fields=field2\tbytes=%d\n", length(2, 1)),
			fmt.Sprintf("fields=field2\tbytes=%d\n", length(2, 2)),
		},
		true: {
			fmt.Sprintf(`"fields":"all","bytes":[%d,%d,%d]}`, length(0, 0), length(1, 0), length(2, 0)),
			fmt.Sprintf(`"fields":"field2","bytes":[%d]}`, length(2, 1)),
			fmt.Sprintf(`"fields":"field2","bytes":[%d]}`, length(2, 2)),
		},
	} {
		r, err := traces.NewReader(bytes.NewReader(tracetest.Write(t, h, ops, 100)), "stream")
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Header().Fields.Length.String(); got != "uniform 0 1000" {
			t.Errorf("the law became %q", got)
		}
		var out bytes.Buffer
		if err := traces.Dump(&out, r, asJSON); err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(out.String(), line) {
				t.Errorf("dump lacks %q:\n%s", line, out.String())
			}
		}
	}
}
