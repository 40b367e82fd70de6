// Package checktest replays the archived traces on a database with every value
// checked, and demands that the table ends up as it does in memory: one trace,
// one contents, whatever database it is replayed on.
package checktest

import (
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
	"pianola/traces"
	"pianola/traces/archive"
)

// Database is a database that can be had.
type Database struct {
	Driver *bindings.Driver
	// Properties are those that differ from the defaults: the address above all.
	Properties bindings.Properties
}

const (
	// slots is more than enough for ops to overtake each other.
	slots = 16
	// deadline is for servers that have just begun to run.
	deadline = 60 * time.Second
)

// Run replays the archive, YCSB's workloads and one with deletes, on the database
// and logs a row of the table of databases and workloads: the first digits of each
// digest. The database's table is dropped.
func Run(t *testing.T, d Database) {
	t.Helper()
	row := fmt.Sprintf("%-12s", d.Driver.Name)
	entries, err := archive.Entries()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name, func(t *testing.T) {
			path := file(t, e.Name)
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
			_, workload, _ := strings.Cut(e.Name, "-")
			row += fmt.Sprintf("  %s %s", workload, got.Digest[:12])
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

// file writes a trace of the archive to a file and returns its path.
func file(t *testing.T, name string) string {
	t.Helper()
	data, err := archive.Read(name)
	path := filepath.Join(t.TempDir(), name+".trace.zst")
	if err == nil {
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
