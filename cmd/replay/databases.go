package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pianola/bindings"
	"pianola/bindings/all"
	"pianola/cmd/exit"
)

func databasesCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:         "databases",
		Usage:        "list the databases, or print what one does: statements, properties, defaults",
		UsageText:    "replay databases [NAME]",
		Description:  "Example:\n\n  replay databases pebble",
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			drivers := all.Drivers()
			switch c.NArg() {
			case 0:
				for _, d := range drivers {
					if _, err := fmt.Fprintf(stdout, "%-10s %s\n", d.Name, d.Summary); err != nil {
						return err
					}
				}
				return nil
			case 1:
				d, err := bindings.Resolve(drivers, c.Args().First())
				if err != nil {
					return withHint(err)
				}
				_, err = io.WriteString(stdout, d.Manual())
				return err
			}
			return exit.Usagef("want one NAME, got %q", c.Args().Slice())
		},
	}
}
