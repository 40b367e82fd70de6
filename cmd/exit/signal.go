package exit

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// CatchSignals is for work that must not be left half done. Until release is
// called, the first SIGINT, SIGTERM or SIGHUP calls first and cancels the
// context; the second one calls second and ends the program at once. A reader
// of standard output or error that went away is an error of the write, not the
// program's end.
//
// Everywhere else signals do what they do to any program: they end it.
func CatchSignals(parent context.Context, first, second func()) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(parent)
	caught := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		caught = append(caught, syscall.SIGHUP)
	}
	signals, pipes := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(signals, caught...)
	signal.Notify(pipes, syscall.SIGPIPE) // not Ignore, which Reset does not undo
	released := make(chan struct{})
	go func() {
		defer cancel()
		select {
		case <-signals:
		case <-released:
			return
		}
		first()
		cancel()
		select {
		case <-signals:
			second()
			os.Exit(Interrupted)
		case <-released:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(pipes)
		close(released)
	}
}
