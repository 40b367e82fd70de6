package bbolt

import (
	"context"
	"testing"

	"go.etcd.io/bbolt"

	"pianola/bindings/bindingtest"
	"pianola/bindings/keyvalue"
	"pianola/traces"
)

// BenchmarkOverhead compares the binding with the bare store, by the calls that
// an operation becomes and without decoding.
func BenchmarkOverhead(b *testing.B) {
	first := open(b, configured(b, nil))
	ctx := context.Background()
	bucket, records := []byte("usertable"), 0
	pair := func(kind traces.Kind, bare func(key []byte) error) func(int) bindingtest.Pair {
		return func(int) bindingtest.Pair {
			session := &session{binding: first.binding, db: first.db}
			records++
			if err := session.Do(ctx, whole(traces.Insert, records)); err != nil {
				b.Fatal(err)
			}
			op := whole(kind, records)
			op.Write = op.Write[5:6]
			return bindingtest.Pair{
				Ours: func(int) error { return session.Do(ctx, op) },
				Bare: func(int) error { return bare(op.Key) },
			}
		}
	}
	b.Run("read", func(b *testing.B) {
		bindingtest.Overhead(b, pair(traces.Read, func(key []byte) error {
			return first.db.View(func(tx *bbolt.Tx) error {
				tx.Bucket(bucket).Get(key)
				return nil
			})
		}), nil)
	})
	b.Run("update", func(b *testing.B) {
		// A record for ours, which come next.
		record := keyvalue.AppendRecord(nil, whole(traces.Update, 0).Write)
		bindingtest.Overhead(b, pair(traces.Update, func(key []byte) error {
			return first.db.Update(func(tx *bbolt.Tx) error {
				table := tx.Bucket(bucket)
				table.Get(key)
				return table.Put(key, record)
			})
		}), nil)
	})
}
