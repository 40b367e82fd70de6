package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"pianola/traces"
)

func dumpCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:      "dump",
		Usage:     "print a trace as text, an operation a line",
		UsageText: "tracegen dump [--json] FILE",
		Description: `Example:

  tracegen dump b.trace.zst | head

Columns: index, phase, due time in ns ("-" if unpaced), kind, key as sent; then name=value
pairs: n= key number, fields= written (or read, where the operation only reads), read= of a
READMODIFYWRITE, len= scan length, bytes= value length. Lines with # tell header and phases.`,
		Flags:        []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object a line"}},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			path, err := oneFile(c)
			if err != nil {
				return err
			}
			r, err := traces.Open(path)
			if err != nil {
				return err
			}
			defer r.Close()
			return traces.Dump(stdout, r, c.Bool("json"))
		},
	}
}
