package traces

// tally follows a trace block by block: it checks that each continues the one
// before, sums up the phases and computes their digests. Writer and Reader use
// the same one, so that what is written is what is checked.
type tally struct {
	header *Header
	totals Totals
	phase  int
	digest *PhaseDigest
	// visibility is nil in a phase that states none.
	visibility *visibility
	// next is the index of the next op over the trace, insert the key number
	// of the next insert.
	next, insert uint64
	lastDue      uint64
}

func newTally(h *Header) *tally {
	t := &tally{header: h, insert: h.FirstKey, totals: Totals{Phases: make([]PhaseTotal, len(h.Phases))}}
	if h.Phases[0].Name != LoadPhase {
		t.insert = h.FirstKey + h.Records
	}
	t.begin(0)
	return t
}

// skip begins with the given phase; the totals of those before are taken on
// trust.
func (t *tally) skip(phase int, before []PhaseTotal) {
	for i := range before {
		t.insert += before[i].Ops[Insert]
		t.next += before[i].Count()
	}
	copy(t.totals.Phases, before)
	t.begin(phase)
}

func (t *tally) begin(phase int) {
	t.phase, t.lastDue = phase, 0
	t.digest = NewPhaseDigest(t.header.Phases[phase].Paced)
	t.visibility = newVisibility(t.header.Phases[phase].VisibilityOps)
}

func (t *tally) end() {
	total := &t.totals.Phases[t.phase]
	total.Digest, total.LastDue = t.digest.Sum(), t.lastDue
	total.Chunks = t.digest.FullChunks()
}

// add takes the next block. It sets b.PhaseFirst.
func (t *tally) add(b *Block) error {
	if b.Phase < t.phase {
		return broken(invBlockOrder, "block of phase %d behind phase %d", b.Phase, t.phase)
	}
	for t.phase < b.Phase {
		t.end()
		t.begin(t.phase + 1)
	}
	if b.First != t.next {
		return broken(invBlockOrder, "block begins with op %d where op %d is due", b.First, t.next)
	}
	if len(b.Due) > 0 && b.Due[0] < t.lastDue {
		return broken(invDue, "due time %d of op %d is before that of the op before, %d", b.Due[0], b.First, t.lastDue)
	}
	if b.InsertBase != t.insert {
		return broken(invKeys, "insert base %d where %d is due", b.InsertBase, t.insert)
	}
	b.PhaseFirst = t.digest.Count()
	if err := t.see(b); err != nil {
		return err
	}
	total := &t.totals.Phases[t.phase]
	inserts := total.Ops[Insert]
	for _, k := range b.Kinds {
		total.Ops[k]++
	}
	t.insert += total.Ops[Insert] - inserts
	t.digest.Add(b)
	t.next += uint64(b.Len())
	if len(b.Due) > 0 {
		t.lastDue = b.Due[len(b.Due)-1]
	}
	return nil
}

// see checks how many inserts the block says that its first op sees.
func (t *tally) see(b *Block) error {
	visible := uint64(0)
	if t.visibility != nil {
		visible = t.visibility.at(b.PhaseFirst)
		t.visibility.add(b.PhaseFirst, b.Kinds)
	}
	if b.VisibleInserts != visible {
		return broken(invKeys, "block with %d visible inserts where %d are", b.VisibleInserts, visible)
	}
	return nil
}

// finish ends the last phase and returns the totals.
func (t *tally) finish() Totals {
	for t.end(); t.phase+1 < len(t.header.Phases); t.end() {
		t.begin(t.phase + 1)
	}
	t.totals.FirstFreeKey = t.insert
	t.totals.Digest = Digest(t.header, t.totals.Phases)
	return t.totals
}
