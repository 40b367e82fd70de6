package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
	"pianola/tracegen/workloads"
)

func workloadsCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:         "workloads",
		Usage:        "list the ready workloads, or print one",
		UsageText:    "tracegen workloads [NAME]",
		Description:  "Example:\n\n  tracegen workloads workloada > mine.properties\n\nprints a spec to start from.",
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return exit.Usagef("want one NAME, got %q", c.Args().Slice())
			}
			if name := c.Args().First(); name != "" {
				text, ok := workloads.Read(name)
				if !ok {
					return exit.With(exit.Usage, fmt.Errorf("no ready workload %q", name), "there are "+strings.Join(workloads.Names(), ", "))
				}
				_, err := stdout.Write(text)
				return err
			}
			for _, name := range workloads.Names() {
				summary, _ := workloads.Summary(name)
				if _, err := fmt.Fprintf(stdout, "%-10s %s\n", name, summary); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
