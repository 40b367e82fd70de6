// Package all lists the databases that can be driven.
package all

import (
	"pianola/bindings"
	"pianola/bindings/badger"
	"pianola/bindings/bbolt"
	"pianola/bindings/cassandra"
	"pianola/bindings/hbase"
	"pianola/bindings/ignite"
	"pianola/bindings/memory"
	"pianola/bindings/mongodb"
	"pianola/bindings/mysql"
	"pianola/bindings/null"
	"pianola/bindings/pebble"
	"pianola/bindings/postgresql"
	"pianola/bindings/redis"
	"pianola/bindings/sqlite"
)

// Drivers returns every driver, in the order they are listed to people.
func Drivers() []bindings.Driver {
	return []bindings.Driver{
		pebble.Driver, bbolt.Driver, badger.Driver, sqlite.Driver,
		mongodb.Driver, cassandra.Driver, hbase.Driver, ignite.Driver, redis.Driver, postgresql.Driver, mysql.Driver,
		memory.Driver, null.Driver,
	}
}
