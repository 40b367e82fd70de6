// Command up starts a server for tests in the foreground, on its usual port if
// that is free, and stops it when it is interrupted. It leaves nothing behind.
//
//	go run ./bindings/servers/up redis
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"pianola/bindings/servers"
)

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintf(os.Stderr, "usage: up NAME\nservers: %s\n", strings.Join(servers.Names(), ", "))
		os.Exit(2)
	}
	if err := up(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// up runs a server until this program is told to end.
func up(name string) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	s, err := servers.LaunchUsual(ctx, name)
	if err != nil {
		return err
	}
	fmt.Println(s.Address)
	if hint := s.Hint(); hint != "" {
		fmt.Fprintln(os.Stderr, hint)
	}
	fmt.Fprintln(os.Stderr, "it runs until Ctrl-C")
	select {
	case <-ctx.Done():
	case <-s.Ended():
		fmt.Fprintf(os.Stderr, "%s ended; its log:\n%s", name, s.Log())
	}
	return s.Stop()
}
