package traces

import (
	"encoding/binary"
	"math/bits"
)

// A column of codes holds numbers below 2^64, small ones most often. Each is a
// token, which is a byte, and as many of its low bits as the token leaves open.
// Numbers below 8 have a token each; from there on each octave [2^e, 2^(e+1))
// has four, and a token leaves e-2 bits open. Tokens are what an entropy coder
// makes smaller; the open bits of a law that changes slowly over an octave are
// noise and are kept as they are.

// openBits returns how many bits a token leaves open.
func openBits(token byte) uint { return uint(max(token>>2, 1) - 1) }

// tokenMax is the token of the greatest number.
const tokenMax = 61<<2 + 7

// codeColumn is a column of codes: a token for each, and their open bits, lowest
// first.
type codeColumn struct {
	tokens, open []byte
}

// encode fills the column in its own memory.
func (c *codeColumn) encode(codes []uint64) {
	c.tokens = sized(c.tokens, len(codes))
	open := sized(c.open, 8*len(codes)+16)
	at, acc, held := 0, uint64(0), uint(0)
	tokens := c.tokens[:len(codes)]
	i := 0
	// Two codes at a time, as long as their open bits take a word together with
	// those of a byte that was begun.
	for ; i+1 < len(codes); i += 2 {
		token, rest, shift := split(codes[i])
		token2, rest2, shift2 := split(codes[i+1])
		if shift+shift2 > 56 {
			break
		}
		tokens[i], tokens[i+1] = token, token2
		acc |= (rest | rest2<<(shift&63)) << (held & 63)
		binary.LittleEndian.PutUint64(open[at:], acc)
		held += shift + shift2
		at += int(held >> 3)
		acc >>= held &^ 7 & 63
		held &= 7
	}
	for ; i < len(codes); i++ {
		token, rest, shift := split(codes[i])
		tokens[i] = token
		acc |= rest << (held & 63)
		binary.LittleEndian.PutUint64(open[at:], acc)
		if held+shift >= 64 { // only codes of 2^59 and more
			at += 8
			acc = rest >> ((64 - held) & 63)
			held += shift - 64
			continue
		}
		held += shift
		at += int(held >> 3)
		acc >>= held &^ 7 & 63
		held &= 7
	}
	if held > 0 {
		open[at] = byte(acc)
		at++
	}
	c.open = open[:at]
}

// split returns the token of a code, and its open bits and how many they are.
func split(code uint64) (token byte, rest uint64, shift uint) {
	shift = uint(bits.Len64(code|7)) - 3
	high := code >> (shift & 63)
	return byte(shift<<2 + uint(high)), code ^ high<<(shift&63), shift
}

// check checks that the column has n codes: tokens that exist, and just the open
// bits that they need, the unused ones of the last byte 0.
func (c *codeColumn) check(n, invariant int) error {
	if len(c.tokens) != n {
		return broken(invariant, "%d tokens for %d codes", len(c.tokens), n)
	}
	need, greatest := uint(0), byte(0)
	for _, token := range c.tokens {
		need += uint(opens[token].bits)
		greatest = max(greatest, token)
	}
	if greatest > tokenMax {
		return broken(invariant, "unknown token %d", greatest)
	}
	if uint(len(c.open)) != (need+7)/8 {
		return broken(invariant, "%d bytes for %d open bits", len(c.open), need)
	}
	if spare := need % 8; spare > 0 && c.open[len(c.open)-1]>>spare != 0 {
		return broken(invariant, "bits behind the last open one")
	}
	return nil
}

// decode sets codes to those of the column, which must have passed check.
func (c *codeColumn) decode(codes []uint64) {
	tokens, open := c.tokens[:len(codes)], c.open
	// Eight bytes are read at a time: the last ones from a copy with room behind.
	at, i := uint(0), 0
	for ; i < len(tokens) && at>>3+8 < uint(len(open)); i++ {
		o := &opens[tokens[i]]
		word := binary.LittleEndian.Uint64(open[at>>3:]) >> (at & 7)
		if o.bits > 56 {
			word |= uint64(open[at>>3+8]) << (64 - at&7)
		}
		codes[i] = o.least + word&o.mask
		at += uint(o.bits)
	}
	var last [24]byte
	from := at >> 3
	copy(last[:], open[min(from, uint(len(open))):])
	for ; i < len(codes); i++ {
		o := &opens[tokens[i]]
		p := at - from*8
		word := binary.LittleEndian.Uint64(last[p>>3:]) >> (p & 7)
		if o.bits > 56 {
			word |= uint64(last[p>>3+8]) << (64 - p&7)
		}
		codes[i] = o.least + word&o.mask
		at += uint(o.bits)
	}
}

// opens says of each token which is its least number, how many bits it leaves
// open, and these bits.
var opens = func() (table [256]struct {
	least, mask uint64
	bits        uint8
}) {
	for t := range table {
		bits := openBits(byte(t))
		table[t].least = uint64(byte(t)-byte(bits<<2)) << bits
		table[t].mask = 1<<bits - 1
		table[t].bits = uint8(bits)
	}
	return table
}()
