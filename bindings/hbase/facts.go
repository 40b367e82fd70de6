package hbase

import (
	"fmt"
	"strings"

	"pianola/bindings"
)

// Facts tells which servers answered, how writes are kept, and what the client
// did on its own.
func (b *binding) Facts() []bindings.Fact {
	count := func(name string, n uint64) bindings.Fact { return bindings.Fact{Name: name, Value: fmt.Sprint(n)} }
	t := &b.traffic
	calls, writes := t.Calls.Load(), t.Writes.Load()
	perWrite := "none"
	if writes > 0 {
		perWrite = fmt.Sprintf("%.2f", float64(calls)/float64(writes))
	}
	way := "registry of the servers"
	if b.settings.zookeeper {
		way = "zookeeper"
	}
	return []bindings.Fact{
		{Name: "server version", Value: b.version},
		{Name: "region servers", Value: fmt.Sprint(b.servers)},
		{Name: "regions of the table", Value: fmt.Sprint(b.cluster.Regions())},
		{Name: "servers of the table", Value: strings.Join(b.cluster.Servers(), " ")},
		{Name: "durability of writes", Value: durabilities[b.settings.durability]},
		{Name: "client", Value: "our own, native protocol, found by " + way},
		{Name: "page filter", Value: "none, each scan states its rows"},
		count("connections opened", t.Opened.Load()),
		count("calls sent", calls),
		{Name: "calls per write", Value: perWrite},
		count("writes left to the connection", t.Held.Load()),
		count("regions looked up", b.cluster.Lookups()),
		count("regions found elsewhere", b.elsewhere.Load()),
		count("scanners opened again", b.scanners.Load()),
		count("held back, no server to be had", b.held.Load()),
		count("calls given up", t.GivenUp.Load()),
		count("answers too late", t.Late.Load()),
	}
}
