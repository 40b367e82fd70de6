package mongodb

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/traces"
)

// BenchmarkOverhead compares the binding with the bare client, as its
// documentation uses it.
func BenchmarkOverhead(b *testing.B) {
	db := opened(b, on(servers.Start(b, "mongodb"), "w=1"), bindingtest.Clients)
	table := db.database.Collection("usertable")
	ctx := context.Background()
	records := 0
	pair := func(kind traces.Kind) func(int) bindingtest.Pair {
		return func(int) bindingtest.Pair {
			s := sessionOf(b, db)
			records++
			do(b, s, whole(traces.Insert, records))
			op := whole(kind, records)
			op.Write, op.Deadline = op.Write[5:6], time.Hour
			key := string(op.Key)
			ours := func(int) error { return s.Do(ctx, op) }
			if kind == traces.Update {
				return bindingtest.Pair{Ours: ours, Bare: bindingtest.Timed(func(ctx context.Context) error {
					change := bson.D{{Key: "$set", Value: bson.D{{Key: op.Write[0].Name, Value: op.Write[0].Value}}}}
					_, err := table.UpdateOne(ctx, bson.D{{Key: "_id", Value: key}}, change)
					return err
				})}
			}
			return bindingtest.Pair{Ours: ours, Bare: bindingtest.Timed(func(ctx context.Context) error {
				_, err := table.FindOne(ctx, bson.D{{Key: "_id", Value: key}}).Raw()
				return err
			})}
		}
	}
	b.Run("read", func(b *testing.B) { bindingtest.Overhead(b, pair(traces.Read), nil) })
	b.Run("update", func(b *testing.B) { bindingtest.Overhead(b, pair(traces.Update), nil) })
}
