package keyvalue

import (
	"hash/maphash"
	"sync"
)

// stripes is the number of locks: so many that two of 64 operations rarely meet
// by chance.
const stripes = 1 << 12

// Locks are locks over keys. They are striped: keys share one by their hash.
type Locks struct {
	seed  maphash.Seed
	locks [stripes]sync.Mutex
}

// NewLocks returns locks that nobody holds.
func NewLocks() *Locks { return &Locks{seed: maphash.MakeSeed()} }

// Of returns the lock over a key.
func (l *Locks) Of(key []byte) *sync.Mutex {
	return &l.locks[maphash.Bytes(l.seed, key)%stripes]
}
