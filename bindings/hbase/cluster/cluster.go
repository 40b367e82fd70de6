// Package cluster finds the regions of a table and the servers that serve them,
// and asks the master for tables.
//
// Where a region is comes from the table hbase:meta, whose place a Registry
// tells. It is remembered until a server says that it is elsewhere; nothing asks
// in the background.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pianola/bindings"
	"pianola/bindings/hbase/rpc"
	"pianola/bindings/hbase/wire"
	hbasev1 "pianola/proto/hbase/v1"
)

// Registry tells where a cluster begins, as "host:port".
type Registry interface {
	// Meta returns the server of the table hbase:meta.
	Meta(ctx context.Context) (string, error)
	Master(ctx context.Context) (string, error)
}

// Config says which table is meant and how to reach it.
type Config struct {
	Registry Registry
	// Table is its name, with "namespace:" before it or not.
	Table string
	rpc.Settings
	// Connections is the number of those to each region server.
	Connections int
}

// Cluster is a table, its regions and their servers.
type Cluster struct {
	config Config
	table  hbasev1.Table

	// regions are those that are known, in the order of their rows.
	regions atomic.Pointer[[]*Region]
	// changing is held to replace regions, looking to ask where one is.
	changing, looking sync.Mutex
	// lookups counts questions for the place of a region.
	lookups atomic.Uint64

	mu      sync.Mutex
	servers map[string]*Server
	// meta is the server of hbase:meta, nil if that is not known.
	meta   *Server
	master *rpc.Conn
}

// New returns a cluster; it connects to nothing.
func New(config Config) *Cluster {
	c := &Cluster{config: config, table: tableName(config.Table), servers: map[string]*Server{}}
	c.regions.Store(new([]*Region))
	return c
}

func tableName(name string) hbasev1.Table {
	namespace, qualifier, ok := strings.Cut(name, ":")
	if !ok {
		namespace, qualifier = "default", name
	}
	return hbasev1.Table{Namespace: []byte(namespace), Name: []byte(qualifier)}
}

// Lookups returns how often the place of a region was asked for.
func (c *Cluster) Lookups() uint64 { return c.lookups.Load() }

// Close closes all connections.
func (c *Cluster) Close() {
	c.mu.Lock()
	master, servers := c.master, c.servers
	c.master, c.servers, c.meta = nil, nil, nil
	c.mu.Unlock()
	if master != nil {
		master.Close()
	}
	for _, s := range servers {
		s.close()
	}
}

var errClosed = errors.New("the client is closed")

// server returns the one at an address.
func (c *Cluster) server(address string) (*Server, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.servers == nil {
		return nil, errClosed
	}
	s := c.servers[address]
	if s == nil {
		s = newServer(address, &c.config.Settings, c.config.Connections)
		c.servers[address] = s
	}
	return s, nil
}

// Servers returns the addresses of the region servers that serve the regions
// known.
func (c *Cluster) Servers() []string {
	seen := map[string]bool{}
	var list []string
	for _, r := range *c.regions.Load() {
		if !seen[r.Server.Address] {
			seen[r.Server.Address] = true
			list = append(list, r.Server.Address)
		}
	}
	return list
}

// pauseMin and pauseMax bound the pauses between attempts, each twice as long
// as the last.
const (
	pauseMin = 10 * time.Millisecond
	pauseMax = 200 * time.Millisecond
)

// Pause waits before an attempt, counted from 0; the first comes at once.
func Pause(ctx context.Context, attempt int) error {
	if attempt == 0 {
		return nil
	}
	timer := time.NewTimer(min(pauseMin<<min(attempt-1, 10), pauseMax))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// persist runs what is not an operation until it does not fail for a region
// or a server that is elsewhere or not yet there.
func (c *Cluster) persist(ctx context.Context, do func() error) error {
	for attempt := 1; ; attempt++ {
		err := do()
		if err == nil || attempt == attempts || !Passes(err) || Pause(ctx, attempt) != nil {
			return err
		}
	}
}

// Classed gives an error its class for a result.
func Classed(err error) error {
	for _, away := range []error{errNoRegion, errNotYet, errNode, errClosed} {
		if errors.Is(err, away) {
			return &bindings.Error{Class: bindings.Unavailable, Err: err}
		}
	}
	return rpc.Classed(err)
}

// attempts bounds how often persist tries, which makes 20 s.
const attempts = 100

// passing names the exceptions of a master that starts.
var passing = map[string]bool{"PleaseHoldException": true, "MasterNotRunningException": true}

// Passes reports whether an error is one of a region or a server that is
// elsewhere or not yet there: nothing was done, and the next attempt may succeed.
func Passes(err error) bool {
	var remote *rpc.RemoteError
	return errors.Is(err, errNoRegion) || errors.Is(err, errNotYet) || errors.As(err, &remote) && (remote.Elsewhere() || passing[remote.Name])
}

// What to tell of the status of a cluster.
const optionVersion, optionServers = 0, 10

// Describe returns the software of the servers and their number, as the master
// knows them.
func (c *Cluster) Describe(ctx context.Context) (version string, servers int, err error) {
	var status hbasev1.GetClusterStatusResponse
	err = c.ask(ctx, "GetClusterStatus", &hbasev1.GetClusterStatusRequest{Option: []uint32{optionVersion, optionServers}}, &status)
	if err != nil {
		return "", 0, err
	}
	return status.GetStatus().GetSoftware().GetVersion(), len(status.GetStatus().GetServer()), nil
}

// ask asks the master.
func (c *Cluster) ask(ctx context.Context, method string, request, into message) error {
	return c.persist(ctx, func() error {
		conn, err := c.masterConn(ctx)
		if err != nil {
			return err
		}
		return conn.Ask(ctx, method, request, into)
	})
}

func (c *Cluster) masterConn(ctx context.Context) (*rpc.Conn, error) {
	c.mu.Lock()
	conn := c.master
	c.mu.Unlock()
	if conn != nil && conn.Err() == nil {
		return conn, nil
	}
	address, err := c.config.Registry.Master(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the master: %w", err)
	}
	conn, err = c.config.Dial(ctx, address, wire.MasterService)
	if err != nil {
		return nil, fmt.Errorf("connect to the master: %w", err)
	}
	c.mu.Lock()
	old := c.master
	c.master = conn
	c.mu.Unlock()
	if old != nil {
		old.Close()
	}
	return conn, nil
}

// Regions returns the number of regions that are known.
func (c *Cluster) Regions() int { return len(*c.regions.Load()) }
