package traces

import "slices"

// kindColumn holds kinds as indexes into a table of those that occur, the most
// frequent first: of 1, 2 or 4 bits each, lowest first, or of none if there is
// one kind only.
type kindColumn struct {
	table   []byte
	indexes []byte
	memory  [KindLimit]byte
}

// kindCounts returns how often each kind occurs, invalid ones in place 0.
func kindCounts(kinds []Kind) (counts [KindLimit]int) {
	var all [256]int
	for _, k := range kinds {
		all[k]++
	}
	copy(counts[:], all[:KindLimit])
	for _, n := range all[KindLimit:] {
		counts[0] += n
	}
	return counts
}

// indexBits returns the width of an index into a table of n kinds.
func indexBits(n int) uint {
	switch {
	case n <= 1:
		return 0
	case n <= 2:
		return 1
	case n <= 4:
		return 2
	}
	return 4
}

// tableOf returns the kinds that occur, most frequent first, in memory of the
// column; of two that are equally frequent the one with the lower number.
func (c *kindColumn) tableOf(counts *[KindLimit]int) []byte {
	table := c.memory[:0]
	for k := range KindLimit {
		if counts[k] > 0 {
			table = append(table, byte(k))
		}
	}
	slices.SortStableFunc(table, func(a, b byte) int { return counts[b] - counts[a] })
	return table
}

// encode fills the column in its own memory.
func (c *kindColumn) encode(kinds []Kind, counts *[KindLimit]int) {
	c.table = c.tableOf(counts)
	width := indexBits(len(c.table))
	if width == 0 {
		c.indexes = c.indexes[:0]
		return
	}
	var index [256]byte
	for i, k := range c.table {
		index[k] = byte(i)
	}
	perByte := 8 / int(width)
	out := sized(c.indexes, (len(kinds)+perByte-1)/perByte)
	for i := range out {
		part := kinds[i*perByte : min((i+1)*perByte, len(kinds))]
		b, shift := byte(0), uint(0)
		for _, k := range part {
			b |= index[k] << (shift & 7)
			shift += width
		}
		out[i] = b
	}
	c.indexes = out
}

// decode sets kinds to those of the column and returns how often each occurs.
func (c *kindColumn) decode(kinds []Kind) (counts [KindLimit]int, err error) {
	if len(c.table) == 0 || len(c.table) >= int(KindLimit) {
		return counts, broken(invColumns, "table of %d kinds", len(c.table))
	}
	for _, k := range c.table {
		if !Kind(k).Valid() {
			return counts, broken(invColumns, "unknown kind %d", k)
		}
	}
	width := indexBits(len(c.table))
	if want := (len(kinds)*int(width) + 7) / 8; len(c.indexes) != want {
		return counts, broken(invColumns, "%d bytes for %d kinds of %d bits", len(c.indexes), len(kinds), width)
	}
	if width == 0 {
		for i := range kinds {
			kinds[i] = Kind(c.table[0])
		}
	} else {
		c.unpack(kinds, width)
	}
	counts = kindCounts(kinds)
	// What is no index became kind 0; the unused bits of the last byte are
	// checked by way of the table, which must be the one that encode makes.
	if counts[0] > 0 {
		return counts, broken(invColumns, "index beyond the table of %d kinds", len(c.table))
	}
	if spare := len(kinds) * int(width) % 8; spare > 0 && c.indexes[len(c.indexes)-1]>>spare != 0 {
		return counts, broken(invColumns, "bits behind the last kind")
	}
	if want := c.tableOf(&counts); !slices.Equal(want, c.table) {
		return counts, broken(invColumns, "table of kinds % x where % x is due", c.table, want)
	}
	return counts, nil
}

// unpack sets kinds by their indexes; what is no index becomes kind 0.
func (c *kindColumn) unpack(kinds []Kind, width uint) {
	var table [16]Kind
	for i, k := range c.table {
		table[i] = Kind(k)
	}
	perByte := 8 / int(width)
	mask := byte(1<<width - 1)
	for i, b := range c.indexes {
		for j := i * perByte; j < min((i+1)*perByte, len(kinds)); j++ {
			kinds[j] = table[b&mask]
			b >>= width
		}
	}
}
