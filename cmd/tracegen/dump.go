package main

import (
	"github.com/urfave/cli/v2"

	"pianola/cmd/program"
	"pianola/traces"
)

func dumpCommand() *cli.Command {
	return &cli.Command{
		Name:      "dump",
		Usage:     "print a trace as text, an operation a line",
		UsageText: "tracegen dump [--json] FILE",
		Description: `Example:

  tracegen dump b.trace.zst | head -n 40

Columns: index, phase, due time in ns ("-" if unpaced), kind, key as sent; then name=value
pairs: n= key number, fields= written (or read, where the operation only reads), read= of a
READMODIFYWRITE, len= scan length, bytes= value length. Lines with # tell header and phases.
FILE may be -, standard input.`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object a line", DisableDefaultText: true}},
		Action: func(c *cli.Context) error {
			r, err := openTrace(c)
			if err != nil {
				return err
			}
			defer r.Close()
			return traces.Dump(c.App.Writer, r, c.Bool("json"))
		},
	}
}

// openTrace opens the FILE of a command.
func openTrace(c *cli.Context) (*traces.Reader, error) {
	path, err := program.OneFile(c, "FILE")
	if err != nil {
		return nil, err
	}
	return traces.Open(path)
}
