// Command up starts a server for tests in the foreground, on its usual port if
// that is free, and stops it when it is interrupted. It leaves nothing behind.
//
//	go run ./bindings/servers/up redis
//
// With a number behind the name it starts that many nodes of one cluster, where
// there is a recipe for one.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"pianola/bindings/servers"
)

func main() {
	n, ok := 0, len(os.Args) == 2
	if len(os.Args) == 3 {
		var err error
		n, err = strconv.Atoi(os.Args[2])
		ok = err == nil && n > 0
	}
	if !ok || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintf(os.Stderr, "usage: up NAME [NODES]\nservers: %s\n", strings.Join(servers.Names(), ", "))
		os.Exit(2)
	}
	if err := up(os.Args[1], n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// up runs a server, or a cluster of n, until this program is told to end.
func up(name string, n int) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	if n > 0 {
		return upCluster(ctx, name, n)
	}
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

// upCluster runs n nodes; one that ends leaves the others.
func upCluster(ctx context.Context, name string, n int) (err error) {
	cluster, err := servers.LaunchCluster(ctx, name, n)
	if err != nil {
		return err
	}
	addresses := make([]string, len(cluster))
	for i, s := range cluster {
		addresses[i] = s.Address
		defer func() { err = errors.Join(err, s.Stop()) }()
	}
	fmt.Println(strings.Join(addresses, ","))
	fmt.Fprintln(os.Stderr, "they run until Ctrl-C")
	<-ctx.Done()
	return nil
}
