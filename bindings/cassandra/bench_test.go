package cassandra

import (
	"fmt"
	"testing"

	"github.com/gocql/gocql"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/traces"
)

// BenchmarkDo compares what an operation costs through a session with the bare
// driver, as its documentation uses it.
func BenchmarkDo(b *testing.B) {
	const records = 1000
	db := opened(b, at(servers.Start(b, "cassandra").Address, bindings.Properties{"cassandra.writeconsistencylevel": "ONE"}))
	session := newTestSession(b, db)
	for i := range records {
		if err := session.Do(b.Context(), whole(traces.Insert, i)); err != nil {
			b.Fatal(err)
		}
	}
	read, update, scan := whole(traces.Read, 0), whole(traces.Update, 0), whole(traces.Scan, 0)
	update.Write = update.Write[5:6]
	table := db.statements.table
	bare := func(text string) *gocql.Query { return db.db.Query(text).WithContext(b.Context()) }
	drain := func(query *gocql.Query) error {
		iter := query.Iter()
		values, dest := make([]string, 11), make([]any, 11)
		for i := range values {
			dest[i] = &values[i]
		}
		for iter.Scan(dest...) {
		}
		return iter.Close()
	}
	for _, c := range []struct {
		name string
		op   *bindings.Op
		bare func(key string) error
	}{
		{"read", read, func(key string) error {
			return drain(bare("SELECT * FROM " + table + " WHERE y_id = ? LIMIT 1").Bind(key))
		}},
		{"update", update, func(key string) error {
			return bare("UPDATE "+table+" SET field5 = ? WHERE y_id = ?").Bind(update.Write[0].Value, key).Exec()
		}},
		{"scan 10", scan, func(key string) error {
			return drain(bare("SELECT * FROM "+table+" WHERE token(y_id) >= token(?) LIMIT ?").Bind(key, 10))
		}},
	} {
		b.Run(c.name+"/session", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.op.Key = fmt.Appendf(c.op.Key[:0], "user%06d", i*7919%records)
				c.op.Deadline = db.config.Clock.Now() + bindings.DefaultDeadline
				if err := session.Do(b.Context(), c.op); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/bare", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := c.bare(fmt.Sprintf("user%06d", i*7919%records)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
