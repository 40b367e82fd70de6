// Package checktest replays small traces on a database with every value
// checked, and demands that the table ends up as it does in memory: one trace,
// one contents, whatever database it is replayed on.
package checktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/memory"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/tracegen"
	"pianola/tracegen/workloads"
	"pianola/traces"
	"pianola/traces/payload"
	"pianola/traces/tracetest"
)

// Database is a database that can be had.
type Database struct {
	Driver *bindings.Driver
	// Properties are those that differ from the defaults: the address above all.
	Properties bindings.Properties
}

const (
	records = 400
	ops     = 1500
	// slots is more than enough for ops to overtake each other.
	slots = 16
	// deadline is for servers that have just begun to run.
	deadline = 60 * time.Second
)

// Run replays YCSB's workloads, and a trace with deletes, on the database, and
// logs a row of the table of databases and workloads: the first digits of each
// digest. The database's table is dropped.
func Run(t *testing.T, d Database) {
	t.Helper()
	row := fmt.Sprintf("%-12s", d.Driver.Name)
	for _, w := range append(workloads.Names(), deletes) {
		t.Run(w, func(t *testing.T) {
			path := trace(t, w)
			want, err := replayed(t.Context(), path, Database{Driver: &memory.Driver})
			if err != nil {
				t.Fatal(err)
			}
			got, err := replayed(t.Context(), path, d)
			if err != nil {
				t.Fatal(err)
			}
			if *got != *want {
				t.Fatalf("%s ends with %d records of digest %s, memory with %d of %s", d.Driver.Name, got.Records, got.Digest, want.Records, want.Digest)
			}
			row += fmt.Sprintf("  %s %s", strings.TrimPrefix(w, "workload"), got.Digest[:12])
		})
	}
	t.Log(row)
}

// replayed replays a trace with every check there is. The error names all that
// was found.
func replayed(ctx context.Context, path string, d Database) (*measure.Contents, error) {
	trace, err := traces.Open(path)
	if err != nil {
		return nil, err
	}
	defer trace.Close()
	properties, err := d.Driver.Configure(d.Properties, nil)
	if err != nil {
		return nil, err
	}
	binding, err := d.Driver.New(properties)
	if err != nil {
		return nil, err
	}
	r := &replay.Runner{
		Trace: trace, Driver: d.Driver, Binding: binding, Properties: properties, Slots: slots, Deadline: deadline,
		Asap: true, Order: replay.KeyOrder, Drop: true, Check: true, ReadBack: true,
	}
	result, err := r.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("replay on %s: %w", d.Driver.Name, err)
	}
	var faults []error
	for i := range result.Phases {
		faults = append(faults, inspect(d.Driver.Name, &result.Phases[i]))
	}
	if !result.Trace.Confirmed || result.Contents == nil {
		faults = append(faults, fmt.Errorf("%s: the trace was not replayed in full: %s %s", d.Driver.Name, result.Void, result.Stopped))
	}
	return result.Contents, errors.Join(faults...)
}

// inspect demands that every op was completed and everything read was right.
func inspect(database string, p *measure.Phase) error {
	all, err := p.Total()
	if err != nil {
		return err
	}
	var faults []error
	if c := all.Counts; c.Completed != c.Offered || c.Expected+c.Raced+c.Orphaned > 0 {
		faults = append(faults, fmt.Errorf("%s, phase %s: %+v\n%v", database, p.Name, c, p.Errors))
	}
	reads := false
	for i := range p.Kinds {
		reads = reads || p.Kinds[i].Kind != traces.Insert.String()
	}
	if c := p.Check; c.Mismatched+c.Stale+c.Unchecked > 0 || reads && c.Values == 0 {
		faults = append(faults, fmt.Errorf("%s, phase %s: %d values right, %d unchecked; %d ops mismatched, %d stale\n%s",
			database, p.Name, c.Values, c.Unchecked, c.Mismatched, c.Stale, strings.Join(c.First, "\n")))
	}
	return errors.Join(faults...)
}

// trace writes the trace of a workload and returns its path.
func trace(t *testing.T, workload string) string {
	t.Helper()
	if workload == deletes {
		return tracetest.File(t, deletesHeader(), deletesOps())
	}
	text, ok := workloads.Read(workload)
	if !ok {
		t.Fatalf("there is no workload %q", workload)
	}
	spec, _, err := tracegen.Parse(tracegen.Input{
		Sources:   []tracegen.Source{{Name: workload, Text: text}},
		Overrides: []string{fmt.Sprint("recordcount=", records), fmt.Sprint("operationcount=", ops)},
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := tracegen.NewGenerator(spec, "test")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, err := traces.NewWriter(&file, g.Header())
	if err == nil {
		err = g.Write(context.Background(), w, func(tracegen.Progress) {})
	}
	if err == nil {
		_, err = w.Close()
	}
	path := filepath.Join(t.TempDir(), workload+".trace.zst")
	if err == nil {
		err = os.WriteFile(path, file.Bytes(), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// deletes is the name of a trace that also deletes.
const deletes = "deletes"

func deletesHeader() *traces.Header {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Records, h.Keys.Order = records, payload.Hashed
	for _, k := range []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.ReadModifyWrite, traces.Delete} {
		h.Phases[1].Mix = append(h.Phases[1].Mix, traces.Share{Kind: k, Share: "0.2"})
	}
	return h
}

// deletesOps deletes half the records, one after the other, while others are
// written and read; whole records and single fields.
func deletesOps() []traces.Op {
	out := tracetest.Inserts(records)
	next, dead := uint64(records), uint64(0)
	for i := range uint64(ops) {
		r := payload.Mix(i)
		op := traces.Op{Phase: 1, Due: i * 1e6, Kind: traces.Read, Key: dead + r%(next-dead)}
		switch r >> 32 % 8 {
		case 0, 1:
			op.Kind, op.Written = traces.Update, traces.FieldSet(r>>40%11)
		case 2, 3:
			op.Kind, op.Written, op.Read = traces.ReadModifyWrite, traces.FieldSet(r>>40%11), traces.FieldSet(r>>45%11)
		case 4:
			op.Kind, op.Key = traces.Delete, dead
			dead++
		case 5:
			op.Kind, op.Key = traces.Insert, next
			next++
		default:
			op.Read = traces.FieldSet(r >> 45 % 11)
		}
		out = append(out, op)
	}
	return out
}
