package postgresql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pianola/bindings"
)

// factsTimeout bounds what is asked of the server for the result.
const factsTimeout = 10 * time.Second

// shown lists the settings that decide what a figure means.
var shown = []string{
	"server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_level", "shared_buffers",
	"max_wal_size", "autovacuum", "default_transaction_isolation", "max_connections",
}

// Facts tells which server answered, how it keeps what is written, and how
// often a connection was opened again.
func (b *binding) Facts() []bindings.Fact {
	ctx, cancel := context.WithTimeout(context.Background(), factsTimeout)
	defer cancel()
	facts := []bindings.Fact{
		{Name: "pgx", Value: bindings.ModuleVersion("github.com/jackc/pgx/v5")},
		{Name: "connections", Value: "one for each slot"},
		{Name: "connections opened again", Value: fmt.Sprint(b.reopened.Load())},
	}
	if b.copier != nil {
		facts = append(facts, b.copier.facts()...)
	}
	for _, name := range shown {
		value, err := b.ask(ctx, "SHOW "+name)
		if err != nil {
			return append(facts, bindings.Fact{Name: "server", Value: "unknown: " + oneLine(err.Error())})
		}
		facts = append(facts, bindings.Fact{Name: name, Value: oneLine(value)})
	}
	const collation = `SELECT coalesce((SELECT collname FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation
		WHERE a.attrelid = to_regclass('%s') AND a.attname = '%s'), 'unknown')`
	if value, err := b.ask(ctx, fmt.Sprintf(collation, strings.ReplaceAll(b.table.Name, "'", "''"), keyColumn)); err == nil {
		facts = append(facts, bindings.Fact{Name: "order of keys", Value: value})
	}
	if n, err := b.Count(ctx); err == nil {
		facts = append(facts, bindings.Fact{Name: "rows", Value: fmt.Sprint(n)})
	}
	return facts
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
