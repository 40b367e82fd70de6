// Command replay issues the operations of a trace against a database when they
// are due, and measures what becomes of them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
)

// version is set when a release is built.
var version = "devel"

func main() {
	ctx, interrupt := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		fmt.Fprintln(os.Stderr, "replay: interrupted: waiting for operations in flight; again ends at once")
		interrupt()
		<-signals
		os.Exit(exit.Interrupted)
	}()
	os.Exit(run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := newApp(stdin, stdout, stderr).RunContext(ctx, args)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = exit.With(exit.Interrupted, errors.New("interrupted before the first operation"))
	}
	return exit.Report(stderr, "replay", err)
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	return &cli.App{
		Name:      "replay",
		Usage:     "issue the operations of a trace when they are due, and measure what becomes of them",
		UsageText: "replay [options] FILE\nreplay report [--format FORM] RESULT.json\nreplay databases [NAME]",
		Description: `Example, which works as printed behind "tracegen -w workloadb -o b.trace.zst":

  replay b.trace.zst

loads the trace's records into pebble, an embedded store in a temporary directory, issues
every operation at its due time whatever the store does, and prints a report. Latency
counts from the due time. --db chooses another database; replay databases lists them.

Exit codes: 0 done, 1 could not be done, 2 command line or property is wrong, 3 more
operations failed than --allow-errors, 4 the generator was too slow for its figures to
be the database's, 130 interrupted, with a report of what was done.`,
		Version:                   version,
		HideHelpCommand:           true,
		Flags:                     replayFlags(),
		Action:                    replayAction(stdin, stdout, stderr),
		Commands:                  []*cli.Command{reportCommand(stdin, stdout, stderr), databasesCommand(stdout)},
		Reader:                    stdin,
		Writer:                    stdout,
		ErrWriter:                 stderr,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageError,
	}
}

func usageError(_ *cli.Context, err error, _ bool) error {
	return exit.With(exit.Usage, err, "replay --help lists the flags")
}
