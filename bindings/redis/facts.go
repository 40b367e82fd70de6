package redis

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pianola/bindings"
)

// factsTimeout bounds what is asked of the server for the result.
const factsTimeout = 5 * time.Second

// Facts tells which server answered by which client, what it keeps, and what
// the client did on its own.
func (b *binding) Facts() []bindings.Fact {
	ctx, cancel := context.WithTimeout(context.Background(), factsTimeout)
	defer cancel()
	facts := []bindings.Fact{
		{Name: "rueidis", Value: bindings.ModuleVersion("github.com/redis/rueidis")},
		{Name: "connections", Value: b.shape()},
		{Name: "connections opened", Value: fmt.Sprint(b.traffic.opened.Load())},
	}
	var sent uint64
	b.mu.Lock()
	for _, s := range b.sessions {
		sent += s.sent.Load()
	}
	b.mu.Unlock()
	facts = append(facts, bindings.Fact{Name: "commands sent", Value: fmt.Sprint(sent)})
	if writes := b.traffic.writes.Load(); writes > 0 {
		facts = append(facts, bindings.Fact{Name: "commands per write", Value: fmt.Sprintf("%.2f", float64(sent)/float64(writes))})
	}
	if len(b.clients) == 0 {
		return facts
	}
	return append(facts, b.server(ctx)...)
}

// shape says how the slots are spread over connections.
func (b *binding) shape() string {
	each := ""
	if b.settings.cluster {
		each = " to each node"
	}
	if b.settings.connections == 0 {
		return "one for each slot" + each
	}
	return fmt.Sprintf("%d%s, shared by the slots", b.settings.connections, each)
}

// server asks the server about itself; what it doesn't tell is unknown.
func (b *binding) server(ctx context.Context) []bindings.Fact {
	c := b.clients[0]
	info, err := c.Do(ctx, c.B().Info().Section("everything").Build()).ToString()
	if err != nil {
		return []bindings.Fact{{Name: "server", Value: "unknown: " + strings.Join(strings.Fields(err.Error()), " ")}}
	}
	facts := []bindings.Fact{
		{Name: "server", Value: infoLine(info, "redis_version")},
		{Name: "mode", Value: infoLine(info, "redis_mode")},
		{Name: "role", Value: infoLine(info, "role")},
		{Name: "used memory", Value: infoLine(info, "used_memory_human")},
		{Name: "evicted keys", Value: infoLine(info, "evicted_keys")},
	}
	for _, name := range []string{"appendonly", "appendfsync", "save", "maxmemory", "maxmemory-policy", "io-threads"} {
		value := "unknown"
		if pair, err := c.Do(ctx, c.B().ConfigGet().Parameter(name).Build()).AsStrSlice(); err == nil && len(pair) == 2 {
			value = pair[1]
		}
		if value == "" {
			value = "none"
		}
		facts = append(facts, bindings.Fact{Name: name, Value: value})
	}
	if n, err := b.Count(ctx); err == nil {
		facts = append(facts, bindings.Fact{Name: "records in the index", Value: fmt.Sprint(n)})
	}
	return facts
}

// infoLine returns a value from the answer to INFO.
func infoLine(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return value
		}
	}
	return "unknown"
}
