package sqlite

import (
	"context"
	"database/sql/driver"
	"sync"
	"testing"

	"pianola/bindings/bindingtest"
	"pianola/bindings/sqltable"
	"pianola/traces"
)

// BenchmarkOverhead compares the binding with the bare client, whose writers
// wait for each other too: SQLite takes one.
func BenchmarkOverhead(b *testing.B) {
	db := open(b, configured(b, nil)).binding
	ctx := context.Background()
	var writer sync.Mutex
	records := 0
	pair := func(kind traces.Kind) func(int) bindingtest.Pair {
		return func(int) bindingtest.Pair {
			opened, err := db.Session(ctx)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { opened.Close() })
			session := opened.(*session)
			records++
			if err := session.Do(ctx, whole(traces.Insert, records)); err != nil {
				b.Fatal(err)
			}
			op := whole(kind, records)
			op.Write = op.Write[5:6]
			key := string(op.Key)
			ours := func(int) error { return session.Do(ctx, op) }
			if kind == traces.Update {
				p := session.prepared[db.table.Writing(kind, op.Write)]
				return bindingtest.Pair{Ours: ours, Bare: func(int) error {
					writer.Lock()
					defer writer.Unlock()
					_, err := p.ExecContext(ctx, []driver.NamedValue{{Ordinal: 1, Value: op.Write[0].Value}, {Ordinal: 2, Value: key}})
					return err
				}}
			}
			p := session.prepared[sqltable.Shape{Kind: traces.Read}]
			row := make([]driver.Value, 10)
			return bindingtest.Pair{Ours: ours, Bare: func(int) error {
				rows, err := p.QueryContext(ctx, []driver.NamedValue{{Ordinal: 1, Value: key}})
				if err != nil {
					return err
				}
				for rows.Next(row) == nil {
				}
				return rows.Close()
			}}
		}
	}
	b.Run("read", func(b *testing.B) { bindingtest.Overhead(b, pair(traces.Read), nil) })
	b.Run("update", func(b *testing.B) { bindingtest.Overhead(b, pair(traces.Update), nil) })
}
