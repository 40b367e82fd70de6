package payload

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

const (
	// MaxValueBytes bounds the length of one value.
	MaxValueBytes = 1 << 28
	// MaxFields bounds the number of fields of a record.
	MaxFields = 1 << 15
	// VersionBytes is what a version takes at the head of a value: 12
	// hexadecimal digits and a colon.
	VersionBytes = 13
	// MinVersioned is the shortest value that carries its version.
	MinVersioned = 16
	// MaxVersion is the greatest version that 12 digits hold.
	MaxVersion = 1<<48 - 1
)

const hexDigits = "0123456789abcdef"

// appendVersion appends the head of a value that carries its version.
func appendVersion(dst []byte, version uint64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, eightHexDigits(version>>16))
	dst = binary.BigEndian.AppendUint32(dst, uint32(eightHexDigits(version&0xffff)))
	return append(dst, ':')
}

// eightHexDigits returns the low 32 bits of v as eight hexadecimal digits, the
// first in the highest byte.
func eightHexDigits(v uint64) uint64 {
	v = (v<<16 | v) & 0x0000ffff_0000ffff
	v = (v<<8 | v) & 0x00ff00ff_00ff00ff
	v = (v<<4 | v) & 0x0f0f0f0f_0f0f0f0f
	// 6 more takes the digits from ten on, and them alone, into the next bit.
	letters := (v + 0x06060606_06060606) >> 4 & 0x01010101_01010101
	return v + eightZeros + letters*('a'-'9'-1)
}

// appendPrintable appends n bytes of the stream that begins at state: byte j is
// '0' plus the low six bits of byte j mod 8 of Mix(state + (1 + j/8)·golden
// ratio).
func appendPrintable(dst []byte, state uint64, n int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, n+7)
	out := dst[at : at+(n+7)&^7] // whole words, of which the last one may be cut
	for ; len(out) >= 8; out = out[8:] {
		state += golden
		binary.LittleEndian.PutUint64(out, printable(Mix(state)))
	}
	return dst[:at+n]
}

// Version reads the version at the head of a value. It reports false if the
// value is too short to carry one or does not begin with one. Where a scheme of
// fields is at hand its Version is better: values of YCSB's carry none, but may
// look as if they did.
func Version(value []byte) (uint64, bool) {
	if len(value) < MinVersioned || value[VersionBytes-1] != ':' {
		return 0, false
	}
	var v uint64
	for _, c := range value[:VersionBytes-1] {
		d := strings.IndexByte(hexDigits, c)
		if d < 0 {
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, true
}

// printable keeps six bits of each byte and moves them to '0'..'o'; no sum
// carries into the next byte.
func printable(word uint64) uint64 {
	return word&0x3f3f3f3f3f3f3f3f + 0x3030303030303030
}

const golden = 0x9E3779B97F4A7C15

// Mix is the finalizer of splitmix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, 2014): a bijection of 64-bit words.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Sum hashes bytes a word at a time, for order-free sums that prove that bytes
// were handed over. It is no checksum of a file.
func Sum(seed uint64, b []byte) uint64 {
	h := seed ^ uint64(len(b))*golden
	var tail uint64
	switch rest := len(b) % 8; {
	case rest == 0:
	case len(b) > 8:
		// The last eight bytes, without those that belong to the word before.
		tail = binary.LittleEndian.Uint64(b[len(b)-8:]) >> (64 - 8*rest)
	default:
		for i, c := range b {
			tail |= uint64(c) << (8 * i)
		}
	}
	if len(b) >= 64 {
		// Four chains, since a link waits for the one before.
		h1, h2, h3 := h+golden, h+2*golden&(1<<64-1), h+3*golden&(1<<64-1)
		for ; len(b) >= 32; b = b[32:] {
			h = link(h, binary.LittleEndian.Uint64(b))
			h1 = link(h1, binary.LittleEndian.Uint64(b[8:]))
			h2 = link(h2, binary.LittleEndian.Uint64(b[16:]))
			h3 = link(h3, binary.LittleEndian.Uint64(b[24:]))
		}
		// Turned, so that the same bytes in another chain are something else.
		h = link(link(link(h, bits.RotateLeft64(h1, 16)), bits.RotateLeft64(h2, 32)), bits.RotateLeft64(h3, 48))
	}
	for ; len(b) >= 8; b = b[8:] {
		h = link(h, binary.LittleEndian.Uint64(b))
	}
	return Mix(h ^ tail)
}

// link takes a word into a hash: the high half of the product takes every bit to
// the others.
func link(h, word uint64) uint64 {
	high, low := bits.Mul64(h^word, golden)
	return high ^ low
}
