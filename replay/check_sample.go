package replay

import (
	"sync"
	"sync/atomic"

	"pianola/traces"
	"pianola/traces/payload"
)

// keySample follows the versions of a bounded number of keys.
type keySample struct {
	// One key of every is in the sample, as its hash decides.
	every uint64
	// hashed says that keys show the hash of their number.
	hashed bool

	mu   sync.RWMutex
	keys map[uint64]*sampledKey
	// numbers finds the number of a hashed key by what the key shows.
	numbers map[uint64]uint64
	// unused is memory for keys that are still to come.
	unused   []sampledKey
	versions []atomic.Uint64
	fields   int
}

// sampledKey is what is known of one key's record.
type sampledKey struct {
	state atomic.Uint32
	// versions of the fields by index, where state is keyWritten.
	versions []atomic.Uint64
}

// States of a sampledKey.
const (
	keyAbsent uint32 = iota
	keyWritten
	keyDeleted
	// keyUnknown: a write failed or timed out, and may still be carried out.
	keyUnknown
)

// versionsMax bounds the versions that a sample keeps, 8 bytes each.
const versionsMax = 1 << 22

// newKeySample returns a sample of up to limit keys out of about so many.
func newKeySample(h *traces.Header, limit int, keys uint64) *keySample {
	fields := max(h.Fields.Count, 1)
	limit = max(min(limit, versionsMax/fields), 1)
	s := &keySample{every: 1, hashed: h.Keys.Order == payload.Hashed, fields: fields, keys: map[uint64]*sampledKey{}, numbers: map[uint64]uint64{}}
	if keys > uint64(limit) {
		s.every = (keys + uint64(limit) - 1) / uint64(limit)
	}
	n := int(min(keys, uint64(limit)))
	s.unused = make([]sampledKey, n)
	s.versions = make([]atomic.Uint64, n*fields)
	return s
}

// sampleSalt keeps the choice of the sample apart from other uses of Mix.
const sampleSalt = 0x5bd1e995a3c59ac3

// key returns what is known of a key, or nil if it isn't in the sample. With
// add a key that is new gets its place, as long as there is one.
func (s *keySample) key(number uint64, add bool) *sampledKey {
	if s.every > 1 && payload.Mix(number^sampleSalt)%s.every != 0 {
		return nil
	}
	s.mu.RLock()
	k := s.keys[number]
	s.mu.RUnlock()
	if k != nil || !add {
		return k
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.unused) == 0 {
		return nil
	}
	k = &s.unused[0]
	k.versions = s.versions[:s.fields:s.fields]
	s.unused, s.versions = s.unused[1:], s.versions[s.fields:]
	s.keys[number] = k
	if s.hashed {
		s.numbers[payload.HashNumber(number)] = number
	}
	return k
}

// number returns the number of the key that shows a hash, if it is known.
func (s *keySample) number(hash uint64) (uint64, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, ok := s.numbers[hash]
	return n, ok
}
