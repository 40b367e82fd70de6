package traces

// sight follows the blocks of a trace in order, as soon as their kinds are
// known: it says which op of its phase a block begins with and which records
// its ops see. Keys that are stored as ages can't be read without.
type sight struct {
	header *Header
	phase  int
	// next is the index of the next op over the trace, phaseNext that over the
	// phase.
	next, phaseNext uint64
	// before is the number of records in front of the phase, inserts that of the
	// phase's inserts so far.
	before, inserts uint64
	// visibility is nil in a phase that states none.
	visibility *visibility
	// resumed says that the next block's own word is taken for what it sees.
	resumed bool
}

func newSight(h *Header) *sight {
	s := &sight{header: h}
	if !h.loads() {
		s.before = h.Records
	}
	s.visibility = newVisibility(h.Phases[0].VisibilityOps)
	return s
}

// resume goes on in front of a block of the given phase, whose first op has the
// given index over the trace. before are the totals of the phases, of which
// those in front of the phase are used.
func (s *sight) resume(phase int, first uint64, before []PhaseTotal) {
	*s = *newSight(s.header)
	for s.phase < phase {
		s.inserts = before[s.phase].Ops[Insert]
		s.next += before[s.phase].Count()
		s.begin(s.phase + 1)
	}
	s.phaseNext = first - s.next
	s.next, s.resumed = first, s.phaseNext > 0
}

// recall takes the kinds of ops of the phase in front of the next block, which
// this one may be blind for.
func (s *sight) recall(phaseFirst uint64, kinds []Kind) {
	if s.visibility != nil {
		s.visibility.add(phaseFirst, kinds)
	}
}

func (s *sight) begin(phase int) {
	if s.phase == 0 && s.header.loads() {
		s.before = s.header.Records
	} else {
		s.before += s.inserts
	}
	s.phase, s.phaseNext, s.inserts = phase, 0, 0
	s.visibility = newVisibility(s.header.Phases[phase].VisibilityOps)
}

// take takes the next block, whose kinds are known. It sets b.PhaseFirst and,
// where keys are stored as ages, returns how many more records each op sees than
// the first, in the memory of seen; nothing where none does.
func (s *sight) take(b *Block, counts *[KindLimit]int, seen []uint32) ([]uint32, error) {
	seen = seen[:0]
	if b.Phase < s.phase {
		return seen, broken(invBlockOrder, "block of phase %d behind phase %d", b.Phase, s.phase)
	}
	for s.phase < b.Phase {
		s.begin(s.phase + 1)
	}
	if b.First != s.next {
		return seen, broken(invBlockOrder, "block begins with op %d where op %d is due", b.First, s.next)
	}
	b.PhaseFirst = s.phaseNext
	if s.resumed {
		s.inserts = b.InsertBase - s.header.insertFrom() + s.header.Records - s.before
	}
	visible := uint64(0)
	if v := s.visibility; v != nil {
		if s.resumed {
			v.resume(b.PhaseFirst, b.VisibleRecords-s.before)
		}
		visible = s.before + v.at(b.PhaseFirst)
		v.add(b.PhaseFirst, b.Kinds)
		if s.header.Phases[b.Phase].KeyMap.Code == CodeAge && visible == b.VisibleRecords {
			seen = sized(seen, b.Len())
			v.seen(seen, b.PhaseFirst)
		}
	}
	if b.VisibleRecords != visible {
		return seen, broken(invKeys, "block with %d visible records where %d are", b.VisibleRecords, visible)
	}
	s.resumed = false
	s.inserts += uint64(counts[Insert])
	s.next += uint64(b.Len())
	s.phaseNext += uint64(b.Len())
	return seen, nil
}
