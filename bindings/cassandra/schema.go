package cassandra

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gocql/gocql"
)

// CreateSchema makes keyspace and table if they are missing. Where the table is
// there, nothing is tried that takes more rights than to use it.
func (b *binding) CreateSchema(ctx context.Context) error {
	// Servers before version 3 can't be asked; they are told to make both.
	if err := b.lookForTable(ctx); err == nil {
		return nil
	}
	for _, text := range b.statements.schema() {
		if err := b.db.Query(text).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("cassandra at %s: %.200q: %w", b.settings.address(), text, classed(err))
		}
	}
	return nil
}

// lookForTable returns nil if the table is there, and ErrNotFound if it isn't.
func (b *binding) lookForTable(ctx context.Context) error {
	const look = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?"
	var name string
	return b.db.Query(look, b.settings.keyspace, b.config.Header.Table).WithContext(ctx).Consistency(gocql.One).Scan(&name)
}

// Drop drops the table. The keyspace stays.
func (b *binding) Drop(ctx context.Context) error {
	if err := b.lookForTable(ctx); err == gocql.ErrNotFound {
		return nil // also where there is no keyspace, which DROP would not forgive
	}
	text := "DROP TABLE IF EXISTS " + b.statements.table
	if err := b.db.Query(text).WithContext(ctx).Exec(); err != nil {
		return fmt.Errorf("cassandra at %s: %.200q: %w", b.settings.address(), text, classed(err))
	}
	return nil
}

// schema returns what makes keyspace and table.
func (st *statements) schema() []string {
	columns, key, comment := "", keyColumn, ""
	if st.settings.buckets > 0 {
		columns, key = bucketColumn+" int, ", bucketColumn+", "+keyColumn
		comment = fmt.Sprintf(" WITH comment = '%s'", st.comment())
	}
	columns += keyColumn + " varchar, "
	for _, name := range st.fields {
		columns += quoted(name) + " varchar, "
	}
	return []string{
		fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = %s", st.keyspace, st.settings.replication),
		fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%sPRIMARY KEY (%s))%s", st.table, columns, key, comment),
	}
}

// comment is that of a table in the layout clustered: the number of buckets is
// nowhere else.
func (st *statements) comment() string { return fmt.Sprintf("buckets=%d", st.settings.buckets) }

// findTable returns what the server says of the table, or nil if there is none.
// The driver asks once and remembers what it finds.
func (b *binding) findTable(ctx context.Context) (*gocql.TableMetadata, error) {
	type answer struct {
		keyspace *gocql.KeyspaceMetadata
		err      error
	}
	done := make(chan answer, 1)
	go func() {
		keyspace, err := b.db.KeyspaceMetadata(b.settings.keyspace)
		done <- answer{keyspace, err}
	}()
	select {
	case a := <-done:
		switch {
		case a.err == gocql.ErrKeyspaceDoesNotExist:
			return nil, nil
		case a.err != nil:
			return nil, fmt.Errorf("look for the keyspace %s: %w", b.statements.keyspace, classed(a.err))
		}
		b.server.replication = fmt.Sprintf("%s %v, durable writes %v", a.keyspace.StrategyClass, a.keyspace.StrategyOptions, a.keyspace.DurableWrites)
		return a.keyspace.Tables[b.config.Header.Table], nil
	case <-ctx.Done():
		return nil, fmt.Errorf("look for the keyspace %s: %w", b.statements.keyspace, ctx.Err())
	}
}

// checkTable finds out whether the statements fit the table.
func (b *binding) checkTable(ctx context.Context, table *gocql.TableMetadata) error {
	wrong := func(format string, arguments ...any) error {
		return fmt.Errorf("table %s %s", b.statements.table, fmt.Sprintf(format, arguments...))
	}
	partition, sorted := columnNames(table.PartitionKey), columnNames(table.ClusteringColumns)
	clustered := partition == bucketColumn && sorted == keyColumn
	switch {
	case !clustered && (partition != keyColumn || sorted != ""):
		return wrong("has the primary key ((%s), %s), which is none of the layouts", partition, sorted)
	case clustered && b.settings.buckets == 0:
		return wrong("was made with cassandra.layout=clustered")
	case !clustered && b.settings.buckets > 0:
		return wrong("has YCSB's layout\nuse cassandra.layout=ycsb, or another keyspace")
	}
	if clustered {
		comment, err := b.findComment(ctx)
		if err != nil {
			return err
		}
		if comment != b.statements.comment() {
			return wrong("says %q, not %q: set cassandra.buckets to what it was made with", comment, b.statements.comment())
		}
	}
	for _, name := range b.statements.fields {
		if table.Columns[name] == nil {
			return wrong("has no column %q", name)
		}
	}
	return nil
}

// findComment returns the comment of the table. Servers before version 3 keep
// it elsewhere.
func (b *binding) findComment(ctx context.Context) (comment string, err error) {
	for _, text := range []string{
		"SELECT comment FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?",
		"SELECT comment FROM system.schema_columnfamilies WHERE keyspace_name = ? AND columnfamily_name = ?",
	} {
		err = b.db.Query(text, b.settings.keyspace, b.config.Header.Table).WithContext(ctx).Consistency(gocql.One).Scan(&comment)
		if err == nil {
			return comment, nil
		}
	}
	return "", fmt.Errorf("look for the comment of %s: %w", b.statements.table, classed(err))
}

func columnNames(columns []*gocql.ColumnMetadata) string {
	names := make([]string, 0, len(columns))
	for _, c := range columns {
		if c != nil {
			names = append(names, c.Name)
		}
	}
	return strings.Join(slices.Clip(names), ", ")
}
