package traces

// tally follows a trace block by block behind its sight: it checks that each
// block continues the one before, sums up the phases and computes their
// digests. Writer and Reader use the same one, so that what is written is what
// is checked.
type tally struct {
	header *Header
	totals Totals
	phase  int
	digest *PhaseDigest
	// undigested says that somebody else computes the digests.
	undigested bool
	// insert is the key number of the next insert, deletes the number of all
	// deletes so far.
	insert, deletes uint64
	lastDue         uint64
	// resumed says that the next block is taken as it comes: those before it were
	// not read.
	resumed bool
	// whole is the first phase that was read from its first op on; the one before
	// it only from some block on, if partial is set.
	whole   int
	partial bool
}

func newTally(h *Header) *tally {
	t := &tally{header: h, totals: Totals{Phases: make([]PhaseTotal, len(h.Phases))}}
	t.begin(0)
	return t
}

// resume goes on in front of a block of the given phase, whose first op has the
// given index over the trace. The totals of the phases before are taken on
// trust.
func (t *tally) resume(phase int, first uint64, totals []PhaseTotal) {
	*t = tally{header: t.header, totals: Totals{Phases: make([]PhaseTotal, len(totals))}, undigested: t.undigested, whole: phase}
	copy(t.totals.Phases, totals[:phase])
	start := uint64(0)
	for i := range totals[:phase] {
		start += totals[i].Count()
		t.deletes += totals[i].Ops[Delete]
		t.begin(i)
		t.insert += totals[i].Ops[Insert]
	}
	t.begin(phase)
	if first > start {
		t.digest.skip(first - start)
		t.resumed, t.partial, t.whole = true, true, phase+1
	}
}

func (t *tally) begin(phase int) {
	h := t.header
	t.phase, t.lastDue = phase, 0
	t.digest = NewPhaseDigest(h.Phases[phase].Paced)
	switch {
	case phase == 0 && h.loads():
		t.insert = h.FirstKey
	case phase == 0 || phase == 1 && h.loads():
		t.insert = h.insertFrom()
	}
}

func (t *tally) end() {
	total := &t.totals.Phases[t.phase]
	total.LastDue = t.lastDue
	if !t.undigested {
		total.Digest = t.digest.Sum()
		total.Chunks = t.digest.FullChunks()
	}
}

// add takes the next block; hashed is its hash if it begins a chunk and was
// hashed elsewhere. The hash that add returns is free.
func (t *tally) add(b *Block, counts *[KindLimit]int, hashed *chunkHash) (free *chunkHash, err error) {
	for t.phase < b.Phase {
		t.end()
		t.begin(t.phase + 1)
	}
	if t.resumed {
		t.insert, t.deletes = b.InsertBase, b.DeletesBefore
		t.resumed = false
	}
	if len(b.Due) > 0 && b.Due[0] < t.lastDue {
		return nil, broken(invDue, "due time %d of op %d is before that of the op before, %d", b.Due[0], b.First, t.lastDue)
	}
	if b.InsertBase != t.insert {
		return nil, broken(invKeys, "insert base %d where %d is due", b.InsertBase, t.insert)
	}
	if b.DeletesBefore != t.deletes {
		return nil, broken(invKeys, "block behind %d deletes where %d were", b.DeletesBefore, t.deletes)
	}
	total := &t.totals.Phases[t.phase]
	for k, n := range counts {
		total.Ops[k] += uint64(n)
	}
	t.insert += uint64(counts[Insert])
	t.deletes += uint64(counts[Delete])
	switch {
	case t.undigested:
		free = hashed
	case hashed != nil:
		free = t.digest.join(hashed)
	default:
		t.digest.Add(b)
	}
	if len(b.Due) > 0 {
		t.lastDue = b.Due[len(b.Due)-1]
	}
	return free, nil
}

// finish ends the last phase and returns the totals.
func (t *tally) finish() Totals {
	for t.end(); t.phase+1 < len(t.header.Phases); t.end() {
		t.begin(t.phase + 1)
	}
	t.totals.FirstFreeKey = t.insert
	if t.phase == 0 && t.header.loads() {
		t.totals.FirstFreeKey = t.header.insertFrom()
	}
	t.totals.Digest = Digest(t.header, t.totals.Phases)
	return t.totals
}
