package null

import (
	"sync"

	"pianola/bindings"
	"pianola/traces/payload"
)

// Total sums up operations, in any order: each of its numbers is the sum of
// those of the operations, Sum modulo 2^64.
type Total struct {
	Ops uint64
	// Bytes of all keys and values.
	Bytes uint64
	Sum   uint64
}

// Add adds one operation. Its sum is that of its key, payload.Sum seeded with
// the kind's number, plus that of each value it writes, seeded with the key's
// sum plus 1 + the value's place in Op.Write.
func (t *Total) Add(op *bindings.Op) {
	key := payload.Sum(uint64(op.Kind), op.Key)
	sum, bytes := key, uint64(len(op.Key))
	for i := range op.Write {
		value := op.Write[i].Value
		sum += payload.Sum(key+1+uint64(i), value)
		bytes += uint64(len(value))
	}
	t.Ops++
	t.Bytes += bytes
	t.Sum += sum
}

// tally is the total of one session or pipeline. The lock is for sessions, whose
// last operations may still be under way when facts are asked for.
type tally struct {
	mu    sync.Mutex
	total Total
	// Sessions of several CPUs must not share a cache line.
	_ [88]byte
}

func (t *tally) add(op *bindings.Op) {
	t.mu.Lock()
	t.total.Add(op)
	t.mu.Unlock()
}

func (t *tally) addTo(all *Total) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all.Ops += t.total.Ops
	all.Bytes += t.total.Bytes
	all.Sum += t.total.Sum
}
