package cassandra

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gocql/gocql"
)

// nodes goes round the nodes in turn, as the driver's own policy does, and
// knows which are up.
type nodes struct {
	gocql.HostSelectionPolicy
	// version of the protocol that nodes answer in.
	version atomic.Uint32

	mu             sync.Mutex
	hosts          map[string]*gocql.HostInfo
	opened, failed int
	// downs counts how often a node went down.
	downs uint64
	// number is that of the nodes that are up.
	number atomic.Int64
	// gone is told of a node whose connections are closed.
	gone func(*gocql.HostInfo)
}

var (
	_ gocql.HostSelectionPolicy = (*nodes)(nil)
	_ gocql.ConnectObserver     = (*nodes)(nil)
	_ gocql.FrameHeaderObserver = (*nodes)(nil)
)

func newNodes() *nodes {
	return &nodes{HostSelectionPolicy: gocql.RoundRobinHostPolicy(), hosts: map[string]*gocql.HostInfo{}, gone: func(*gocql.HostInfo) {}}
}

// AddHost and the three below are the driver's news of a node.
func (n *nodes) AddHost(host *gocql.HostInfo) {
	n.set(host, true)
	n.HostSelectionPolicy.AddHost(host)
}

func (n *nodes) HostUp(host *gocql.HostInfo) {
	n.set(host, true)
	n.HostSelectionPolicy.HostUp(host)
}

func (n *nodes) RemoveHost(host *gocql.HostInfo) {
	n.set(host, false)
	n.HostSelectionPolicy.RemoveHost(host)
	n.gone(host)
}

func (n *nodes) HostDown(host *gocql.HostInfo) {
	n.set(host, false)
	n.HostSelectionPolicy.HostDown(host)
	n.gone(host)
}

func (n *nodes) set(host *gocql.HostInfo, up bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if up {
		n.hosts[host.HostID()] = host
	} else if _, was := n.hosts[host.HostID()]; was {
		delete(n.hosts, host.HostID())
		n.downs++
	}
	n.number.Store(int64(len(n.hosts)))
}

// up returns the nodes that are up, by their ids.
func (n *nodes) up() map[string]*gocql.HostInfo {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.hosts)
}

func (n *nodes) wentDown() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.downs
}

// centres lists the data centres of the nodes that are up.
func (n *nodes) centres() string {
	names := map[string]bool{}
	for _, host := range n.up() {
		names[host.DataCenter()] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// ObserveConnect counts connections that were opened, and attempts that failed.
func (n *nodes) ObserveConnect(c gocql.ObservedConnect) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.Err != nil {
		n.failed++
	} else {
		n.opened++
	}
}

func (n *nodes) connections() (opened, failed int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.opened, n.failed
}

// ObserveFrameHeader keeps the version of the protocol, which the driver tells
// nowhere else.
func (n *nodes) ObserveFrameHeader(_ context.Context, h gocql.ObservedFrameHeader) {
	const direction = 0x80
	if v := uint32(h.Version) &^ direction; n.version.Load() != v {
		n.version.Store(v)
	}
}
