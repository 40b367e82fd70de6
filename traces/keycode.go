package traces

import (
	"math/bits"
	"slices"

	"pianola/traces/keymap"
)

// KeyCode says what is stored in place of a key number. The popularity ranks of
// a skewed law take less room than the keys that they stand for.
type KeyCode uint8

const (
	// CodeNumber stores the key number less the header's first key.
	CodeNumber KeyCode = iota
	// CodeAge stores how many of the records that the operation sees are newer.
	CodeAge
	// CodeSuccessor stores how far the record is behind the one after that of the
	// code before, around the header's records: 0 where keys follow one another.
	CodeSuccessor
	// CodeScrambled stores a rank, which a keymap.Scramble maps to a record.
	CodeScrambled
	// CodeFolded stores a rank below FoldedRanks, which a keymap.Fold maps to a
	// record, or FoldedRanks plus the record.
	CodeFolded

	keyCodeLimit
)

// FoldedRanks is the number of ranks that CodeFolded stores. Those of YCSB's law
// beyond are strewn so evenly that a record's number takes less room.
const FoldedRanks = 1 << 15

// KeyMap is what the key codes of a phase stand for. Its zero value is that of
// key numbers.
type KeyMap struct {
	Code KeyCode
	// Items is the number of records of the scramble, or the modulus of the fold.
	Items uint64
	// RoundKeys are those of the scramble.
	RoundKeys [keymap.Rounds]uint64
}

// check checks what does not depend on the rest of the header.
func (m *KeyMap) check(phase string) error {
	scrambled, folded := m.Code == CodeScrambled, m.Code == CodeFolded
	switch {
	case m.Code >= keyCodeLimit:
		return broken(invHeader, "unknown key code %d of phase %s", m.Code, phase)
	case scrambled && (m.Items < 1 || m.Items > keymap.MaxItems), folded && (m.Items < 1 || m.Items > keyMax-FoldedRanks):
		return broken(invHeader, "key map of phase %s over %d records", phase, m.Items)
	case !scrambled && !folded && m.Items != 0, !scrambled && m.RoundKeys != [keymap.Rounds]uint64{}:
		return broken(invHeader, "key map of phase %s with items or round keys that its code does not use", phase)
	}
	return nil
}

// keyCoder turns keys into codes and back, for one phase at a time. It is used
// by one goroutine.
type keyCoder struct {
	records recordRange
	// victims is nil if deletes have codes as other ops.
	victims  *keymap.Scramble
	phase    int
	m        KeyMap
	scramble *keymap.Scramble
	fold     keymap.Fold
	// hot are the records of the first hotBelow ranks, in a table, which is faster
	// than the map.
	hot      []uint64
	hotBelow uint64
	codes    []uint64
	cold     coldRanks
}

// recordRange numbers records from 0: first those of the header, then the
// inserts behind the load.
type recordRange struct{ first, records, insertFrom uint64 }

func (h *Header) recordRange() recordRange {
	return recordRange{h.FirstKey, h.Records, h.insertFrom()}
}

// key returns the key number of a record.
func (r *recordRange) key(record uint64) uint64 {
	if record < r.records {
		return r.first + record
	}
	return r.insertFrom + (record - r.records)
}

// record returns the record of a key number, and false if there is none.
func (r *recordRange) record(key uint64) (uint64, bool) {
	switch {
	case key >= r.first && key-r.first < r.records:
		return key - r.first, true
	case key >= r.insertFrom:
		return key - r.insertFrom + r.records, true
	}
	return 0, false
}

// hotRanks is the greatest number of ranks of a scramble that a table holds.
const hotRanks = 1 << 14

// coldRanks are those of some codes that no table holds, and where they stand.
type coldRanks struct {
	ranks [1 << 10]uint64
	at    [1 << 10]uint16
}

func newKeyCoder(h *Header) *keyCoder {
	c := &keyCoder{records: h.recordRange(), phase: -1}
	if h.Victims != nil {
		c.victims = mustScramble(h.Records, *h.Victims)
	}
	return c
}

// mustScramble makes a scramble that a checked header describes.
func mustScramble(n uint64, keys [keymap.Rounds]uint64) *keymap.Scramble {
	s, err := keymap.NewScramble(n, keys)
	if err != nil {
		panic("traces: internal error: " + err.Error())
	}
	return s
}

// use prepares for a phase.
func (c *keyCoder) use(h *Header, phase int) {
	if c.phase == phase {
		return
	}
	same := c.phase >= 0 && c.m == h.Phases[phase].KeyMap
	c.phase, c.m = phase, h.Phases[phase].KeyMap
	if same {
		return
	}
	switch c.m.Code {
	case CodeScrambled:
		c.scramble = mustScramble(c.m.Items, c.m.RoundKeys)
		c.hot, c.hotBelow = sized(c.hot, hotRanks), min(hotRanks, c.m.Items)
		for rank := range c.hotBelow {
			c.hot[rank] = rank
		}
		c.scramble.MapAll(c.hot[:c.hotBelow], c.hot[:c.hotBelow])
	case CodeFolded:
		var err error
		if c.fold, err = keymap.NewFold(c.m.Items); err != nil {
			panic("traces: internal error: " + err.Error())
		}
		c.hot, c.hotBelow = sized(c.hot, FoldedRanks), FoldedRanks
		for rank := range c.hot {
			c.hot[rank] = c.fold.Key(uint64(rank))
		}
	}
}

// coded tells the kinds whose keys have codes.
func (c *keyCoder) coded(k Kind) bool { return k != Insert && !(k == Delete && c.victims != nil) }

// count returns how many of the ops have codes.
func (c *keyCoder) count(counts *[KindLimit]int) (n int) {
	for k := range KindLimit {
		if counts[k] > 0 && c.coded(k) {
			n += counts[k]
		}
	}
	return n
}

// encode returns the codes of b's keys, in memory that the next call reuses.
// seen[j] is how many more records op j sees than the first op.
func (c *keyCoder) encode(b *Block, seen []uint32) ([]uint64, error) {
	codes := sized(c.codes, b.Len())
	c.codes = codes
	n := 0
	next := uint64(0) // for CodeSuccessor
	for j, k := range b.Kinds {
		if !c.coded(k) {
			continue
		}
		key := b.Keys[j]
		code := key - c.records.first
		if c.m.Code == CodeNumber {
			if key < c.records.first {
				return nil, broken(invKeys, "key number %d of op %d is before the first, %d", key, j, c.records.first)
			}
			codes[n] = code
			n++
			continue
		}
		record, ok := c.records.record(key)
		if !ok {
			return nil, broken(invKeys, "key number %d of op %d is no record's", key, j)
		}
		switch c.m.Code {
		case CodeAge:
			visible := b.VisibleRecords + uint64(at(seen, j))
			if record >= visible {
				return nil, broken(invKeys, "op %d reads record %d and sees %d", j, record, visible)
			}
			code = visible - 1 - record
		case CodeSuccessor:
			if record >= c.records.records {
				return nil, broken(invKeys, "op %d reads record %d of %d", j, record, c.records.records)
			}
			if code = record - next; record < next {
				code += c.records.records
			}
			if next = record + 1; next == c.records.records {
				next = 0
			}
		case CodeScrambled:
			if record >= c.m.Items {
				return nil, broken(invKeys, "op %d reads record %d, its key map has %d", j, record, c.m.Items)
			}
			code = c.scramble.Inverse(record)
		case CodeFolded:
			code = FoldedRanks + record
		}
		codes[n] = code
		n++
	}
	return codes[:n], nil
}

// encodeRanks is encode for a block with ranks, which are taken on trust where
// they are below the number that codes hold.
func (c *keyCoder) encodeRanks(b *Block, counts *[KindLimit]int) ([]uint64, error) {
	n, ranks, keys := 0, b.Ranks[:len(b.Kinds)], b.Keys[:len(b.Kinds)]
	limit, folded := c.m.Items, c.m.Code == CodeFolded
	if folded {
		limit = FoldedRanks
	}
	if c.count(counts) == b.Len() {
		if folded && c.foldAll(b) {
			return c.codes, nil
		}
		if !folded && allBelow(ranks, limit) {
			return ranks, nil
		}
	}
	codes := sized(c.codes, b.Len())
	c.codes = codes
	for j, k := range b.Kinds {
		if !c.coded(k) {
			continue
		}
		code := ranks[j]
		if code >= limit {
			record, ok := c.records.record(keys[j])
			if !ok || !folded {
				return nil, broken(invKeys, "key number %d of op %d has rank %d of %d", keys[j], j, code, limit)
			}
			code = FoldedRanks + record
		}
		codes[n] = code
		n++
	}
	return codes[:n], nil
}

// allBelow reports whether all numbers are below limit <= 2^63.
func allBelow(numbers []uint64, limit uint64) bool {
	every := uint64(0)
	for _, n := range numbers {
		every |= n | (limit - 1 - n)
	}
	return every < 1<<63
}

// foldAll sets c.codes to the codes of b's keys under CodeFolded if every op has
// one and every key is a record of the header.
func (c *keyCoder) foldAll(b *Block) bool {
	codes, ranks, keys := sized(c.codes, b.Len()), b.Ranks[:b.Len()], b.Keys[:b.Len()]
	c.codes = codes
	first, every := c.records.first, uint64(0)
	for j := range codes {
		// Which of the two can't be foretold.
		rank, record := ranks[j], keys[j]-first
		_, below := bits.Sub64(rank, FoldedRanks, 0)
		every |= record | (c.records.records - 1 - record)
		record += FoldedRanks
		codes[j] = record ^ (record^rank)&-below
	}
	return every < 1<<63
}

// decode sets b's keys, those of inserts and deletes too.
func (c *keyCoder) decode(b *Block, column *codeColumn, counts *[KindLimit]int, seen []uint32) error {
	if b.InsertBase > keyMax-BlockOps {
		return broken(invKeys, "first insert has key number %d", b.InsertBase)
	}
	n := c.count(counts)
	if err := column.check(n, invKeys); err != nil {
		return err
	}
	b.Keys = sized(b.Keys, b.Len())
	codes := b.Keys
	if n < b.Len() {
		codes = sized(c.codes, n)
		c.codes = codes
	}
	column.decode(codes)
	if err := c.toRecords(b, codes, seen); err != nil {
		return err
	}
	if c.m.Code != CodeNumber && (c.records.first != 0 || c.records.insertFrom != c.records.records) {
		for i, record := range codes {
			if record > keyMax { // the sum might pass 2^64 and look like a key
				return broken(invKeys, "record %d is beyond 2^63 - 1", record)
			}
			codes[i] = c.records.key(record)
		}
	}
	return c.strew(b, codes, counts)
}

// toRecords turns codes into records, or key numbers under CodeNumber.
func (c *keyCoder) toRecords(b *Block, codes []uint64, seen []uint32) error {
	switch c.m.Code {
	case CodeNumber:
		if c.records.first != 0 {
			for i := range codes {
				codes[i] += min(c.records.first, ^uint64(0)-codes[i])
			}
		}
	case CodeAge:
		return c.fromAges(b, codes, seen)
	case CodeSuccessor:
		next, records := uint64(0), c.records.records
		for i, code := range codes {
			if code >= records {
				return broken(invKeys, "key code %d around %d records", code, records)
			}
			if next += code; next >= records {
				next -= records
			}
			codes[i] = next
			if next++; next == records {
				next = 0
			}
		}
	case CodeScrambled:
		return c.fromRanks(codes)
	case CodeFolded:
		hot := c.hot[:FoldedRanks]
		for i, code := range codes {
			// Which of the two can't be foretold.
			record, below := bits.Sub64(code, FoldedRanks, 0)
			codes[i] = record ^ (record^hot[code%FoldedRanks])&-below
		}
	}
	return nil
}

// fromRanks turns the ranks of a scramble into records. Which of them are in the
// table can't be foretold: all are looked up, and the others mapped apart.
func (c *keyCoder) fromRanks(codes []uint64) error {
	hot, below, cold := c.hot[:hotRanks], c.hotBelow, &c.cold
	for len(codes) > 0 {
		part := codes[:min(len(codes), len(cold.ranks))]
		codes = codes[len(part):]
		n := uint(0)
		for i, code := range part {
			cold.ranks[n%uint(len(cold.ranks))], cold.at[n%uint(len(cold.at))] = code, uint16(i)
			_, isHot := bits.Sub64(code, below, 0)
			n += uint(1 - isHot)
			part[i] = hot[code%hotRanks]
		}
		ranks := cold.ranks[:n]
		for _, rank := range ranks {
			if rank >= c.m.Items {
				return broken(invKeys, "rank %d of %d", rank, c.m.Items)
			}
		}
		c.scramble.MapAll(ranks, ranks)
		for i, record := range ranks {
			part[cold.at[i]] = record
		}
	}
	return nil
}

func (c *keyCoder) fromAges(b *Block, codes []uint64, seen []uint32) error {
	i := 0
	for j, k := range b.Kinds {
		if !c.coded(k) {
			continue
		}
		visible := b.VisibleRecords + uint64(at(seen, j))
		if codes[i] >= visible {
			return broken(invKeys, "op %d reads the record of age %d and sees %d", j, codes[i], visible)
		}
		codes[i] = visible - 1 - codes[i]
		i++
	}
	return nil
}

// strew puts the keys of coded ops in their places, and what is implied between
// them.
func (c *keyCoder) strew(b *Block, keys []uint64, counts *[KindLimit]int) error {
	every := uint64(0)
	for _, key := range keys {
		every |= key
	}
	if every > keyMax {
		return broken(invKeys, "key number %d is beyond 2^63 - 1", slices.Max(keys))
	}
	if len(keys) == b.Len() {
		return nil // they are in their places
	}
	if counts[Delete] > 0 && c.victims != nil && (b.DeletesBefore > c.records.records || uint64(counts[Delete]) > c.records.records-b.DeletesBefore) {
		return broken(invKeys, "%d deletes of %d records behind %d", counts[Delete], c.records.records, b.DeletesBefore)
	}
	insert, deletes, i := b.InsertBase, b.DeletesBefore, 0
	for j, k := range b.Kinds {
		switch {
		case k == Insert:
			b.Keys[j] = insert
			insert++
		case k == Delete && c.victims != nil:
			b.Keys[j] = c.records.first + c.victims.Map(deletes)
			deletes++
		default:
			b.Keys[j] = keys[i]
			i++
		}
	}
	return nil
}
