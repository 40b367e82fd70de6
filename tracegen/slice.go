package tracegen

import (
	"pianola/tracegen/random"
	"pianola/traces/keymap"
)

// slice is the part of the table that a spec is about. Its records are counted
// from 0: first those that the load writes, in the order of their key numbers,
// then the inserts of later phases, in theirs.
type slice struct {
	// The load writes records key numbers from first on; inserts go on at
	// insertFrom, first+records or later.
	first, records, insertFrom uint64
}

// insert returns the key number of the n-th insert, n counted from 0.
func (s *slice) insert(n uint64) uint64 { return s.insertFrom + n }

// number turns records into key numbers.
func (s *slice) number(records []uint64) {
	gap := s.insertFrom - s.first - s.records
	if s.first == 0 && gap == 0 {
		return
	}
	for j, r := range records {
		key := s.first + r
		if r >= s.records {
			key += gap
		}
		records[j] = key
	}
}

// victims is the order in which records are deleted: a permutation of those
// that the load wrote. Deletes take no place in a record's history but the last
// one, so that the records behind the deletes so far live.
type victims struct {
	order   *keymap.Scramble
	records uint64
}

func newVictims(records, seed uint64) (*victims, error) {
	order, err := newScramble(records, random.NewStream(seed, "victims"))
	return &victims{order, records}, err
}

// record returns the record that delete number n takes, n counted from 0.
func (v *victims) record(n uint64) uint64 { return v.order.Map(n) }

// position returns the number of the delete that takes a record.
func (v *victims) position(record uint64) uint64 { return v.order.Inverse(record) }
