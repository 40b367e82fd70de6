// Package all lists the databases that can be driven.
package all

import (
	"pianola/bindings"
	"pianola/bindings/memory"
	"pianola/bindings/null"
	"pianola/bindings/pebble"
)

// Drivers returns every driver, in the order they are listed to people.
func Drivers() []bindings.Driver {
	return []bindings.Driver{pebble.Driver, memory.Driver, null.Driver}
}
