package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
	"pianola/cmd/program"
	"pianola/traces"
)

func dumpCommand() *cli.Command {
	return &cli.Command{
		Name:      "dump",
		Usage:     "print a trace as text, an operation a line",
		UsageText: "tracegen dump [--json] [--from-op N | --from DURATION [--phase NAME]] [--ops N] FILE",
		Description: `Example:

  tracegen dump b.trace.zst | head -n 40
  tracegen dump --from 500ms --ops 10 b.trace.zst

Columns: index, phase, due time in ns ("-" if unpaced), kind, key as sent; then name=value
pairs: n= key number, fields= written (or read, where the operation only reads), read= of a
READMODIFYWRITE, len= scan length, bytes= value length. Lines with # tell header and phases;
the last one tells the digest, where all operations were printed.
FILE may be -, standard input, which can't be sought in.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "one JSON object a line", DisableDefaultText: true},
			&cli.Uint64Flag{Name: "from-op", Usage: "begin with the operation of index `N` over the trace"},
			&cli.DurationFlag{Name: "from", Usage: "begin with the first operation due `DURATION` after the start of its phase, or later"},
			&cli.StringFlag{Name: "phase", Usage: "the phase that --from counts from, by `NAME`", Value: "run"},
			&cli.Uint64Flag{Name: "ops", Usage: "print `N` operations at most"},
		},
		Action: dump,
	}
}

func dump(c *cli.Context) error {
	switch {
	case c.IsSet("from") && c.IsSet("from-op"):
		return exit.With(exit.Usage, errors.New("--from and --from-op say where to begin: give one of them"))
	case c.IsSet("phase") && !c.IsSet("from"):
		return exit.With(exit.Usage, errors.New("--phase has no effect without --from"))
	case c.Duration("from") < 0:
		return exit.With(exit.Usage, fmt.Errorf("--from %q: it is before the start", c.Duration("from")))
	}
	r, err := openTrace(c)
	if err != nil {
		return err
	}
	defer r.Close()
	switch {
	case c.IsSet("from"):
		err = seekDue(r, c.String("phase"), c.Duration("from"))
	case c.IsSet("from-op"):
		err = r.SeekOp(c.Uint64("from-op"))
	}
	switch {
	case err != nil:
		return err
	case c.IsSet("ops"):
		return traces.DumpPart(c.App.Writer, r, c.Bool("json"), c.Uint64("ops"))
	case c.IsSet("from") || c.IsSet("from-op"):
		return traces.DumpPart(c.App.Writer, r, c.Bool("json"), 1<<64-1)
	}
	return traces.Dump(c.App.Writer, r, c.Bool("json"))
}

// seekDue seeks the first operation of a phase that is due at the given time or
// later.
func seekDue(r *traces.Reader, phase string, due time.Duration) error {
	h := r.Header()
	i := slices.IndexFunc(h.Phases, func(p traces.Phase) bool { return p.Name == phase })
	if i < 0 {
		return fmt.Errorf("seek %v in phase %q of %s: there is no such phase", due, phase, r.Path())
	}
	tick, ticks := uint64(h.Tick), uint64(due)/uint64(h.Tick)
	if ticks*tick < uint64(due) {
		ticks++
	}
	return r.SeekDue(i, ticks)
}

// openTrace opens the FILE of a command.
func openTrace(c *cli.Context) (*traces.Reader, error) {
	path, err := program.OneFile(c, "FILE")
	if err != nil {
		return nil, err
	}
	return traces.Open(path)
}
