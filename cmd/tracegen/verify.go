package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"pianola/traces"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check every byte of a trace",
		UsageText: "tracegen verify FILE",
		Description: `Example:

  tracegen verify b.trace.zst

Checksums, counts and digests are computed anew and compared with those that the trace
states. What is wrong is told with its place; traces/FORMAT.md explains the invariants
that it names. FILE may be -, standard input.`,
		Action: func(c *cli.Context) error {
			r, err := openTrace(c)
			if err != nil {
				return err
			}
			defer r.Close()
			r.DecodeAhead(runtime.GOMAXPROCS(0))
			totals, err := readAll(r, func(*traces.Block) {})
			if err != nil {
				return err
			}
			var ops uint64
			for i := range totals.Phases {
				ops += totals.Phases[i].Count()
			}
			_, err = fmt.Fprintf(c.App.Writer, "%s: sound, %d operations, digest %x\n", r.Path(), ops, totals.Digest)
			return err
		},
	}
}

// readAll reads and checks a trace to its end and shows each block to look.
func readAll(r *traces.Reader, look func(*traces.Block)) (*traces.Totals, error) {
	var b traces.Block
	for {
		switch err := r.NextBlock(&b); err {
		case nil:
			look(&b)
		case io.EOF:
			totals, _ := r.Totals() // known at the end
			return totals, nil
		default:
			return nil, err
		}
	}
}
