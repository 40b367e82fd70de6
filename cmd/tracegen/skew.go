package main

import (
	"slices"

	"pianola/traces"
)

// skew counts the keys of one phase's operations, inserts and deletes aside, in
// bounded memory: the summary of Misra and Gries ("Finding repeated elements",
// 1982) with the cut of Agarwal et al. ("Mergeable Summaries", 2012). A count is
// at most missed too low.
type skew struct {
	counts map[uint64]uint64
	missed uint64
	total  uint64
}

const (
	// skewKept is the number of keys that a cut leaves, half of those that may be
	// counted.
	skewKept = 1 << 16
	// skewOps is how many operations of a phase are counted: more would not
	// change a share that is printed.
	skewOps = 1 << 24
)

func (s *skew) add(b *traces.Block) {
	if s.counts == nil {
		s.counts = make(map[uint64]uint64, 2*skewKept)
	}
	if s.total >= skewOps {
		return
	}
	for j, k := range b.Kinds {
		if k == traces.Insert || k == traces.Delete {
			continue
		}
		s.counts[b.Keys[j]]++
		s.total++
		if len(s.counts) > 2*skewKept {
			s.cut()
		}
	}
}

// cut takes from every count what the skewKept-th greatest has less one, and
// drops the keys that have nothing left.
func (s *skew) cut() {
	counts := s.sorted()
	least := counts[skewKept]
	s.missed += least
	for key, n := range s.counts {
		if n <= least {
			delete(s.counts, key)
		} else {
			s.counts[key] = n - least
		}
	}
}

// sorted returns the counts, the greatest first.
func (s *skew) sorted() []uint64 {
	counts := make([]uint64, 0, len(s.counts))
	for _, n := range s.counts {
		counts = append(counts, n)
	}
	slices.SortFunc(counts, func(a, b uint64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	return counts
}

// shares returns the shares of the hottest 1, 10 and 100 keys and of the hottest
// hundredth of the records, each at least; exact says that they are.
func (s *skew) shares(records uint64) (out []hotShare, exact bool) {
	counts := s.sorted()
	for _, c := range []struct {
		keys uint64
		name string
	}{{1, "hottest key"}, {10, "hottest 10"}, {100, "hottest 100"}, {records / 100, "hottest 1 % of the records"}} {
		if c.keys == 0 || c.keys > records || c.keys > uint64(len(counts)) && s.missed > 0 {
			continue // it would say how much is counted, not how much is hot
		}
		sum := uint64(0)
		for _, n := range counts[:min(c.keys, uint64(len(counts)))] {
			sum += n
		}
		out = append(out, hotShare{c.name, float64(sum) / float64(max(s.total, 1))})
	}
	return out, s.missed == 0
}

// hotShare is the share of operations that go to some of the keys.
type hotShare struct {
	Keys  string  `json:"keys"`
	Share float64 `json:"share"`
}
