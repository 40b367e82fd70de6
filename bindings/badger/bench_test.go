package badger

import (
	"context"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"pianola/bindings/bindingtest"
	"pianola/bindings/keyvalue"
	"pianola/traces"
)

// BenchmarkOverhead compares the binding with the bare store, by the calls that
// an operation becomes and without decoding.
func BenchmarkOverhead(b *testing.B) {
	first := open(b, configured(b, nil))
	ctx := context.Background()
	records := 0
	pair := func(kind traces.Kind, bare func(key []byte) error) func(int) bindingtest.Pair {
		return func(int) bindingtest.Pair {
			session := &session{binding: first.binding, db: first.db}
			records++
			if err := session.Do(ctx, whole(traces.Insert, records)); err != nil {
				b.Fatal(err)
			}
			op := whole(kind, records)
			op.Write = op.Write[5:6]
			key := append(keyvalue.TableStart(nil, op.Table), op.Key...)
			return bindingtest.Pair{
				Ours: func(int) error { return session.Do(ctx, op) },
				Bare: func(int) error { return bare(key) },
			}
		}
	}
	look := func(tx *badger.Txn, key []byte) error {
		item, err := tx.Get(key)
		if err != nil {
			return err
		}
		return item.Value(func([]byte) error { return nil })
	}
	b.Run("read", func(b *testing.B) {
		bindingtest.Overhead(b, pair(traces.Read, func(key []byte) error {
			return first.db.View(func(tx *badger.Txn) error { return look(tx, key) })
		}), nil)
	})
	b.Run("update", func(b *testing.B) {
		// A record for ours, which come next.
		record := keyvalue.AppendRecord(nil, whole(traces.Update, 0).Write)
		bindingtest.Overhead(b, pair(traces.Update, func(key []byte) error {
			return first.db.Update(func(tx *badger.Txn) error {
				if err := look(tx, key); err != nil {
					return err
				}
				return tx.Set(key, record)
			})
		}), nil)
	})
}
