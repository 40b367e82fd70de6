package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
	"pianola/replay/report"
)

func reportCommand(stdin io.Reader, stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:         "report",
		Usage:        "print the report of a result file",
		UsageText:    "replay report [--format FORM] RESULT.json",
		Description:  "Example, behind \"replay -o b.json b.trace.zst\":\n\n  replay report --format ycsb b.json",
		Flags:        []cli.Flag{&cli.StringFlag{Name: "format", Value: "text", Usage: "`FORM` of the report: " + strings.Join(report.Names(), ", ")}},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if err := exit.FlagAfter(c.Args().Slice()); err != nil {
				return err
			}
			if c.NArg() != 1 {
				return exit.With(exit.Usage, errors.New("want one RESULT.json"), "replay report --help shows an example")
			}
			form, err := report.ByName(c.String("format"))
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			in, name := stdin, "standard input"
			if path := c.Args().First(); path != "-" {
				f, err := os.Open(path)
				if err != nil {
					return err
				}
				defer f.Close()
				in, name = f, path
			}
			res, err := report.Read(in, name)
			if err != nil {
				return err
			}
			return printReport(form, res, stdout, stderr)
		},
	}
}
