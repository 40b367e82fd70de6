// Command down stops servers that command up has started in the background: the
// one that is named, or all. It returns when nothing is left of them.
//
//	go run ./bindings/servers/down
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"pianola/bindings/servers"
)

func main() {
	if len(os.Args) > 2 || len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintf(os.Stderr, "usage: down [NAME]\nservers: %s\n", strings.Join(servers.Names(), ", "))
		os.Exit(2)
	}
	if err := down(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// down stops the servers of these names, or all if there are none.
func down(names []string) error {
	var running []*servers.Background
	for _, name := range names {
		b, err := servers.InBackground(name)
		if err != nil {
			return err
		}
		if b != nil {
			running = append(running, b)
		}
	}
	if len(names) == 0 {
		var err error
		if running, err = servers.AllInBackground(); err != nil {
			return err
		}
	}
	if len(running) == 0 {
		fmt.Fprintln(os.Stderr, "nothing runs")
	}
	var errs []error
	for _, b := range running {
		err := servers.Down(b.Name)
		if err == nil {
			fmt.Fprintf(os.Stderr, "stopped %s at %s\n", b.Name, b.Address)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
