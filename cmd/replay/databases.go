package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pianola/bindings"
	"pianola/bindings/all"
	"pianola/cmd/exit"
	"pianola/cmd/program"
)

func databasesCommand() *cli.Command {
	return &cli.Command{
		Name:      "databases",
		Usage:     "list the databases, or print what one does: statements, properties, defaults",
		UsageText: "replay databases [NAME]",
		Description: `Example:

  replay databases pebble`,
		Action: func(c *cli.Context) error {
			name, err := program.AtMostOne(c, "NAME")
			if err != nil {
				return err
			}
			drivers := all.Drivers()
			if name == "" {
				return listDatabases(c.App.Writer, drivers)
			}
			d, err := bindings.Resolve(drivers, name)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			_, err = io.WriteString(c.App.Writer, d.Manual())
			return err
		},
	}
}

func listDatabases(w io.Writer, drivers []bindings.Driver) error {
	for i := range drivers {
		d := &drivers[i]
		mark := ""
		if d.Name == defaultDatabase {
			mark = " (the default)"
		}
		if _, err := fmt.Fprintf(w, "%-10s %s%s\n", d.Name, d.Summary, mark); err != nil {
			return err
		}
	}
	return nil
}
