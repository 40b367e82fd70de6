package payload

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Fields is the scheme of a record's fields: their names and how the values
// are built.
type Fields struct {
	// Field i is called Prefix followed by i in decimal, 0 <= i < Count.
	Count  int
	Prefix string
	Length Length
}

// Name returns the name of field i.
func (f *Fields) Name(i int) string { return f.Prefix + strconv.Itoa(i) }

// Length is the law of the value lengths. So far every value has the same one.
type Length struct {
	// Bytes of each value.
	Constant int
}

// String returns the law as trace headers hold it: "constant 100".
func (l Length) String() string { return "constant " + strconv.Itoa(l.Constant) }

// ParseLength is the inverse of Length.String: it takes what that gives and
// nothing else, so that one law has one text.
func ParseLength(s string) (Length, error) {
	_, arg, _ := strings.Cut(s, " ")
	n, err := strconv.Atoi(arg)
	if l := (Length{Constant: n}); err == nil && n >= 0 && n <= MaxValueBytes && l.String() == s {
		return l, nil
	}
	return Length{}, fmt.Errorf("unknown law of value lengths %q", s)
}

// Max returns the greatest length in bytes that the law gives.
func (l Length) Max() int { return l.Constant }

const (
	// MaxValueBytes bounds the length of one value.
	MaxValueBytes = 1 << 28
	// MaxFields bounds the number of fields of a record.
	MaxFields = 1 << 15
	// Printable names the way values are built, with its version: see Append.
	Printable = "printable/1"
	// VersionBytes is what a version takes at the head of a value: 12
	// hexadecimal digits and a colon.
	VersionBytes = 13
	// MinVersioned is the shortest value that carries its version.
	MinVersioned = 16
	// MaxVersion is the greatest version that 12 digits hold.
	MaxVersion = 1<<48 - 1
)

const hexDigits = "0123456789abcdef"

// Append appends the value of one field to dst: f.Length bytes of printable
// ASCII that depend on seed, key number, field index and version, and on
// nothing else. Values of MinVersioned bytes and more begin with the version
// as 12 hexadecimal digits and a colon. The other bytes come from a counter:
// byte j of the rest is '0' plus the low six bits of byte j mod 8 of
// Mix(state + (1 + j/8)·golden ratio), with state = Mix(Mix(Mix(seed) ^ key) ^
// (version << 16 ^ field)).
func (f *Fields) Append(dst []byte, seed, key uint64, field int, version uint64) []byte {
	n := f.Length.Constant
	if n >= MinVersioned {
		for shift := 44; shift >= 0; shift -= 4 {
			dst = append(dst, hexDigits[version>>shift&15])
		}
		dst = append(dst, ':')
		n -= VersionBytes
	}
	state := Mix(Mix(Mix(seed)^key) ^ (version<<16 ^ uint64(field)))
	for n >= 8 {
		state += golden
		dst = binary.LittleEndian.AppendUint64(dst, printable(Mix(state)))
		n -= 8
	}
	if n > 0 {
		word := printable(Mix(state + golden))
		for range n {
			dst = append(dst, byte(word))
			word >>= 8
		}
	}
	return dst
}

// Version reads the version at the head of a value. It reports false if the
// value is too short to carry one or does not begin with one.
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
	for len(b) >= 8 {
		// The high half of the product takes every bit to the others.
		high, low := bits.Mul64(h^binary.LittleEndian.Uint64(b), golden)
		h = high ^ low
		b = b[8:]
	}
	var tail uint64
	for i, c := range b {
		tail |= uint64(c) << (8 * i)
	}
	return Mix(h ^ tail)
}
