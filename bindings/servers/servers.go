// Package servers starts real database servers for tests, each on a port and in
// a directory of its own on this machine, and stops them again.
//
// A server comes from the distribution's packages or from what its recipe
// fetches. What is missing is installed with apt-get where that is allowed, and
// said on stderr; otherwise the error says what to install. Where the variable
// PIANOLA_NAME holds an address (PIANOLA_REDIS=10.0.0.7:6379), that server is
// used and none is started: what it stores is lost.
//
// To add one, write NAME.go with a Recipe, put the files it needs into the
// directory NAME and embed them, and add the recipe to the list below.
package servers

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// recipes is every server that can be started, in the order listed to people.
var recipes = []Recipe{
	redis, redisTLS, redisCluster,
	postgresql, postgresqlTLS,
	mariadb, mariadbTLS,
	mongodb, mongodbAuth, mongodbTLS, mongodbJava,
	cassandra, cassandraTLS,
	hbase, hbaseTwo,
	ignite, igniteTLS, igniteAuth,
}

// Recipe says how one kind of server is installed and started.
type Recipe struct {
	Name string
	// Serves lists databases that are also driven with it, by their names.
	Serves []string
	// Packages are those of Debian that hold it.
	Packages []string
	// Port is the usual one.
	Port int
	// Prepare fetches what no package holds into a directory that is kept
	// between runs; it runs once at a time and must be quick when all is there.
	// Nil: nothing is needed.
	Prepare func(cache string) error
	// Command returns the server's command, which stays in the foreground and
	// listens on the port of 127.0.0.1. All its files are in dir, which is empty
	// at first; at a restart it holds what the server left.
	Command func(dir string, port int) (*exec.Cmd, error)
	// Ready returns nil once the server at address answers.
	Ready func(ctx context.Context, address string) error
	// Started reports from the log since a start whether that is over, where a
	// server answers before it. Nil: it doesn't.
	Started func(log string) bool
	// Cluster returns the recipes of n nodes that find each other, started in
	// this order; node is this recipe. Nil: there are no clusters of it.
	Cluster func(node Recipe, n int) ([]Recipe, error)
	// Joined reports from its log whether a node is in a cluster of n.
	Joined func(log string, n int) bool
	// Stop is the signal that ends it in good order; the default is SIGTERM.
	Stop syscall.Signal
	// Hint tells a person on one line what to know about a server in dir, if
	// there is something.
	Hint func(dir string) string
}

// Names lists the servers that can be started.
func Names() []string {
	names := make([]string, len(recipes))
	for i := range recipes {
		names[i] = recipes[i].Name
	}
	return names
}

func find(name string) (*Recipe, error) {
	i := slices.IndexFunc(recipes, func(r Recipe) bool { return r.Name == name || slices.Contains(r.Serves, name) })
	if i < 0 {
		return nil, fmt.Errorf("unknown server %q\nservers: %s", name, strings.Join(Names(), ", "))
	}
	return &recipes[i], nil
}

// Variable returns the name of the environment variable that may hold the
// address of a server to use instead.
func Variable(name string) string {
	return "PIANOLA_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// errNotStarted is why a server that was only given by its address can't be
// stopped or paused.
var errNotStarted = errors.New("it was not started here")
