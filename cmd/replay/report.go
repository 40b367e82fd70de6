package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
	"pianola/cmd/program"
	"pianola/replay/measure"
	"pianola/replay/report"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "print the report of a result file",
		UsageText: "replay report [--format FORM] RESULT.json\n   replay report --schema",
		Description: `Example:

  tracegen -w workloada -o a.trace.zst
  replay -o a.json a.trace.zst
  replay report --format ycsb a.json

keeps the result of a run and prints it again, in YCSB's lines. RESULT.json may be -,
standard input.`,
		Flags: []cli.Flag{
			formatFlag(),
			&cli.BoolFlag{Name: "schema", Usage: "print the JSON Schema of result files, and read none", DisableDefaultText: true},
		},
		Action: func(c *cli.Context) error {
			if c.Bool("schema") {
				return printSchema(c)
			}
			path, err := program.OneFile(c, "RESULT.json")
			if err != nil {
				return err
			}
			form, err := report.ByName(c.String("format"))
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			res, err := readResult(path, c.App.Reader)
			if err != nil {
				return err
			}
			return printReport(c, form, res)
		},
	}
}

// printSchema prints what is known of all result files.
func printSchema(c *cli.Context) error {
	switch {
	case c.NArg() > 0:
		return exit.Usagef("--schema is of all result files: %q has no effect", c.Args().First())
	case c.IsSet("format"):
		return exit.Usagef("--schema is no report: --format has no effect")
	}
	if _, err := io.WriteString(c.App.Writer, report.Schema()); err != nil {
		return fmt.Errorf("write schema: %w", err)
	}
	return nil
}

func formatFlag() *cli.StringFlag {
	names := report.Names()
	return &cli.StringFlag{Name: "format", Value: names[0], DefaultText: names[0], Usage: "`FORM` of the report: " + strings.Join(names, ", ")}
}

func readResult(path string, stdin io.Reader) (*measure.Result, error) {
	if path == "-" {
		return report.Read(stdin, "standard input")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open result: %w", err)
	}
	defer f.Close()
	return report.Read(f, path)
}
