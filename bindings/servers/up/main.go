// Command up starts a server for tests on its usual port of this machine, if
// that is free, else on another. In the foreground it stops the server when it is
// interrupted; in the background it returns once the server answers, and command
// down stops it. It leaves nothing behind.
//
//	go run ./bindings/servers/up redis
//	go run ./bindings/servers/up -background redis
//
// With a number behind the name it starts that many nodes of one cluster in the
// foreground, where there is a recipe for one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"pianola/bindings/servers"
)

func main() {
	background := flag.Bool("background", false, "return once the server answers, and let it run")
	keep := flag.Bool("keep", false, "for the program's own use: keep the server running, and tell on stdout when it answers")
	flag.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: up [-background] NAME\n       up NAME NODES\nservers: %s\n", strings.Join(servers.Names(), ", "))
	}
	flag.Parse()
	n, ok := 0, flag.NArg() == 1
	if flag.NArg() == 2 && !*background && !*keep {
		var err error
		n, err = strconv.Atoi(flag.Arg(1))
		ok = err == nil && n > 0
	}
	if !ok {
		flag.Usage()
		os.Exit(2)
	}
	run := func(name string) error { return foreground(name, n) }
	switch {
	case *keep:
		run = kept
	case *background:
		run = inBackground
	}
	if err := run(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// foreground runs a server, or a cluster of n, until this program is told to end.
func foreground(name string, n int) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	if n > 0 {
		return upCluster(ctx, name, n)
	}
	s, err := servers.LaunchUsual(ctx, name)
	if err != nil {
		return err
	}
	tell(s.Address, s.Hint())
	fmt.Fprintln(os.Stderr, "it runs until Ctrl-C")
	await(ctx, name, s)
	return s.Stop()
}

// tell prints where a server is, and what to know of it.
func tell(address, hint string) {
	fmt.Println(address)
	if hint != "" {
		fmt.Fprintln(os.Stderr, hint)
	}
}

// await returns when the server or the context has ended.
func await(ctx context.Context, name string, s *servers.Server) {
	select {
	case <-ctx.Done():
	case <-s.Ended():
		fmt.Fprintf(os.Stderr, "%s ended; its log:\n%s", name, s.Log())
	}
}

// kept runs a server for inBackground. Its stdout is closed once the server is
// noted, and its stderr too unless it has something to say before.
func kept(name string) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	s, err := servers.LaunchUsual(ctx, name)
	if err != nil {
		return err
	}
	done, err := servers.Keep(s)
	if err != nil {
		return errors.Join(err, s.Stop())
	}
	if err := detach(); err != nil {
		return errors.Join(err, s.Stop(), done())
	}
	await(ctx, name, s)
	return errors.Join(s.Stop(), done())
}

// inBackground starts this program a second time, to keep the server running,
// and waits until the server answers.
func inBackground(name string) error {
	if b, err := servers.InBackground(name); err != nil {
		return err
	} else if b != nil {
		fmt.Fprintf(os.Stderr, "%s runs already\n", b.Name)
		tell(b.Address, b.Hint)
		return nil
	}
	// Here, where it is seen what is installed.
	if err := servers.Install(name); err != nil {
		return err
	}
	keeper, output, err := startKeeper(name)
	if err != nil {
		return fmt.Errorf("start what keeps %s running: %w", name, err)
	}
	said, err := io.ReadAll(output)
	if err != nil {
		return fmt.Errorf("wait for %s: %w", name, err)
	}
	b, err := servers.InBackground(name)
	if err != nil {
		return err
	}
	if b == nil || b.Keeper != keeper {
		return fmt.Errorf("%s has not started: %s", name, strings.TrimSpace(string(said)))
	}
	tell(b.Address, b.Hint)
	fmt.Fprintln(os.Stderr, "it runs until make servers-down")
	return nil
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
