package traces

import "encoding/binary"

// narrowColumn holds numbers below 2^32 in as few bits each as the greatest of
// them needs: 4, 8, 16 or 32, lowest bits and bytes first, or none if all are 0.
type narrowColumn struct {
	width  uint64
	column []byte
	picked []uint32
}

// widthOf returns the width of a column whose greatest number has the highest
// bit of v.
func widthOf(v uint32) uint64 {
	switch {
	case v == 0:
		return 0
	case v < 1<<4:
		return 4
	case v < 1<<8:
		return 8
	case v < 1<<16:
		return 16
	}
	return 32
}

// encodeNarrow fills c with the values of the ops whose kind has one; without
// values they are zeros.
func encodeNarrow[T ~uint32](c *narrowColumn, kinds []Kind, has *[256]bool, values []T) {
	c.width, c.column = 0, c.column[:0]
	if len(values) == 0 {
		return
	}
	// Which ops have a value can't be foretold: each is written, and the next one
	// over it unless it counts. Those of the others are 0.
	var counts [256]uint8
	for k, is := range has {
		if is {
			counts[k] = 1
		}
	}
	picked := sized(c.picked, len(kinds)+1)
	n, every := uint(0), uint32(0)
	values = values[:len(kinds)]
	for i, k := range kinds {
		v := uint32(values[i])
		picked[n] = v
		n += uint(counts[k])
		every |= v
	}
	c.picked = picked
	c.width = widthOf(every)
	c.pack(picked[:n])
}

// pack fills the column with values of at most its width.
func (c *narrowColumn) pack(values []uint32) {
	n := len(values)
	out := sized(c.column, (n*int(c.width)+7)/8)
	c.column = out
	switch c.width {
	case 4:
		for i := range n / 2 {
			out[i] = byte(values[2*i] | values[2*i+1]<<4)
		}
		if n&1 == 1 {
			out[n/2] = byte(values[n-1])
		}
	case 8:
		for i, v := range values {
			out[i] = byte(v)
		}
	case 16:
		for i, v := range values {
			binary.LittleEndian.PutUint16(out[2*i:], uint16(v))
		}
	case 32:
		for i, v := range values {
			binary.LittleEndian.PutUint32(out[4*i:], v)
		}
	}
}

// decodeNarrow returns a value for each op, in the memory of dst: the next entry
// of the column if its kind has one, else 0. It is empty if all are 0. n is the
// number of ops that have one, limit the greatest value.
func decodeNarrow[T ~uint32](dst []T, c *narrowColumn, kinds []Kind, has *[256]bool, n int, limit uint64, invariant int) ([]T, error) {
	dst = dst[:0]
	switch c.width {
	case 0, 4, 8, 16, 32:
	default:
		return dst, broken(invariant, "entries of %d bits", c.width)
	}
	if want := (n*int(c.width) + 7) / 8; len(c.column) != want {
		return dst, broken(invariant, "%d bytes for %d entries of %d bits", len(c.column), n, c.width)
	}
	if c.width == 0 {
		return dst, nil
	}
	if c.width == 4 && n&1 == 1 && c.column[n/2]>>4 != 0 {
		return dst, broken(invariant, "bits behind the last entry of a column")
	}
	dst = sized(dst, len(kinds))
	greatest := strewNarrow(dst, c, kinds, has)
	if uint64(greatest) > limit || widthOf(greatest) != c.width {
		return dst, broken(invariant, "greatest entry of a column is %d, of %d bits; the last possible is %d", greatest, c.width, limit)
	}
	return dst, nil
}

// strewNarrow sets dst for decodeNarrow, from a column with an entry for each op
// that has one, and returns the greatest entry. Which ops have one can't be
// foretold: the next entry is read for each, and stays the next one unless it
// counts, until there is none.
func strewNarrow[T ~uint32](dst []T, c *narrowColumn, kinds []Kind, has *[256]bool) (greatest uint32) {
	var counts [256]uint8
	for k, is := range has {
		if is {
			counts[k] = 1
		}
	}
	dst = dst[:len(kinds)]
	at, i, column := uint(0), 0, c.column
	switch c.width {
	case 4:
		for ; i < len(kinds) && at>>1 < uint(len(column)); i++ {
			count := uint(counts[kinds[i]])
			v := uint32(column[at>>1]>>(at&1*4)&15) & -uint32(count)
			dst[i], greatest = T(v), max(greatest, v)
			at += count
		}
	case 8:
		for ; i < len(kinds) && at < uint(len(column)); i++ {
			count := uint(counts[kinds[i]])
			v := uint32(column[at]) & -uint32(count)
			dst[i], greatest = T(v), max(greatest, v)
			at += count
		}
	case 16:
		for ; i < len(kinds) && len(column) >= 2; i++ {
			count := uint(counts[kinds[i]])
			v := uint32(binary.LittleEndian.Uint16(column)) & -uint32(count)
			dst[i], greatest = T(v), max(greatest, v)
			column = column[2*count:]
		}
	case 32:
		for ; i < len(kinds) && len(column) >= 4; i++ {
			count := uint(counts[kinds[i]])
			v := binary.LittleEndian.Uint32(column) & -uint32(count)
			dst[i], greatest = T(v), max(greatest, v)
			column = column[4*count:]
		}
	}
	clear(dst[i:])
	return greatest
}
