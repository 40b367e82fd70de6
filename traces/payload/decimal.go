package payload

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const eightZeros = 0x3030303030303030

// appendDecimal appends n in decimal, with at least the given number of digits.
// Every operation's key comes from here, which is why it is not strconv's:
// BenchmarkDecimal compares them.
func appendDecimal(dst []byte, n uint64, least int) []byte {
	// 24 digits in three words, the first digit in the lowest byte.
	var a, b, c uint64
	if n < 1e16 {
		b, c = eightDigits(n/1e8), eightDigits(n%1e8)
	} else {
		high := n / 1e16
		n -= high * 1e16
		a, b, c = eightDigits(high), eightDigits(n/1e8), eightDigits(n%1e8)
	}
	length := 24
	if a == 0 {
		a, b, c = b, c, 0
		length -= 8
		if a == 0 {
			a, b = b, 0
			length -= 8
		}
	}
	// The zeros before the number are shifted out; 0 itself has one digit.
	zeros := min(bits.TrailingZeros64(a)/8, 7)
	length -= zeros
	for i := length; i < least; i++ {
		dst = append(dst, '0')
	}
	shift := uint(8 * zeros)
	a, b, c = a>>shift|b<<(63-shift)<<1, b>>shift|c<<(63-shift)<<1, c>>shift
	at := len(dst)
	dst = slices.Grow(dst, 24)[:at+24]
	binary.LittleEndian.PutUint64(dst[at:], a+eightZeros)
	binary.LittleEndian.PutUint64(dst[at+8:], b+eightZeros)
	binary.LittleEndian.PutUint64(dst[at+16:], c+eightZeros)
	return dst[:at+length]
}

// eightDigits returns the eight decimal digits of n < 10^8 as numbers, the first
// in the lowest byte. It halves n thrice, all parts at once: two numbers of four
// digits each, four of two, eight of one. A quotient is a product with a
// reciprocal that is rounded up, exact for numbers this short.
func eightDigits(n uint64) uint64 {
	high := n / 10000
	n = high | (n-high*10000)<<32
	high = n * 10486 >> 20 & 0x7f_0000_007f
	n = high | (n-high*100)<<16
	high = n * 103 >> 10 & 0x0f_000f_000f_000f
	return high | (n-high*10)<<8
}
