package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pianola/bindings"
)

// factsTimeout bounds what is asked of the server for the result.
const factsTimeout = 10 * time.Second

// shown lists the variables that decide what a figure means; a server has one
// name or the other of some.
var shown = []string{
	"version", "version_comment", "default_storage_engine", "innodb_flush_log_at_trx_commit", "innodb_doublewrite",
	"innodb_buffer_pool_size", "log_bin", "sync_binlog", "tx_isolation", "transaction_isolation", "max_connections",
	"query_cache_type",
}

// Facts tells which server answered, how it keeps what is written, and how
// often a connection was opened again.
func (b *binding) Facts() []bindings.Fact {
	ctx, cancel := context.WithTimeout(context.Background(), factsTimeout)
	defer cancel()
	facts := []bindings.Fact{
		{Name: "go-sql-driver", Value: bindings.ModuleVersion("github.com/go-sql-driver/mysql")},
		{Name: "connections", Value: "one for each slot"},
		{Name: "connections opened again", Value: fmt.Sprint(b.reopened.Load())},
	}
	rows, err := b.ask(ctx, "SHOW VARIABLES WHERE Variable_name IN ('"+strings.Join(shown, "', '")+"')")
	if err != nil {
		return append(facts, bindings.Fact{Name: "server", Value: "unknown: " + oneLine(err.Error())})
	}
	slices.SortFunc(rows, func(a, b []string) int { return slices.Index(shown, a[0]) - slices.Index(shown, b[0]) })
	for _, row := range rows {
		facts = append(facts, bindings.Fact{Name: row[0], Value: oneLine(row[1])})
	}
	const collation = `SELECT engine, collation_name FROM information_schema.tables t JOIN information_schema.columns c
		USING (table_schema, table_name) WHERE table_schema = database() AND table_name = '%s' AND column_name = '%s'`
	table := strings.ReplaceAll(strings.ReplaceAll(strings.Trim(b.table.Name, "`"), `\`, `\\`), "'", "''")
	if rows, err := b.ask(ctx, fmt.Sprintf(collation, table, keyColumn)); err == nil && len(rows) == 1 {
		facts = append(facts, bindings.Fact{Name: "engine", Value: rows[0][0]}, bindings.Fact{Name: "order of keys", Value: rows[0][1]})
	}
	if n, err := b.Count(ctx); err == nil {
		facts = append(facts, bindings.Fact{Name: "rows", Value: fmt.Sprint(n)})
	}
	return facts
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
