//go:build bench && unix

package tracegen

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"text/tabwriter"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"

	tracev1 "pianola/proto/trace/v1"
	"pianola/tracegen/dist"
	"pianola/tracegen/random"
	"pianola/traces"
	"pianola/traces/benchtable"
)

// The table of `make bench`: what a trace takes in bytes, and what making and
// reading it take in time: medians of CPU times of the whole process.
const (
	benchOps = 4_000_000
	// messageOps are those of the layout that others use, which is slow.
	messageOps = 1_000_000
)

// TestRatios prints the table. It fails where something can't be measured, and
// where a size, which is exact, misses its bar.
func TestRatios(t *testing.T) {
	fmt.Printf("%s, %s/%s, %d processors, %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), benchtable.Machine())
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	speedRows(t, out)
	samplerRows(t, out)
	decodeRow(t, out)
	sizeRows(t, out)
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s at the end\n", benchtable.Machine())
}

// benchSpec is a ready spec over so many records.
func benchSpec(t *testing.T, workload, law, arrivals string, records, ops int) *Spec {
	properties := []string{fmt.Sprintf("recordcount=%d", records), fmt.Sprintf("operationcount=%d", ops), "arrivals=" + arrivals, "target=100000"}
	if law != "" {
		properties = append(properties, "zipfian.range="+law)
	}
	return readySpec(t, workload, properties...)
}

// runAlone drops the load, of which the time is no matter here.
func runAlone(t *testing.T, spec *Spec) *Generator {
	g := mustGenerator(t, spec)
	last := len(g.phases) - 1
	g.phases, g.header.Phases = g.phases[last:], g.header.Phases[last:]
	return g
}

// discard writes the trace to nowhere.
func discard(t *testing.T, g *Generator) {
	w, err := traces.NewWriter(io.Discard, g.Header())
	if err == nil {
		err = g.Write(context.Background(), w, nil)
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// firstOps returns the first operations of a run, and their keys as text.
func firstOps(t *testing.T, spec *Spec) (ops []traces.Op, keys []string) {
	m := newMaker(runOf(t, spec))
	for len(ops) < messageOps {
		b := m.mustNext(t)
		for j := range b.Len() {
			var op traces.Op
			b.Op(j, &op)
			ops = append(ops, op)
			keys = append(keys, string(spec.Keys.Append(nil, op.Key)))
		}
	}
	return ops, keys
}

// messages writes an operation a message, each behind its length, by generated
// code and zstd at its default level. set fills the message in; all that it needs
// was made before.
func messages(t *testing.T, ops []traces.Op, m proto.Message, set func(i int, op *traces.Op, gap uint64)) {
	w, err := zstd.NewWriter(io.Discard, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	var buf []byte
	last := uint64(0)
	for i := range ops {
		set(i, &ops[i], ops[i].Due-last)
		last = ops[i].Due
		buf = binary.AppendUvarint(buf[:0], uint64(proto.Size(m)))
		if buf, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(buf, m); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(buf); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// numbered sends key numbers: BlockEntry has the numbers that an operation has.
func numbered(t *testing.T, ops []traces.Op) {
	var m tracev1.BlockEntry
	messages(t, ops, &m, func(_ int, op *traces.Op, gap uint64) {
		m.FirstTick, m.FirstOp, m.Size, m.Phase = gap, op.Key, uint32(op.Kind), uint32(op.Written)
	})
}

// named sends keys as text: Phase has a text and numbers.
func named(t *testing.T, ops []traces.Op, keys []string) {
	var m tracev1.Phase
	messages(t, ops, &m, func(i int, op *traces.Op, gap uint64) {
		m.Name, m.RateNumerator, m.RateDenominator, m.VisibilityOps = keys[i], gap, uint64(op.Kind), uint64(op.Written)
	})
}

// speedRows compare making, digest, encoding and compression with messages, whose
// making is not counted, and one processor with two.
func speedRows(t *testing.T, out io.Writer) {
	fmt.Fprintln(out, "make, digest, encode, compress: workload A\trecords\tarrivals\tns/op, CPU\tM op/s a core\ta message an op, ns\tratio\twithout key texts, ns\tratio\ttwo cores over one\t")
	for _, law := range []string{"exact", "ycsb"} {
		for _, records := range []int{1_000_000, 100_000_000} {
			for _, arrivals := range []string{"constant", "poisson"} {
				spec := benchSpec(t, "workloada", law, arrivals, records, benchOps)
				g := runAlone(t, spec)
				ops, keys := firstOps(t, spec)
				c := benchtable.Take(t, []benchtable.Case{
					{Processors: 1, N: benchOps, Run: func() { discard(t, g) }},
					{Processors: 1, N: len(ops), Run: func() { named(t, ops, keys) }},
					{Processors: 1, N: len(ops), Run: func() { numbered(t, ops) }},
					{Processors: 2, N: benchOps, Run: func() { discard(t, g) }},
				})
				fmt.Fprintf(out, "%s\t%.0e\t%s\t%.1f\t%.1f\t%.0f\t%.1f\t%.0f\t%.1f\t%.2f\t\n", law, float64(records), arrivals,
					c[0].CPU, 1e3/c[0].CPU, c[1].CPU, c[1].CPU/c[0].CPU, c[2].CPU, c[2].CPU/c[0].CPU, c[0].Wall/c[3].Wall)
			}
		}
	}
}

// samplerRows compare the draw of a rank with YCSB's formula, which has a power.
func samplerRows(t *testing.T, out io.Writer) {
	const draws = 1 << 22
	exact, err := dist.NewZipf(1_000_000, dist.YCSBTheta)
	if err != nil {
		t.Fatal(err)
	}
	ycsb := dist.NewYCSBZipf()
	stream, column := random.NewStream(1, "bench"), make([]uint64, traces.BlockOps)
	fill := func(law interface {
		Fill([]uint64, random.Stream, uint64)
	}) func() {
		return func() {
			for first := uint64(0); first < draws; first += traces.BlockOps {
				law.Fill(column, stream, first)
			}
		}
	}
	sum := uint64(0)
	c := benchtable.Take(t, []benchtable.Case{
		{Processors: 1, N: draws, Run: fill(exact)}, {Processors: 1, N: draws, Run: fill(ycsb)},
		{Processors: 1, N: draws, Run: func() {
			src := stream.At(0)
			for range draws {
				sum += ycsbFormula(src.Float64())
			}
		}},
	})
	if sum == 0 {
		t.Error("YCSB's formula draws rank 0 alone")
	}
	fmt.Fprintln(out, "\t\t\t\t\t\t\t\t\t\ndraw a rank\t\tns, CPU\tYCSB's formula, ns\tratio\t\t\t\t\t")
	for i, name := range []string{"exact", "ycsb"} {
		fmt.Fprintf(out, "%s\t\t%.1f\t%.1f\t%.1f\t\t\t\t\t\n", name, c[i].CPU, c[2].CPU, c[2].CPU/c[i].CPU)
	}
}

// ycsbFormula is ZipfianGenerator.nextLong of YCSB with the constants of its
// scrambled law.
func ycsbFormula(u float64) uint64 {
	const (
		items = 10_000_000_001.
		zetan = 26.46902820178302
		eta   = 0.2122
	)
	switch uz := u * zetan; {
	case uz < 1:
		return 0
	case uz < 1+0.5034:
		return 1
	}
	return uint64(items * math.Pow(eta*u-eta+1, 1/(1-0.99)))
}

// decodeRow reads a trace of a run back into columns.
func decodeRow(t *testing.T, out io.Writer) {
	fmt.Fprintln(out, "\t\t\t\t\t\t\t\t\t\nread: checksums, decompress, decode\tdigest\tns/op, CPU\tM op/s a core\tallocations an op\t\t\t\t\t")
	for _, law := range []string{"exact", "ycsb"} {
		g := runAlone(t, benchSpec(t, "workloada", law, "constant", 1_000_000, benchOps))
		f := write(t, g)
		for _, digested := range []bool{false, true} {
			var mallocs uint64
			c := benchtable.Take(t, []benchtable.Case{{Processors: 1, N: benchOps, Run: func() { mallocs = readAll(t, f.file, digested) }}})
			fmt.Fprintf(out, "%s\t%v\t%.1f\t%.1f\t%.5f\t\t\t\t\t\n", law, digested, c[0].CPU, 1e3/c[0].CPU, float64(mallocs)/benchOps)
		}
	}
}

// readAll reads a trace and returns how often that allocated.
func readAll(t *testing.T, file []byte, digested bool) uint64 {
	r, err := traces.NewReader(bytes.NewReader(file), "trace")
	if err != nil {
		t.Fatal(err)
	}
	if !digested {
		r.LeaveDigests()
	}
	var before, after runtime.MemStats
	var b traces.Block
	runtime.ReadMemStats(&before)
	for err == nil {
		err = r.NextBlock(&b)
	}
	runtime.ReadMemStats(&after)
	if err != io.EOF {
		t.Fatal(err)
	}
	return after.Mallocs - before.Mallocs
}

// sizeRows set the bits of a run beside the bound by its laws.
func sizeRows(t *testing.T, out io.Writer) {
	fmt.Fprintln(out, "\t\t\t\t\t\t\t\t\t\nsize: workload\tlaw\trecords\tarrivals\tbits/op\tbound\tover it\tbar\t\t")
	for _, c := range []struct {
		workload, law, name string
		bar                 float64
	}{
		{"workloada", "ycsb", "ycsb", 5}, {"workloada", "exact", "exact", 2}, {"workloadb", "ycsb", "ycsb", 5}, {"workloadc", "ycsb", "ycsb", 5},
		{"workloadd", "", "latest", 2}, {"workloade", "ycsb", "ycsb", 5}, {"workloadf", "ycsb", "ycsb", 5},
	} {
		for _, records := range []int{1_000_000, 100_000_000} {
			for _, arrivals := range []string{"constant", "poisson"} {
				g := runAlone(t, benchSpec(t, c.workload, c.law, arrivals, records, benchOps))
				bits := 8 * float64(runBytes(t, g)) / benchOps
				bounds := g.Bounds()
				bound := bounds[0].Total()
				over := 100 * (bits/bound - 1)
				fmt.Fprintf(out, "%s\t%s\t%.0e\t%s\t%.3f\t%.3f\t%+.2f %%\t%.0f %%\t\t\n", c.workload, c.name, float64(records), arrivals, bits, bound, over, c.bar)
				if over > c.bar {
					t.Errorf("%s, %s, %d records, %s: %.2f %% over the bound, more than %v %%", c.workload, c.name, records, arrivals, over, c.bar)
				}
			}
		}
	}
	debug.FreeOSMemory()
}

// runBytes returns the bytes of the trace but for its header.
func runBytes(t *testing.T, g *Generator) int64 {
	w, err := traces.NewWriter(io.Discard, g.Header())
	if err != nil {
		t.Fatal(err)
	}
	header := w.Offset()
	if err := g.Write(context.Background(), w, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.Offset() - header
}
