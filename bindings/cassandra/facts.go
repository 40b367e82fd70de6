package cassandra

import (
	"context"
	"fmt"

	"pianola/bindings"
)

// server is what a server tells of itself at the start.
type server struct {
	version, cluster, partitioner string
	// commitLog says when a write is on disk; empty where the server doesn't
	// tell.
	commitLog string
	// replication is that of the keyspace, once it was looked at.
	replication string
}

// askServer asks one node. What it doesn't know is left out.
func (b *binding) askServer(ctx context.Context) {
	ask := func(text string, values ...any) bool {
		return b.db.Query(text).WithContext(ctx).Scan(values...) == nil
	}
	s := &b.server
	ask("SELECT release_version, cluster_name, partitioner FROM system.local", &s.version, &s.cluster, &s.partitioner)
	var scylla, sync, period string
	if ask("SELECT version FROM system.versions WHERE key = 'local'", &scylla) {
		s.version = fmt.Sprintf("ScyllaDB %s, as Cassandra %s", scylla, s.version)
	}
	const setting = "SELECT value FROM system_views.settings WHERE name = "
	if ask(setting+"'commitlog_sync'", &sync) {
		s.commitLog = sync
		if ask(setting+"'commitlog_sync_period'", &period) || ask(setting+"'commitlog_sync_period_in_ms'", &period) {
			s.commitLog += ", " + period
		}
	}
}

// Facts tells what ran, how safe its writes are, and what was sent and what
// not.
func (b *binding) Facts() []bindings.Fact {
	layout := "ycsb"
	if b.settings.buckets > 0 {
		layout = fmt.Sprintf("clustered, %d buckets", b.settings.buckets)
	}
	opened, failed := b.nodes.connections()
	facts := []bindings.Fact{
		{Name: "gocql", Value: bindings.ModuleVersion("github.com/gocql/gocql")},
		{Name: "server version", Value: known(b.server.version)},
		{Name: "cluster", Value: known(b.server.cluster)},
		{Name: "partitioner", Value: known(b.server.partitioner)},
		{Name: "nodes up", Value: fmt.Sprint(len(b.nodes.up()))},
		{Name: "data centres", Value: known(b.nodes.centres())},
		{Name: "protocol", Value: fmt.Sprint(b.nodes.version.Load())},
		{Name: "replication", Value: known(b.server.replication)},
		{Name: "commit log sync", Value: known(b.server.commitLog)},
		{Name: "consistency", Value: fmt.Sprintf("reads %v, writes %v", b.settings.read, b.settings.write)},
		{Name: "layout", Value: layout},
		{Name: "requests for operations", Value: fmt.Sprint(b.streams.ours.Load())},
		{Name: "requests of the driver", Value: fmt.Sprint(b.streams.own.Load())},
		{Name: "requests unanswered", Value: fmt.Sprint(b.streams.open.Load())},
		{Name: "requests lost with a connection", Value: fmt.Sprint(b.streams.abandoned.Load())},
		{Name: "refused as too many", Value: fmt.Sprint(b.refused.Load())},
		{Name: "held back, no node up", Value: fmt.Sprint(b.held.Load())},
		{Name: "connections opened", Value: fmt.Sprint(opened)},
		{Name: "connections refused", Value: fmt.Sprint(failed)},
		{Name: "times a node went down", Value: fmt.Sprint(b.nodes.wentDown())},
		{Name: "messages of the driver", Value: fmt.Sprint(b.log.count())},
	}
	if last := b.log.last(); last != "" {
		facts = append(facts, bindings.Fact{Name: "last message of the driver", Value: last})
	}
	return facts
}

func known(value string) string {
	if value == "" {
		return "not told"
	}
	return value
}
