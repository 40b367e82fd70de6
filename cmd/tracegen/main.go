// Command tracegen turns a workload spec into a trace: a deterministic stream
// of operations with due times, which replay issues against a database.
package main

import (
	"context"
	"errors"
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := newApp(stdin, stdout, stderr).RunContext(ctx, args)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = exit.With(exit.Interrupted, errors.New("interrupted; nothing was written"))
	}
	return exit.Report(stderr, "tracegen", err)
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	return &cli.App{
		Name:      "tracegen",
		Usage:     "turn a workload into a trace: a deterministic stream of operations with due times",
		UsageText: "tracegen [-w NAME|FILE]... [options] -o FILE\ntracegen info|dump FILE\ntracegen workloads [NAME]",
		Description: `Example, which works as printed:

  tracegen -w workloadb -o b.trace.zst

-w takes a ready workload (tracegen workloads lists them) or a file in the format of
YCSB's property files; docs/ycsb.md has every property. The same spec and seed give
the same operations on any machine; the digest that is printed proves it.

Exit codes: 0 done, 1 could not be done, 2 command line, property or spec is wrong,
130 interrupted.`,
		Version:                   version,
		HideHelpCommand:           true,
		Flags:                     generateFlags(),
		Action:                    generateAction(stdin, stdout, stderr),
		Commands:                  []*cli.Command{infoCommand(stdout), dumpCommand(stdout), workloadsCommand(stdout)},
		Reader:                    stdin,
		Writer:                    stdout,
		ErrWriter:                 stderr,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageError,
	}
}

func usageError(_ *cli.Context, err error, _ bool) error {
	return exit.With(exit.Usage, err, "tracegen --help lists the flags")
}

// oneFile returns the FILE of a subcommand.
func oneFile(c *cli.Context) (string, error) {
	if err := exit.FlagAfter(c.Args().Slice()); err != nil {
		return "", err
	}
	if c.NArg() != 1 {
		return "", exit.With(exit.Usage, errors.New("want one FILE"), "tracegen "+c.Command.Name+" --help shows an example")
	}
	return c.Args().First(), nil
}
