package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
	"pianola/cmd/program"
	"pianola/tracegen/workloads"
)

func workloadsCommand() *cli.Command {
	return &cli.Command{
		Name:      "workloads",
		Usage:     "list the ready workloads, or print one",
		UsageText: "tracegen workloads [NAME]",
		Description: `Example:

  tracegen workloads workloada > mine.properties
  tracegen -w mine.properties -p recordcount=5000 -o mine.trace.zst

prints a spec to start from, and generates its trace with more records.`,
		Action: func(c *cli.Context) error {
			name, err := program.AtMostOne(c, "NAME")
			if err != nil {
				return err
			}
			if name == "" {
				return listWorkloads(c)
			}
			text, ok := workloads.Read(name)
			if !ok {
				return exit.With(exit.Usage, fmt.Errorf("no ready workload %q", name), "there are "+strings.Join(workloads.Names(), ", "))
			}
			_, err = c.App.Writer.Write(text)
			return err
		},
	}
}

func listWorkloads(c *cli.Context) error {
	for _, name := range workloads.Names() {
		summary, _ := workloads.Summary(name)
		if _, err := fmt.Fprintf(c.App.Writer, "%-10s %s\n", name, summary); err != nil {
			return err
		}
	}
	return nil
}
