package tracegen

import (
	"fmt"
	"time"

	"pianola/tracegen/arrival"
	"pianola/tracegen/random"
	"pianola/traces"
)

// phaseSource gives the operations of one phase in order, block by block.
type phaseSource struct {
	// ops is the number of operations, at most; next is the index of the next.
	ops, next uint64
	// blockOps is the number of operations of a full block.
	blockOps int
	// onlyInserts makes a load: no mix, no laws.
	onlyInserts bool
	mix         *mix
	law         keyLaw
	// records exist before the phase; insert is the key number of the next insert.
	records, insert uint64
	// Inserts with an index below seen are visible, and their number is visible.
	seen, visible uint64
	// An insert is visible to the ops behind the visibility-th after it.
	visibility uint64

	// One of the two, or neither in an unpaced phase. Constant arrivals need
	// ticks of 1 ns.
	constant *arrival.Constant
	poisson  *arrival.Poisson
	// No operation is due at end or later, in ticks. If the phase is timed that
	// is its end, else a fault. due is the last due time.
	end, due uint64
	timed    bool

	scanMin  uint32
	scanSpan uint64
	// 0: all fields.
	readOneOf, writeOneOf uint64

	kinds, gaps, keyDraws, scans, reads, writes random.Stream
	// keySource is what law draws from. It is here since what is passed to an
	// interface is allocated.
	keySource random.Source
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
// Constant arrivals begin at once.
func (s *phaseSource) isEmpty() bool {
	if !s.timed || s.poisson == nil {
		return false
	}
	src := s.gaps.At(0)
	return s.poisson.Gap(&src) >= s.end
}

// fill appends the next block of operations to b. Nothing is appended behind
// the last one.
func (s *phaseSource) fill(b *traces.Block) error {
	b.PhaseFirst, b.InsertBase, b.VisibleInserts = s.next, s.insert, s.visible
	if s.next > s.visibility && !s.onlyInserts {
		s.see(s.next - s.visibility)
		b.VisibleInserts = s.visible
	}
	for b.Len() < s.blockOps && s.next < s.ops {
		more, err := s.appendDue(b)
		if err != nil {
			return err
		}
		if !more {
			s.ops = s.next
			return nil
		}
		if s.onlyInserts {
			b.Kinds = append(b.Kinds, traces.Insert)
			b.Keys = append(b.Keys, s.insert)
			s.insert++
		} else {
			s.appendOp(b)
		}
		s.next++
	}
	return nil
}

// appendDue appends the due time of the next operation; false means that the
// phase is over before it.
func (s *phaseSource) appendDue(b *traces.Block) (bool, error) {
	switch {
	case s.poisson != nil:
		src := s.gaps.At(s.next)
		s.due += s.poisson.Gap(&src)
	case s.constant != nil:
		s.due = s.constant.Due(s.next)
	default:
		return true, nil
	}
	if s.due >= s.end {
		if s.timed {
			return false, nil
		}
		return false, fmt.Errorf("operation %d would be due %s after the start or later", s.next, maxPhaseText)
	}
	b.Due = append(b.Due, s.due)
	return true, nil
}

// see moves on to the visibility of inserts with an index below limit. Kinds
// are drawn again: that is cheaper than to keep them.
func (s *phaseSource) see(limit uint64) {
	if !s.mix.inserts {
		return
	}
	for ; s.seen < limit; s.seen++ {
		if s.kind(s.seen) == traces.Insert {
			s.visible++
		}
	}
}

func (s *phaseSource) kind(i uint64) traces.Kind {
	src := s.kinds.At(i)
	return s.mix.pick(src.Uint64())
}

func (s *phaseSource) appendOp(b *traces.Block) {
	i := s.next
	op := traces.Op{Kind: s.kind(i)}
	if op.Kind == traces.Insert {
		op.Key = s.insert
		s.insert++
	} else {
		if i > s.visibility {
			s.see(i - s.visibility)
		}
		s.keySource = s.keyDraws.At(i)
		op.Key = s.law.key(&s.keySource, s.records+s.visible)
	}
	if op.Kind == traces.Scan {
		src := s.scans.At(i)
		op.ScanLength = s.scanMin + uint32(src.Below(s.scanSpan))
	}
	if op.Kind.Reads() && s.readOneOf > 0 {
		src := s.reads.At(i)
		op.Read = traces.OneField(int(src.Below(s.readOneOf)))
	}
	if op.Kind.Writes() && op.Kind != traces.Insert && s.writeOneOf > 0 {
		src := s.writes.At(i)
		op.Written = traces.OneField(int(src.Below(s.writeOneOf)))
	}
	b.Kinds = append(b.Kinds, op.Kind)
	b.Keys = append(b.Keys, op.Key)
	b.ScanLengths = append(b.ScanLengths, op.ScanLength)
	b.Read = append(b.Read, op.Read)
	b.Written = append(b.Written, op.Written)
}
