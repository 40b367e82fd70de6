package traces

import (
	"math/bits"
	"slices"
)

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
	const low = 0x0101_0101_0101_0101 // the lowest bit of each byte
	every, beyond := kinds, uint64(0)
	var all [256]int
	// Eight kinds at a time: sums, a byte for each, of the bits of a kind and of
	// their products. A byte holds 255 of them.
	for len(kinds) >= 8 {
		part := kinds[:min(len(kinds), 8*255)&^7]
		kinds = kinds[len(part):]
		var b1, b2, b4, b12, b14, b24, b124 uint64
		for ; len(part) >= 8; part = part[8:] {
			w := eightKinds(part)
			beyond |= w &^ (7 * low)
			one, two, four := w&low, w>>1&low, w>>2&low
			b1, b2, b4 = b1+one, b2+two, b4+four
			b12, b14, b24, b124 = b12+one&two, b14+one&four, b24+two&four, b124+one&two&four
		}
		k3, k5, k6, k7 := b12-b124, b14-b124, b24-b124, b124
		for k, sums := range [8]uint64{1: b1 - k3 - k5 - k7, 2: b2 - k3 - k6 - k7, 3: k3, 4: b4 - k5 - k6 - k7, 5: k5, 6: k6, 7: k7} {
			all[k] += sumOfBytes(sums)
		}
	}
	if beyond != 0 {
		kinds, all = every, [256]int{}
	}
	for _, k := range kinds {
		all[k]++
	}
	counts[0] = len(every) // less those of every kind that there is
	for k := Kind(1); k < KindLimit; k++ {
		counts[k] = all[k]
		counts[0] -= all[k]
	}
	return counts
}

// sumOfBytes returns the sum of the eight bytes of w.
func sumOfBytes(w uint64) int {
	const even = 0x00FF_00FF_00FF_00FF
	return int((w&even + w>>8&even) * 0x0001_0001_0001_0001 >> 48)
}

// eightKinds returns the first eight kinds, the first one lowest.
func eightKinds(k []Kind) uint64 {
	_ = k[7]
	return uint64(k[0]) | uint64(k[1])<<8 | uint64(k[2])<<16 | uint64(k[3])<<24 | uint64(k[4])<<32 | uint64(k[5])<<40 | uint64(k[6])<<48 | uint64(k[7])<<56
}

// setEightKinds sets the first eight kinds.
func setEightKinds(k []Kind, w uint64) {
	_ = k[7]
	k[0], k[1], k[2], k[3] = Kind(w), Kind(w>>8), Kind(w>>16), Kind(w>>24)
	k[4], k[5], k[6], k[7] = Kind(w>>32), Kind(w>>40), Kind(w>>48), Kind(w>>56)
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
	done := 0
	if width == 1 {
		done = packTwo(out, kinds, Kind(c.table[0]), Kind(c.table[1]))
	}
	for i := done; i < len(out); i++ {
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

// packTwo packs indexes of one bit, of whole bytes, and returns how many bytes
// that were. first and second are the kinds.
func packTwo(out []byte, kinds []Kind, first, second Kind) int {
	const low = 0x0101_0101_0101_0101
	// The two differ in this bit.
	bit := uint(bits.TrailingZeros8(uint8(first^second))) & 7
	flip := uint64(first>>bit&1) * low
	for i := range len(kinds) / 8 {
		w := eightKinds(kinds[8*i:])>>bit&low ^ flip
		out[i] = byte(w * 0x0102_0408_1020_4080 >> 56)
	}
	return len(kinds) / 8
}

// unpackTwo is the inverse of packTwo.
func unpackTwo(kinds []Kind, indexes []byte, first, second Kind) int {
	const low = 0x0101_0101_0101_0101
	base, change := uint64(first)*low, uint64(first^second)
	for i := range len(kinds) / 8 {
		w := uint64(indexes[i]) * low & 0x8040_2010_0804_0201 // a bit in each byte
		w = (w + 0x7F7F_7F7F_7F7F_7F7F) >> 7 & low
		setEightKinds(kinds[8*i:], base^w*change)
	}
	return len(kinds) / 8
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
	done := 0
	if width == 1 {
		done = unpackTwo(kinds, c.indexes, table[0], table[1])
	}
	for i := done; i < len(c.indexes); i++ {
		b := c.indexes[i]
		for j := i * perByte; j < min((i+1)*perByte, len(kinds)); j++ {
			kinds[j] = table[b&mask]
			b >>= width
		}
	}
}
