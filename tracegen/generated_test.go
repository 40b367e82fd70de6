package tracegen

import (
	"bytes"
	"context"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pianola/tracegen/workloads"
	"pianola/traces"
)

// readySpec parses a ready spec with properties on top, each "name=value".
func readySpec(t testing.TB, name string, properties ...string) *Spec {
	t.Helper()
	text, ok := workloads.Read(name)
	if !ok {
		t.Fatalf("no ready spec %q", name)
	}
	spec, _, err := Parse(Input{Sources: []Source{{name, text}}, Overrides: properties})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// mixSpec is a spec of 1000 records and 1000 READs, but for the properties.
func mixSpec(t testing.TB, properties ...string) *Spec {
	t.Helper()
	spec, _, err := Parse(Input{
		Sources:   []Source{{"mix", []byte("recordcount=1000\noperationcount=1000\nreadproportion=1\nupdateproportion=0\n")}},
		Overrides: properties,
	})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// withRate sets a rate that no decimal states.
func withRate(spec *Spec, numerator, denominator uint64) *Spec {
	spec.Rate = traces.Rate{Numerator: numerator, Denominator: denominator}
	return spec
}

func mustGenerator(t testing.TB, spec *Spec) *Generator {
	t.Helper()
	g, err := NewGenerator(spec, "test")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// generated is a trace that a generator has written.
type generated struct {
	file   []byte
	totals *traces.Totals
}

func write(t testing.TB, g *Generator) generated {
	t.Helper()
	var file bytes.Buffer
	w, err := traces.NewWriter(&file, g.Header())
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Write(context.Background(), w, nil); err != nil {
		t.Fatal(err)
	}
	totals, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return generated{file.Bytes(), totals}
}

// digest returns the digest of the trace that a spec makes.
func digest(t testing.TB, spec *Spec) [32]byte {
	t.Helper()
	return write(t, mustGenerator(t, spec)).totals.Digest
}

// blocks reads the file back and calls each with the blocks of a phase.
func (f generated) blocks(t testing.TB, phase string, each func(b *traces.Block)) {
	t.Helper()
	r, err := traces.NewReader(bytes.NewReader(f.file), "generated")
	if err != nil {
		t.Fatal(err)
	}
	var b traces.Block
	for {
		err := r.NextBlock(&b)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Header().Phases[b.Phase].Name == phase {
			each(&b)
		}
	}
}

// ops reads the file back and calls each with the operations of a phase, and
// their index in it.
func (f generated) ops(t testing.TB, phase string, each func(i uint64, op *traces.Op)) {
	t.Helper()
	var op traces.Op
	f.blocks(t, phase, func(b *traces.Block) {
		for i := range b.Len() {
			b.Op(i, &op)
			each(b.PhaseFirst+uint64(i), &op)
		}
	})
}

// all returns the operations of a phase.
func (f generated) all(t testing.TB, phase string) []traces.Op {
	t.Helper()
	var ops []traces.Op
	f.ops(t, phase, func(_ uint64, op *traces.Op) { ops = append(ops, *op) })
	return ops
}

// goldenRows reads a table of testdata/ycsb without its header line.
func goldenRows(t testing.TB, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "ycsb", name))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		rows = append(rows, strings.Split(strings.TrimSpace(line), "\t"))
	}
	if len(rows) < 2 {
		t.Fatalf("%s holds %d lines", name, len(rows))
	}
	return rows[1:]
}

// exactDue is floor(n·10^9·den/num) in wide integers.
func exactDue(n uint64, rate traces.Rate) uint64 {
	due := new(big.Int).SetUint64(n)
	due.Mul(due, big.NewInt(1e9)).Mul(due, new(big.Int).SetUint64(rate.Denominator))
	return due.Quo(due, new(big.Int).SetUint64(rate.Numerator)).Uint64()
}
