// Package tracetest builds small traces by hand, for tests.
package tracetest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pianola/traces"
	"pianola/traces/payload"
)

// Header returns a header with the given phases: ordered keys "user0"…, ten
// fields of 100 bytes, ticks of 1 ns, 1000 records.
func Header(phases ...traces.Phase) *traces.Header {
	return &traces.Header{
		ToolVersion: "test",
		Generator:   "by hand",
		Seed:        1,
		Tick:        1,
		Keys:        payload.Keys{Prefix: "user", Padding: 1, Order: payload.Ordered},
		Fields:      payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}},
		Table:       "usertable",
		Records:     1000,
		Phases:      phases,
	}
}

// Load is an unpaced phase of inserts; Run is a paced one.
func Load() traces.Phase { return traces.Phase{Name: traces.LoadPhase} }

// Run is a paced phase with the stated mean rate.
func Run(rate uint64) traces.Phase {
	return traces.Phase{Name: "run", Paced: true, Rate: traces.Rate{Numerator: rate, Denominator: 1}}
}

// Write returns the bytes of a trace with the given ops, in blocks of at most
// blockOps. Index is filled in; everything else must be right.
func Write(t testing.TB, h *traces.Header, ops []traces.Op, blockOps int) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := traces.NewWriter(&buf, h)
	if err != nil {
		t.Fatal(err)
	}
	var b traces.Block
	insert := h.FirstKey
	if h.Phases[0].Name != traces.LoadPhase {
		insert += h.Records
	}
	flush := func() {
		if b.Len() == 0 {
			return
		}
		if err := w.WriteBlock(&b); err != nil {
			t.Fatal(err)
		}
		for _, k := range b.Kinds {
			if k == traces.Insert {
				insert++
			}
		}
		b.Reset()
	}
	for i := range ops {
		op := &ops[i]
		op.Index = uint64(i)
		if b.Len() == blockOps || b.Len() > 0 && b.Phase != op.Phase {
			flush()
		}
		if b.Len() == 0 {
			b.First, b.Phase, b.InsertBase = op.Index, op.Phase, insert
			b.VisibleRecords = visible(h, ops[:i], op.Phase)
			b.DeletesBefore = deletes(ops[:i])
		}
		b.Kinds = append(b.Kinds, op.Kind)
		b.Keys = append(b.Keys, op.Key)
		b.ScanLengths = append(b.ScanLengths, op.ScanLength)
		b.Read = append(b.Read, op.Read)
		b.Written = append(b.Written, op.Written)
		if h.Phases[op.Phase].Paced {
			b.Due = append(b.Due, op.Due)
		}
	}
	flush()
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func deletes(ops []traces.Op) (n uint64) {
	for i := range ops {
		if ops[i].Kind == traces.Delete {
			n++
		}
	}
	return n
}

// visible counts the records that the op behind before sees.
func visible(h *traces.Header, before []traces.Op, phase int) uint64 {
	delay := h.Phases[phase].VisibilityOps
	if delay == 0 {
		return 0
	}
	n := h.Records
	for i := range before {
		op := &before[i]
		if op.Kind != traces.Insert || h.Phases[op.Phase].Name == traces.LoadPhase {
			continue
		}
		if op.Phase < phase || uint64(len(before)-i) > delay {
			n++
		}
	}
	return n
}

// File writes a trace to a file of its own and returns its path.
func File(t testing.TB, h *traces.Header, ops []traces.Op) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.trace.zst")
	if err := os.WriteFile(path, Write(t, h, ops, traces.BlockOps), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Reads returns n READs of the first phase that is paced, one every gap, over
// the given number of records in turn.
func Reads(phase, n int, gap time.Duration, records uint64) []traces.Op {
	ops := make([]traces.Op, n)
	for i := range ops {
		ops[i] = traces.Op{Phase: phase, Kind: traces.Read, Due: uint64(i) * uint64(gap), Key: uint64(i) % records}
	}
	return ops
}

// Inserts returns the load of n records.
func Inserts(n int) []traces.Op {
	ops := make([]traces.Op, n)
	for i := range ops {
		ops[i] = traces.Op{Kind: traces.Insert, Key: uint64(i)}
	}
	return ops
}
