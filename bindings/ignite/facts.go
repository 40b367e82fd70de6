package ignite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pianola/bindings"
	"pianola/bindings/ignite/thin"
)

// cluster is what the nodes were at an instant.
type cluster struct {
	topology thin.Topology
	// servers and clients are numbers of nodes; known is false where the servers
	// have no SQL to ask by.
	servers, clients int
	versions         []string
	known            bool
}

// look asks which nodes there are.
func (b *binding) look(ctx context.Context) cluster {
	c := cluster{topology: b.client.Topology()}
	rows, err := b.rows(ctx, "SELECT VERSION, IS_CLIENT FROM SYS.NODES")
	if err != nil {
		return c
	}
	c.known = true
	for _, row := range rows {
		if client, _ := row[1].(bool); client {
			c.clients++
			continue
		}
		c.servers++
		if v := fmt.Sprint(row[0]); !slices.Contains(c.versions, v) {
			c.versions = append(c.versions, v)
		}
	}
	return c
}

func (c *cluster) String() string {
	if !c.known {
		return fmt.Sprintf("version %v, nodes unknown", c.topology)
	}
	return fmt.Sprintf("version %v, %d servers, %d thick clients", c.topology, c.servers, c.clients)
}

// rows returns all rows of a small query.
func (b *binding) rows(ctx context.Context, text string, args ...any) ([][]any, error) {
	result, err := b.cache.Query(ctx, thin.Query{Text: text, Args: args})
	if err != nil {
		return nil, err
	}
	var all [][]any
	for result.Next(ctx) {
		all = append(all, result.Row())
	}
	return all, result.Err()
}

// factsTimeout bounds what is asked of the servers for the result.
const factsTimeout = 5 * time.Second

// Facts tells which servers answered, whether they were the same all the time,
// how the cache keeps its entries, and what the client did.
func (b *binding) Facts() []bindings.Fact {
	if b.client == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), factsTimeout)
	defer cancel()
	after := b.look(ctx)
	n := b.client.Counts()
	version := "unknown"
	if len(after.versions) > 0 {
		version = strings.Join(after.versions, ", ")
	}
	b.mu.Lock()
	before := b.before
	b.mu.Unlock()
	facts := []bindings.Fact{
		{Name: "client", Value: "thin, of our own, protocol 1.7.0"},
		{Name: "server", Value: version},
		{Name: "topology at the start", Value: before.String()},
		{Name: "topology at the end", Value: after.String()},
		{Name: "topology changed", Value: changed(&before, &after, n.Changes)},
		{Name: "cache", Value: b.cacheFact(ctx)},
		{Name: "update by", Value: b.settings.update},
		{Name: "connections", Value: fmt.Sprintf("%d to each of %d hosts", b.settings.connections, len(b.settings.hosts))},
		{Name: "connections opened", Value: fmt.Sprint(n.Opened)},
		{Name: "connections lost", Value: fmt.Sprint(n.Lost)},
		{Name: "requests sent", Value: fmt.Sprint(n.Requests)},
	}
	if n.Writes > 0 {
		facts = append(facts, bindings.Fact{Name: "requests per write", Value: fmt.Sprintf("%.2f", float64(n.Requests)/float64(n.Writes))})
	}
	return append(facts, bindings.Fact{Name: "answers that came too late", Value: fmt.Sprint(n.Late)})
}

// changed says whether nodes came or went. The figures of such a run are not
// those of either cluster.
func changed(before, after *cluster, times uint64) string {
	if times == 0 && before.topology.Major == after.topology.Major && before.servers == after.servers {
		return "no"
	}
	return fmt.Sprintf("YES: nodes came or went %d times in the run", max(times, 1))
}

// cacheFact says how the cache was created, by whomever.
func (b *binding) cacheFact(ctx context.Context) string {
	rows, err := b.rows(ctx, "SELECT CACHE_MODE, ATOMICITY_MODE, BACKUPS, WRITE_SYNCHRONIZATION_MODE, IS_ONHEAP_CACHE_ENABLED FROM SYS.CACHES WHERE CACHE_NAME = ?", b.cache.Name)
	if err != nil || len(rows) != 1 {
		return b.cache.Name + ", its settings unknown"
	}
	r := rows[0]
	text := fmt.Sprintf("%s, %v, %v, %v backups, %v", b.cache.Name, r[0], r[1], r[2], r[3])
	if on, _ := r[4].(bool); on {
		text += ", on heap too"
	}
	return text
}
