package mysql

import (
	"context"
	"database/sql/driver"
	"fmt"
	"testing"
	"time"

	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/bindings/sqltable"
	"pianola/traces"
)

// BenchmarkOverhead compares the binding with the bare client.
func BenchmarkOverhead(b *testing.B) {
	s := servers.Start(b, "mariadb")
	// Otherwise it is the disk that is measured.
	tell(b, s.Address, "SET GLOBAL innodb_flush_log_at_trx_commit = 2")
	db := opened(b, at(s.Address))
	ctx := context.Background()
	pair := func(kind traces.Kind) func(int) bindingtest.Pair {
		return func(client int) bindingtest.Pair {
			session := sessionOf(b, db)
			key := fmt.Sprintf("user%v%d", kind, client)
			if err := session.Do(ctx, whole(traces.Insert, key)); err != nil {
				b.Fatal(err)
			}
			op := whole(kind, key)
			op.Write, op.Deadline = op.Write[5:6], time.Hour
			ours := func(int) error { return session.Do(ctx, op) }
			if kind == traces.Update {
				exec := session.prepared[db.table.Writing(kind, op.Write)].exec
				return bindingtest.Pair{Ours: ours, Bare: bindingtest.Timed(func(ctx context.Context) error {
					_, err := exec.ExecContext(ctx, []driver.NamedValue{{Ordinal: 1, Value: op.Write[0].Value}, {Ordinal: 2, Value: op.Key}})
					return err
				})}
			}
			query := session.prepared[sqltable.Shape{Kind: traces.Read}].query
			row := make([]driver.Value, 10)
			return bindingtest.Pair{Ours: ours, Bare: bindingtest.Timed(func(ctx context.Context) error {
				rows, err := query.QueryContext(ctx, []driver.NamedValue{{Ordinal: 1, Value: op.Key}})
				if err != nil {
					return err
				}
				for rows.Next(row) == nil {
				}
				return rows.Close()
			})}
		}
	}
	b.Run("read", func(b *testing.B) { bindingtest.Overhead(b, pair(traces.Read), nil) })
	b.Run("update", func(b *testing.B) { bindingtest.Overhead(b, pair(traces.Update), nil) })
}
