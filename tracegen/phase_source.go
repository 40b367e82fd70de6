package tracegen

import (
	"fmt"

	"pianola/tracegen/arrival"
	"pianola/tracegen/random"
	"pianola/traces"
)

// phaseSource gives the operations of one phase in order, block by block.
type phaseSource struct {
	// ops is the number of operations, at most; next is the index of the next.
	ops, next uint64
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

	// One of the two, or neither in an unpaced phase.
	constant *arrival.Constant
	poisson  *arrival.Poisson
	// duration in ns ends the phase; 0 means that ops does.
	tickNs, duration uint64
	due              uint64

	scanMin  uint32
	scanSpan uint64
	// 0: all fields.
	readOneOf, writeOneOf uint64

	kinds, gaps, keyDraws, scans, reads, writes random.Stream
}

// dueMax is where a phase must end: due times beyond it can't be told apart.
const dueMax = arrival.MaxDue / 2

// fill appends the next block of operations to b. Nothing is appended behind
// the last one.
func (s *phaseSource) fill(b *traces.Block) error {
	b.PhaseFirst, b.InsertBase, b.VisibleInserts = s.next, s.insert, s.visible
	if s.next > s.visibility && !s.onlyInserts {
		s.see(s.next - s.visibility)
		b.VisibleInserts = s.visible
	}
	for b.Len() < traces.BlockOps && s.next < s.ops {
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
		s.due = s.constant.Due(s.next) / s.tickNs
	default:
		return true, nil
	}
	if s.due > dueMax/s.tickNs {
		return false, fmt.Errorf("operation %d would be due more than 146 years after the start", s.next)
	}
	if s.duration > 0 && s.due*s.tickNs >= s.duration {
		return false, nil
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
		src := s.keyDraws.At(i)
		op.Key = s.law.key(&src, s.records+s.visible)
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
