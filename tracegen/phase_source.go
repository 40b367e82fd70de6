package tracegen

import (
	"fmt"
	"sort"
	"time"

	"pianola/tracegen/arrival"
	"pianola/tracegen/random"
	"pianola/traces"
)

// phaseSource makes the operations of one phase, block by block. It does not
// change while it does so: blocks are made in any order, by several goroutines.
// What runs along between them is a mark and the history.
type phaseSource struct {
	name string
	// ops is the number of operations, at most.
	ops uint64
	mix *mix
	law keyLaw
	// slice is the range of key numbers. A load inserts the records of it.
	slice       slice
	onlyInserts bool
	// victims is nil without deletes.
	victims *victims
	// An insert is visible to the ops behind the visibility-th after it.
	visibility uint64

	// schedule is nil in an unpaced phase; rate is its stated mean.
	schedule arrival.Schedule
	rate     traces.Rate
	// No operation is due at end or later, in ticks. If the phase is timed that
	// is its end, else a fault.
	end   uint64
	timed bool

	lengths       scanLengths
	reads, writes fieldChoice

	kinds, keys random.Stream
}

// workspace is what one goroutine needs to make a block.
type workspace struct {
	block traces.Block
	// For each operation, the deletes of its block before it.
	deleted []uint32
	draws   []uint64
	choices choices
}

// phaseRun is a phase in the making, from its first block to its last.
type phaseRun struct {
	*phaseSource
	// phase is the index of the phase, first that of its first operation over the
	// trace.
	phase int
	first uint64
	// begins is the mark in front of the first block.
	begins  mark
	history *history
}

// start begins a phase behind the inserts and deletes of earlier ones. At most
// window blocks may be in the making at a time.
func (s *phaseSource) start(begins mark, window int) *phaseRun {
	begins.due = 0
	r := &phaseRun{phaseSource: s, begins: begins}
	if s.mix.inserts && !s.onlyInserts {
		r.history = newHistory(s.visibility, begins.inserts, window)
	}
	return r
}

// endAt makes the phase end before duration, or, for a duration of 0, refuses
// due times of maxPhase and more: soon beyond it they can't be told apart.
func (s *phaseSource) endAt(duration, tick time.Duration) {
	s.timed = duration > 0
	if !s.timed {
		duration = maxPhase
	}
	s.end = (uint64(duration) + uint64(tick) - 1) / uint64(tick)
}

// isEmpty reports whether the first operation is due behind the phase's end.
func (s *phaseSource) isEmpty() bool {
	if !s.timed || s.schedule == nil {
		return false
	}
	var due [1]uint64
	s.schedule.Fill(due[:], 0)
	return due[0] >= s.end
}

// sketch begins block number k: the kinds, the gaps and what they sum up to.
// It needs nothing of the blocks before.
func (s *phaseRun) sketch(w *workspace, k uint64) (sum mark) {
	b := &w.block
	b.Reset()
	first := k * traces.BlockOps
	n := int(min(traces.BlockOps, s.ops-first))
	b.First, b.PhaseFirst, b.Phase = s.first+first, first, s.phase
	b.Kinds = extend(b.Kinds, n)
	s.mix.fill(b.Kinds, s.kinds, first)
	if s.history != nil {
		sum.inserts = s.history.record(k, b.Kinds)
	}
	if s.mix.deletes {
		sum.deletes = countKind(b.Kinds, traces.Delete)
	}
	if s.schedule != nil {
		b.Due = extend(b.Due, n)
		s.schedule.Fill(b.Due, first)
		if s.schedule.Random() {
			sum.due = b.Due[n-1]
		}
	}
	return sum
}

// begin notes what is in front of block k.
func (s *phaseRun) begin(k uint64, m mark) {
	if s.history != nil {
		s.history.begin(k, m)
	}
}

// after is the mark behind a block that begins at m and sums up to sum.
func (m mark) after(sum mark) mark {
	return mark{min(m.due+sum.due, arrival.MaxDue), m.inserts + sum.inserts, m.deletes + sum.deletes}
}

// finish makes the rest of a block that was sketched and begins at m. It cuts
// off what is due behind the end of the phase, down to nothing, and returns the
// mark behind what is left.
func (s *phaseRun) finish(w *workspace, m mark) (mark, error) {
	b := &w.block
	if err := s.cut(b, m.due); err != nil {
		return m, err
	}
	if s.onlyInserts {
		b.InsertBase = s.slice.first + b.PhaseFirst
		b.Keys = extend(b.Keys, b.Len())
		for j := range b.Keys {
			b.Keys[j] = b.InsertBase + uint64(j)
		}
		return m, nil
	}
	end := m
	w.deleted = w.deleted[:0]
	b.InsertBase, b.DeletesBefore = s.slice.insert(m.inserts), m.deletes
	b.VisibleRecords = s.slice.records + s.begins.inserts
	if s.mix.inserts {
		b.Seen = extend(b.Seen, b.Len())
		b.VisibleRecords += s.history.visible(b.PhaseFirst, b.Seen)
		end.inserts += countKind(b.Kinds, traces.Insert)
	}
	if s.mix.deletes {
		w.deleted = countBefore(w.deleted, b.Kinds, traces.Delete)
		end.deletes += countKind(b.Kinds, traces.Delete)
		if end.deletes > s.slice.records {
			return m, fmt.Errorf("%d deletes of %d records loaded", end.deletes, s.slice.records)
		}
	}
	if err := s.fillKeys(w, m); err != nil {
		return m, err
	}
	w.draws = s.lengths.fill(b, w.draws)
	b.Read = s.reads.fill(b.Read, b)
	b.Written = s.writes.fill(b.Written, b)
	return end, nil
}

// cut makes due times count from the start of the phase, and drops the
// operations behind its end.
func (s *phaseSource) cut(b *traces.Block, base uint64) error {
	if s.schedule == nil {
		return nil
	}
	if s.schedule.Random() {
		if last := b.Due[len(b.Due)-1]; last+base > arrival.MaxDue {
			for j, due := range b.Due {
				b.Due[j] = min(due+base, arrival.MaxDue)
			}
		} else if base > 0 {
			for j := range b.Due {
				b.Due[j] += base
			}
		}
	}
	if b.Due[len(b.Due)-1] < s.end {
		return nil
	}
	n := sort.Search(len(b.Due), func(j int) bool { return b.Due[j] >= s.end })
	if !s.timed {
		return fmt.Errorf("operation %d would be due %s after the start or later", b.PhaseFirst+uint64(n), maxPhaseText)
	}
	b.Kinds, b.Due = b.Kinds[:n], b.Due[:n]
	return nil
}

// fillKeys chooses the key of every operation.
func (s *phaseRun) fillKeys(w *workspace, m mark) error {
	b := &w.block
	b.Keys = extend(b.Keys, b.Len())
	c := &w.choices
	*c = choices{
		stream: s.keys, first: b.PhaseFirst, kinds: b.Kinds, keys: b.Keys,
		visible: b.VisibleRecords, seen: b.Seen,
		deletes: m.deletes, deleted: w.deleted, victims: s.victims, list: c.list,
		chosen: b.PhaseFirst - (m.inserts - s.begins.inserts) - (m.deletes - s.begins.deletes),
	}
	if s.mix.chooses {
		if s.law.ranked() {
			b.Ranks = extend(b.Ranks, b.Len())
			c.ranks = b.Ranks
		}
		if s.victims != nil {
			if err := c.checkLiving(s.law.reach()); err != nil {
				return err
			}
		}
		s.law.fill(c)
		s.slice.number(b.Keys)
	}
	if s.mix.inserts {
		next := b.InsertBase
		for j, kind := range b.Kinds {
			if kind == traces.Insert {
				b.Keys[j] = next
				next++
			}
		}
	}
	if s.mix.deletes {
		for j, kind := range b.Kinds {
			if kind == traces.Delete {
				b.Keys[j] = s.slice.first + s.victims.record(m.deletes+uint64(w.deleted[j]))
			}
		}
	}
	return nil
}

// extend returns column with n entries, of any value.
func extend[T any](column []T, n int) []T {
	if cap(column) < n {
		return make([]T, n, traces.BlockOps)
	}
	return column[:n]
}

// countBefore sets column[j] to how many of the first j kinds are k.
func countBefore(column []uint32, kinds []traces.Kind, k traces.Kind) []uint32 {
	column = extend(column, len(kinds))
	n := uint32(0)
	for j, kind := range kinds {
		column[j] = n
		n += (uint32(kind^k) - 1) >> 31
	}
	return column
}
