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
)

// A signal while a trace is written leaves nothing behind, and nothing of a
// file that was there is lost.
func TestSignalLeavesNothing(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "huge.trace")
			if err := os.WriteFile(file, []byte("mine"), 0o666); err != nil {
				t.Fatal(err)
			}
			p := scripttest.Start(t, exec.Command("tracegen", "-w", "workloada", "--ops", "10000000000", "--force", "-o", file))
			p.Await(filepath.Join(dir, ".huge.trace.*.tmp"), "")
			p.Signal(signal)
			if code := p.Wait(); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			if want := "tracegen: error: interrupted; nothing was written\n"; !strings.HasSuffix(p.Stderr(), want) {
				t.Errorf("standard error is %q, want %q at its end", p.Stderr(), want)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
				t.Errorf("the file that was there holds %.20q, %v", got, err)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("left are %v, %v", entries, err)
			}
		})
	}
}

// While nothing has to be removed, a signal ends the program as it does any
// other: also one that waits for a pipe.
func TestSignalEndsWhatWaitsForAPipe(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	p := scripttest.Start(t, exec.Command("tracegen", "-w", "workloada", "-o", fifo))
	p.AwaitStderr("note: no rate given")
	p.Signal(syscall.SIGINT)
	p.Wait()
	if status, ok := p.State().Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("%v, want an end by SIGINT", p.State())
	}
}
