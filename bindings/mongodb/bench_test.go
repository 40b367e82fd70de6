package mongodb

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/traces"
)

// BenchmarkDo is what the binding costs over the bare client.
func BenchmarkDo(b *testing.B) {
	const records = 1000
	db := opened(b, on(servers.Start(b, "mongodb-java"), "w=1"), 1)
	s := sessionOf(b, db)
	for n := range records {
		do(b, s, whole(traces.Insert, n))
	}
	ctx := context.Background()
	table := db.database.Collection("usertable")
	key := func(n int) string { return fmt.Sprint("user", n*7919%records) }
	change := whole(traces.Update, 0).Write[5:6]
	for _, c := range []struct {
		name string
		run  func(n int) error
	}{
		{"read/bare", func(n int) error {
			_, err := table.FindOne(ctx, bson.D{{Key: "_id", Value: key(n)}}).Raw()
			return err
		}},
		{"read/binding", func(n int) error {
			return s.Do(ctx, &bindings.Op{Kind: traces.Read, Table: "usertable", Key: []byte(key(n)), Deadline: db.clock.Now() + bindings.DefaultDeadline})
		}},
		{"update/bare", func(n int) error {
			_, err := table.UpdateOne(ctx, bson.D{{Key: "_id", Value: key(n)}}, bson.D{{Key: "$set", Value: bson.D{{Key: change[0].Name, Value: change[0].Value}}}})
			return err
		}},
		{"update/binding", func(n int) error {
			return s.Do(ctx, &bindings.Op{Kind: traces.Update, Table: "usertable", Key: []byte(key(n)), Write: change, Deadline: db.clock.Now() + bindings.DefaultDeadline})
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if err := c.run(n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
