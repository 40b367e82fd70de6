package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check every byte of a trace, and the laws of its operations",
		UsageText: "tracegen verify [--regenerate] FILE",
		Description: `Example:

  tracegen verify b.trace.zst
  tracegen verify --regenerate b.trace.zst

Checksums, counts and digests are computed anew and compared with those that the trace
states. What is wrong is told with its place; traces/FORMAT.md explains the invariants
that it names.

Then kinds, gaps, keys, scan lengths and fields are counted in classes, up to 16,777,216
operations of each phase, and compared by chi-square with the mix that header and spec
state and with what the spec makes of another seed. p is the probability of so great a
difference by chance; below 10^-9 the trace is refused. Due times that no chance is in
are compared one by one. --regenerate makes the trace again of its spec and seed and
compares the digests. FILE may be -, standard input.`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "regenerate", Usage: "make the trace again and compare the digests", DisableDefaultText: true}},
		Action: func(c *cli.Context) error {
			r, err := openTrace(c)
			if err != nil {
				return err
			}
			defer r.Close()
			r.DecodeAhead(decoders())
			laws, err := newFitSamples(r.Header())
			if err != nil {
				return err
			}
			totals, err := readAll(r, laws.add, c.App.ErrWriter)
			if err != nil {
				return err
			}
			var ops uint64
			for i := range totals.Phases {
				ops += totals.Phases[i].Count()
			}
			if _, err := fmt.Fprintf(c.App.Writer, "%s: sound, %d operations, digest %x\n", r.Path(), ops, totals.Digest); err != nil {
				return err
			}
			if err := testLaws(c, r, laws); err != nil {
				return err
			}
			if c.Bool("regenerate") {
				return regenerate(c, r, totals)
			}
			return nil
		},
	}
}
