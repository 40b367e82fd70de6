// Command replay issues the operations of a trace against a database when they
// are due, and measures what becomes of them.
package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"pianola/cmd/program"
)

// version is set when a release is built.
var version = "devel"

func main() { os.Exit(program.Run(newApp(), os.Args)) }

func newApp() *cli.App {
	lists := newLists()
	return &cli.App{
		Name:      "replay",
		Usage:     "issue the operations of a trace when they are due, and measure what becomes of them",
		UsageText: "replay [options] FILE\nreplay report [--format FORM] RESULT.json\nreplay databases [NAME]",
		Description: `Example:

  tracegen -w workloadb -o b.trace.zst
  replay b.trace.zst

makes a trace and replays it: loads its records into pebble, an embedded store in a
temporary directory, issues every operation at its due time whatever the store does, and
prints a report. Response counts from the due time. --db chooses another database; replay
databases lists them. FILE may be -, standard input.

Exit codes: 0 done, 1 could not be done, 2 command line or property is wrong, 3 more
operations failed than --allow-errors, 4 the generator was too slow for its figures to
be the database's, 130 interrupted, with a report of what was done.`,
		Version:  version,
		Flags:    replayFlags(lists),
		Action:   func(c *cli.Context) error { return replayTrace(c, lists) },
		Commands: []*cli.Command{reportCommand(), databasesCommand()},
	}
}
