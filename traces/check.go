package traces

// Which kinds have an entry in the columns of scan lengths, of fields read and
// of fields written.
var (
	kindScans  = kindTable(func(k Kind) bool { return k == Scan })
	kindReads  = kindTable(Kind.Reads)
	kindWrites = kindTable(Kind.Writes)
)

// kindTable tabulates is. A table of 256 needs no bounds check.
func kindTable(is func(Kind) bool) (table [256]bool) {
	for k := range KindLimit {
		table[k] = is(k)
	}
	return table
}

// checkBlock checks what a Writer is given: columns of one length and values
// within their limits. What passes can be encoded and is what decode takes. It
// returns how often each kind occurs, and whether the due times are those of the
// phase's stated rate from op b.PhaseFirst on.
func checkBlock(b *Block, h *Header) (counts [KindLimit]int, constant bool, err error) {
	n := b.Len()
	if n == 0 || n > BlockOps {
		return counts, constant, broken(invBlockCount, "block of %d ops; a block has 1 to %d", n, BlockOps)
	}
	if b.Phase < 0 || b.Phase >= len(h.Phases) {
		return counts, constant, broken(invBlockOrder, "block of phase %d; the header has %d", b.Phase, len(h.Phases))
	}
	dues := 0
	if h.Phases[b.Phase].Paced {
		dues = n
	}
	optional := func(got int) bool { return got == 0 || got == n }
	if len(b.Keys) != n || len(b.Due) != dues || !optional(len(b.ScanLengths)) || !optional(len(b.Read)) || !optional(len(b.Written)) || !optional(len(b.Ranks)) {
		return counts, constant, broken(invColumns, "columns of unequal length")
	}
	if counts = kindCounts(b.Kinds); counts[0] > 0 {
		return counts, constant, broken(invColumns, "%d ops of an unknown kind", counts[0])
	}
	if err := checkKeys(b, counts[Insert]); err != nil {
		return counts, constant, err
	}
	most := tickMax(h.Tick)
	constant = isConstant(b, h) && b.Due[n-1] <= most
	if !constant { // else they don't fall
		if err := checkDue(b.Due, most); err != nil {
			return counts, constant, err
		}
	}
	for i, length := range b.ScanLengths {
		if length > scanLengthMax || length != 0 && b.Kinds[i] != Scan {
			return counts, constant, broken(invScanLengths, "scan length %d of op %d, a %v", length, i, b.Kinds[i])
		}
	}
	if err := checkFieldSets(b.Read, b.Kinds, &kindReads, h.Fields.Count); err != nil {
		return counts, constant, err
	}
	return counts, constant, checkFieldSets(b.Written, b.Kinds, &kindWrites, h.Fields.Count)
}

func checkKeys(b *Block, inserts int) error {
	insert := b.InsertBase
	if insert > keyMax-BlockOps {
		return broken(invKeys, "first insert has key number %d", insert)
	}
	keys := b.Keys[:len(b.Kinds)]
	every := uint64(0)
	for _, key := range keys {
		every |= key
	}
	if every <= keyMax && inserts == 0 {
		return nil
	}
	for i, k := range b.Kinds {
		switch {
		case k == Insert:
			if keys[i] != insert {
				return broken(invKeys, "insert of key number %d where %d is due", keys[i], insert)
			}
			insert++
		case keys[i] > keyMax:
			return broken(invKeys, "key number %d of op %d is beyond 2^63 - 1", keys[i], i)
		}
	}
	return nil
}

func checkDue(due []uint64, most uint64) error {
	// Where no time and no difference has the highest bit, none falls.
	last, every := uint64(0), uint64(0)
	for _, tick := range due {
		every |= tick | (tick - last)
		last = tick
	}
	if every < 1<<63 && last <= most {
		return nil
	}
	last = 0
	for i, tick := range due {
		if tick < last || tick > most {
			return broken(invDue, "due time %d of op %d behind %d; the last possible is %d", tick, i, last, most)
		}
		last = tick
	}
	return nil
}

func checkFieldSets(sets []FieldSet, kinds []Kind, has *[256]bool, fields int) error {
	// Which ops have a set of one field can't be foretold: look without a branch
	// first.
	most, stray := FieldSet(0), FieldSet(0)
	var masks [256]FieldSet
	for k, is := range has {
		if !is {
			masks[k] = 1<<32 - 1
		}
	}
	kinds = kinds[:len(sets)]
	for i, set := range sets {
		most = max(most, set)
		stray |= set & masks[kinds[i]]
	}
	if uint64(most) <= uint64(fields) && stray == 0 {
		return nil
	}
	for i, set := range sets {
		if uint64(set) > uint64(fields) || set != AllFields && !has[kinds[i]] {
			return broken(invFields, "field set %d of op %d, a %v, with %d fields", set, i, kinds[i], fields)
		}
	}
	return nil
}
