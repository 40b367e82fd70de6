//go:build unix

package exit

import (
	"context"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What follows the second signal ends the process; it is tested with the
// programs.
func TestCatchSignals(t *testing.T) {
	called := make(chan bool, 1)
	ctx, release := CatchSignals(t.Context(), func() { called <- true }, func() { t.Error("a second signal was seen") })
	if ctx.Err() != nil {
		t.Fatal("cancelled from the start")
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	<-called
	release()
}

func TestReleaseCancels(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx, release := CatchSignals(parent, func() { t.Error("a signal was seen") }, func() {})
	release()
	<-ctx.Done()
}

// While signals are caught a pipe without a reader is an error of the write,
// also on standard output.
func TestBrokenPipeIsAnError(t *testing.T) {
	_, release := CatchSignals(t.Context(), func() {}, func() {})
	defer release()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	saved, err := unix.Dup(1)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(saved)
	restore := func() {
		if err := unix.Dup2(saved, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Dup2(int(w.Fd()), 1); err != nil {
		t.Fatal(err)
	}
	_, err = os.Stdout.Write([]byte("x"))
	restore()
	if err == nil {
		t.Error("a write to a pipe without a reader succeeded")
	}
}
