//go:build bench && unix

package replay_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"text/tabwriter"
	"time"

	"pianola/bindings/null"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/traces"
	"pianola/traces/benchtable"
)

// TestRatios prints the replayer's rows of the table of `make bench`. Exact
// quantities fail where they miss their bars: allocations, due times, ops that
// were not completed. Times are printed beside theirs.
func TestRatios(t *testing.T) {
	fmt.Printf("%s, %s/%s, %d processors, %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), benchtable.Machine())
	g := buildGenerator(t)
	rateRows(t, g)
	latenessRows(t)
	driftRows(t, g)
	fmt.Printf("%s at the end\n", benchtable.Machine())
}

// generator is the program that makes traces by real laws; the replayer's room
// knows the file alone.
type generator struct{ program, dir string }

func buildGenerator(t *testing.T) generator {
	dir := t.TempDir()
	g := generator{filepath.Join(dir, "tracegen"), dir}
	if out, err := exec.Command("go", "build", "-o", g.program, "../cmd/tracegen").CombinedOutput(); err != nil {
		t.Fatalf("build tracegen: %v\n%s", err, out)
	}
	return g
}

// trace makes a trace with the given arguments and returns its path.
func (g generator) trace(t *testing.T, arguments ...string) string {
	f, err := os.CreateTemp(g.dir, "*.trace.zst")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if out, err := exec.Command(g.program, append(arguments, "--force", "-o", f.Name())...).CombinedOutput(); err != nil {
		t.Fatalf("tracegen %q: %v\n%s", arguments, err, out)
	}
	return f.Name()
}

const (
	rateOps = 8_000_000
	// fewOps cost what a run costs whatever its length.
	fewOps = 100_000
	// Bars in ops per second.
	oneCoreBar, twoCoresBar = 5e6, 9e6
	// allocationBar leaves room for what each interval of a second and each chunk
	// of 65,536 ops allocates, a few ten thousandths of an op, and for no op.
	allocationBar = 0.001
)

// rateRows show how fast phase run goes into null with everything on: digest,
// values, histograms, intervals and deadlines. Allocations are those of a long run
// over those of a short one.
func rateRows(t *testing.T, g generator) {
	type row struct {
		workload, law string
		paced         bool
	}
	var rows []row
	var cases []benchtable.Case
	for _, workload := range []string{"workloada", "workloadc"} {
		for _, law := range []string{"ycsb", "exact"} {
			var paths []string
			for _, n := range []int{rateOps, fewOps} {
				paths = append(paths, g.trace(t, "-w", workload, "-p", "zipfian.range="+law, "--records", "1000000", "--ops", fmt.Sprint(n), "--rate", "100000"))
			}
			for _, paced := range []bool{false, true} {
				rows = append(rows, row{workload, law, paced})
				cases = append(cases,
					benchtable.Case{Processors: 1, N: rateOps, Run: func() { fastRun(t, paths[0], paced, rateOps) }},
					benchtable.Case{Processors: 2, N: rateOps, Run: func() { fastRun(t, paths[0], paced, rateOps) }},
					benchtable.Case{Processors: 1, N: fewOps, Run: func() { fastRun(t, paths[1], paced, fewOps) }},
					benchtable.Case{Processors: 2, N: fewOps, Run: func() { fastRun(t, paths[1], paced, fewOps) }})
			}
		}
	}
	costs := benchtable.Take(t, cases)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "\nreplay into null\tlaw\tdue\tns/op, CPU\tM op/s, one core\tbar %.0f\tns/op, CPU, two\tM op/s, two cores\tbar %.0f\tallocations/op\tbar 0\t\n", oneCoreBar/1e6, twoCoresBar/1e6)
	for i, r := range rows {
		c := costs[4*i : 4*i+4]
		due := "closed loop"
		if r.paced {
			due = "all at once"
		}
		allocations := max(allocationsPerOp(c[0], c[2]), allocationsPerOp(c[1], c[3]))
		fmt.Fprintf(out, "%s\t%s\t%s\t%.1f\t%.2f\t%s\t%.1f\t%.2f\t%s\t%.4f\t%s\t\n", r.workload, r.law, due,
			c[0].CPU, 1e3/c[0].CPU, verdictOn(false, 1e9/c[0].CPU >= oneCoreBar),
			c[1].CPU, 1e3/c[1].Wall, verdictOn(false, 1e9/c[1].Wall >= twoCoresBar),
			allocations, verdictOn(false, allocations <= allocationBar))
		if allocations > allocationBar {
			t.Errorf("%s, %s, %s: %.4f allocations an op, more than %v", r.workload, r.law, due, allocations, allocationBar)
		}
	}
	flush(t, out)
}

// allocationsPerOp leaves out what a short run allocates as well.
func allocationsPerOp(long, short benchtable.Cost) float64 {
	return max(0, long.Allocations*rateOps-short.Allocations*fewOps) / (rateOps - fewOps)
}

// fastRun replays phase run as fast as it goes: as a closed loop, or by a
// schedule that is over before the first op is done.
func fastRun(t *testing.T, path string, paced bool, n uint64) {
	r := runnerOn(t, &null.Driver)
	r.Phases, r.Slots, r.Asap, r.Deadline = replay.RunOnly, 1000, !paced, time.Hour
	if paced {
		r.SpeedNumerator, r.SpeedDenominator = 1_000_000, 1
	}
	confirmedRun(t, r, path, n)
}

// confirmedRun runs r on a trace and returns its last phase; it fails unless
// all n ops were completed and the digest confirmed.
func confirmedRun(t *testing.T, r *replay.Runner, path string, n uint64) *measure.Phase {
	var err error
	if r.Trace, err = traces.Open(path); err != nil {
		t.Fatal(err)
	}
	defer r.Trace.Close()
	res, err := r.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p := &res.Phases[len(res.Phases)-1]
	if all := total(t, p); all.Counts.Completed != n || p.Digest.Status != measure.DigestConfirmed {
		t.Fatalf("%+v, digest %+v", all.Counts, p.Digest)
	}
	return p
}
