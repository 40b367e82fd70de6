//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pianola/cmd/scripttest"
	"pianola/replay/measure"
	"pianola/replay/report"
)

// longTrace makes a trace that no test waits for the end of.
func longTrace(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "long.trace")
	tracegen := filepath.Join(scripttest.Build(t, "../tracegen"), "tracegen")
	if out, err := exec.Command(tracegen, "-w", "workloada", "--records", "10", "--rate", "5000", "--ops", "300000", "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", tracegen, err, out)
	}
	return path
}

// One signal ends the run: what was done is reported and written.
func TestSignalEndsTheRunWithAReport(t *testing.T) {
	trace, dir := longTrace(t), t.TempDir()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		result, log := filepath.Join(dir, signal.String()+".json"), filepath.Join(dir, signal.String()+".tsv")
		p := scripttest.Start(t, exec.Command("replay", "--db", "memory", "-o", result, "--log-ops", log, trace))
		p.Await(filepath.Join(dir, "."+filepath.Base(log)+".*.tmp"), "\trun\t")
		p.Signal(signal)
		if code := p.Wait(); code != 130 {
			t.Errorf("%v: exit code %d, want 130", signal, code)
		}
		want := "replay: database memory (chosen)\n" +
			"replay: interrupted: waiting for operations in flight; again ends at once\n" +
			"replay: error: interrupted: the report is of what was done\n"
		if p.Stderr() != want {
			t.Errorf("%v: standard error is\n%swant\n%s", signal, p.Stderr(), want)
		}
		if !strings.Contains(p.Stdout(), "\nPARTIAL: the run was interrupted.") && !strings.HasPrefix(p.Stdout(), "PARTIAL: the run was interrupted.") {
			t.Errorf("%v: the report is not marked:\n%s", signal, p.Stdout())
		}
		checkPartial(t, result, log)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 4 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

// checkPartial holds the op log against the result.
func checkPartial(t *testing.T, result, log string) {
	t.Helper()
	f, err := os.Open(result)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	res, err := report.Read(f, result)
	if err != nil {
		t.Fatal(err)
	}
	var all measure.Counts
	for i := range res.Phases {
		for j := range res.Phases[i].Kinds {
			all.Add(res.Phases[i].Kinds[j].Counts)
		}
	}
	if !res.Partial || len(res.Phases) != 2 || res.Phases[1].NotReached == 0 {
		t.Errorf("partial %v, %d phases, %d ops not reached", res.Partial, len(res.Phases), res.Phases[len(res.Phases)-1].NotReached)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); uint64(lines) != 1+all.Offered {
		t.Errorf("the log has %d lines, of the header and %d ops", lines, all.Offered)
	}
}

// The store's temporary directory goes with the program, however that ends.
func TestSecondSignalLeavesNoStore(t *testing.T) {
	trace, dir, temporary := longTrace(t), t.TempDir(), t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	cmd := exec.Command("replay", "--log-ops", fifo, trace)
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
	p := scripttest.Start(t, cmd)
	if _, err := reader.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(temporary); err != nil || len(entries) != 1 {
		t.Fatalf("the store is at %v, %v", entries, err)
	}
	p.Signal(syscall.SIGINT)
	p.AwaitStderr("replay: interrupted: waiting for operations in flight; again ends at once\n")
	p.Signal(syscall.SIGINT)
	if code := p.Wait(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if entries, err := os.ReadDir(temporary); err != nil || len(entries) != 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

// The second signal ends a run at once that can't end: its log goes to a pipe
// that nobody reads. Nothing is left of the result.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	trace, dir := longTrace(t), t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	p := scripttest.Start(t, exec.Command("replay", "--db", "memory", "-o", filepath.Join(dir, "result.json"), "--log-ops", fifo, trace))
	p.Await(filepath.Join(dir, ".result.json.*.tmp"), "")
	// What was read came from the log: the run has begun, and will fill the pipe.
	if _, err := reader.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	p.Signal(syscall.SIGINT)
	p.AwaitStderr("replay: interrupted: waiting for operations in flight; again ends at once\n")
	p.Signal(syscall.SIGINT)
	if code := p.Wait(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if p.Stdout() != "" {
		t.Errorf("a report was printed:\n%s", p.Stdout())
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left are %v, %v", entries, err)
	}
}
