// Command tracegen turns a workload spec into a trace: a deterministic stream
// of operations with due times, which replay issues against a database.
package main

import (
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"pianola/cmd/program"
	"pianola/tracegen/arrival"
)

// version is set when a release is built.
var version = "devel"

func main() { os.Exit(program.Run(newApp(), os.Args)) }

func newApp() *cli.App {
	g := newGeneration()
	return &cli.App{
		Name:      "tracegen",
		Usage:     "turn a workload into a trace: a deterministic stream of operations with due times",
		UsageText: "tracegen [-w NAME|FILE]... [options] -o FILE\ntracegen info|dump|verify FILE\ntracegen workloads [NAME]",
		Description: `Example:

  tracegen -w workloadb -o b.trace.zst

-w takes a ready workload (tracegen workloads lists them) or a file in the format of
YCSB's property files; docs/ycsb.md has every property. The same spec and seed give
the same operations on any machine; the digest that is printed proves it.

Profiles of --arrivals, whose rates are operations per second (docs/arrivals.md):

  ` + strings.ReplaceAll(arrival.Syntax, "\n", "\n  ") + `

Exit codes: 0 done, 1 could not be done, 2 command line, property or spec is wrong,
130 interrupted.`,
		Version:  version,
		Flags:    g.flags(),
		Action:   g.run,
		Commands: []*cli.Command{infoCommand(), dumpCommand(), verifyCommand(), workloadsCommand()},
	}
}
