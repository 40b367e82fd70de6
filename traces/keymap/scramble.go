package keymap

import (
	"fmt"
	"math/bits"
)

// Rounds is the number of rounds of a Scramble, an even number.
const Rounds = 4

// MaxItems bounds the numbers of a Scramble.
const MaxItems = 1 << 62

// Scramble is a random-looking bijection of the numbers below n: each rank has
// a key number of its own, and neighbours are strewn over the range.
//
// It is a Feistel network over mixed radices with cycle walking (Black and
// Rogaway, "Ciphers with Arbitrary Finite Domains", 2002): x is written as
// left·2^h + right, where 2^h is about the square root of n and left < a, the
// least a with a·2^h >= n. Each round adds a hash of one half to the other,
// modulo a or 2^h. What falls in a·2^h - n < 2^h is sent round again.
type Scramble struct {
	n, a, h uint64
	keys    [Rounds]uint64
}

// NewScramble returns the bijection of the numbers below n, 1 <= n <= MaxItems,
// that the keys of its rounds choose.
func NewScramble(n uint64, keys [Rounds]uint64) (*Scramble, error) {
	if n < 1 || n > MaxItems {
		return nil, fmt.Errorf("make a scramble: %d items, want 1 to 2^62", n)
	}
	h := uint64(bits.Len64(n) / 2)
	return &Scramble{n: n, a: (n + 1<<h - 1) >> h, h: h, keys: keys}, nil
}

// Items returns the number of numbers.
func (s *Scramble) Items() uint64 { return s.n }

// Keys returns the keys of the rounds.
func (s *Scramble) Keys() [Rounds]uint64 { return s.keys }

// Map returns the image of x, which must be below n.
func (s *Scramble) Map(x uint64) uint64 {
	for {
		left, right := x>>(s.h&63), x&(1<<(s.h&63)-1)
		for i := 0; i < Rounds; i += 2 {
			left += s.forLeft(right, s.keys[i])
			if left >= s.a {
				left -= s.a
			}
			right ^= s.forRight(left, s.keys[i+1])
		}
		if x = left<<(s.h&63) | right; x < s.n {
			return x
		}
	}
}

// MapAll sets images[j] to the image of numbers[j], all of them below n. The two
// may be the same slice.
func (s *Scramble) MapAll(images, numbers []uint64) {
	if s.n == 1 {
		clear(images)
		return
	}
	together := s.mapOnce(images, numbers)
	for j, x := range images[:together] {
		if x >= s.n {
			images[j] = s.Map(x)
		}
	}
	s.mapOneByOne(images[together:], numbers[together:])
}

// mapOneByOne is what MapAll is, on any processor.
func (s *Scramble) mapOneByOne(images, numbers []uint64) {
	// Map with its loop unrolled, without a branch for the modulus.
	a, h, n := s.a, s.h&63, s.n
	k0, k1, k2, k3 := s.keys[0], s.keys[1], s.keys[2], s.keys[3]
	mask, shift := uint64(1)<<h-1, (64-h)&63
	for j, x := range numbers {
		for {
			left, right := x>>h, x&mask
			left = addBelow(left, right^k0, a)
			right ^= scrambleHash(left^k1) >> shift
			left = addBelow(left, right^k2, a)
			right ^= scrambleHash(left^k3) >> shift
			if x = left<<h | right; x < n {
				break
			}
		}
		images[j] = x
	}
}

// addBelow adds the hash of x to left, modulo a.
func addBelow(left, x, a uint64) uint64 {
	high, _ := bits.Mul64(scrambleHash(x), a)
	sum, below := bits.Sub64(left+high, a, 0)
	return sum + a&-below
}

// Inverse returns the number whose image is x, which must be below n.
func (s *Scramble) Inverse(x uint64) uint64 {
	for {
		left, right := x>>(s.h&63), x&(1<<(s.h&63)-1)
		for i := Rounds - 2; i >= 0; i -= 2 {
			right ^= s.forRight(left, s.keys[i+1])
			left += s.a - s.forLeft(right, s.keys[i])
			if left >= s.a {
				left -= s.a
			}
		}
		if x = left<<(s.h&63) | right; x < s.n {
			return x
		}
	}
}

// forLeft hashes a right half to a number below a.
func (s *Scramble) forLeft(right, key uint64) uint64 {
	high, _ := bits.Mul64(scrambleHash(right^key), s.a)
	return high
}

// forRight hashes a left half to a number below 2^h.
func (s *Scramble) forRight(left, key uint64) uint64 {
	return scrambleHash(left^key) >> 1 >> (63 - s.h&63)
}

// scrambleHash mixes a word into its high bits: two multiplications by odd
// constants, those of payload.Mix, with a shift between them.
func scrambleHash(x uint64) uint64 {
	x *= 0xBF58476D1CE4E5B9
	return (x ^ x>>32) * 0x94D049BB133111EB
}
