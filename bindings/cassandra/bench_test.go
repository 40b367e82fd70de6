package cassandra

import (
	"context"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/traces"
)

// BenchmarkOverhead compares the binding with the bare client, as its
// documentation uses it.
func BenchmarkOverhead(b *testing.B) {
	db := opened(b, at(servers.Start(b, "cassandra").Address, bindings.Properties{"cassandra.writeconsistencylevel": "ONE"}))
	ctx := context.Background()
	table, records := db.statements.table, 0
	pair := func(kind traces.Kind) func(int) bindingtest.Pair {
		return func(int) bindingtest.Pair {
			session := newTestSession(b, db)
			records++
			if err := session.Do(ctx, whole(traces.Insert, records)); err != nil {
				b.Fatal(err)
			}
			op := whole(kind, records)
			op.Write, op.Deadline = op.Write[5:6], time.Hour
			key := string(op.Key)
			ours := func(int) error { return session.Do(ctx, op) }
			bare := func(ctx context.Context, text string, values ...any) *gocql.Query {
				return db.db.Query(text, values...).WithContext(ctx).Consistency(gocql.One)
			}
			if kind == traces.Update {
				return bindingtest.Pair{Ours: ours, Bare: bindingtest.Timed(func(ctx context.Context) error {
					return bare(ctx, "UPDATE "+table+" SET field5 = ? WHERE y_id = ?", op.Write[0].Value, key).Exec()
				})}
			}
			values, places := make([]string, 11), make([]any, 11)
			for i := range values {
				places[i] = &values[i]
			}
			return bindingtest.Pair{Ours: ours, Bare: bindingtest.Timed(func(ctx context.Context) error {
				iter := bare(ctx, "SELECT * FROM "+table+" WHERE y_id = ? LIMIT 1", key).Iter()
				for iter.Scan(places...) {
				}
				return iter.Close()
			})}
		}
	}
	b.Run("read", func(b *testing.B) { bindingtest.Overhead(b, pair(traces.Read), nil) })
	b.Run("update", func(b *testing.B) { bindingtest.Overhead(b, pair(traces.Update), nil) })
}
