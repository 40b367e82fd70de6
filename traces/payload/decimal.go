package payload

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const eightZeros = 0x3030303030303030

// decimalMax is what appendDecimal stores, of which up to 20 are digits: three
// words, whatever the length.
const decimalMax = 24

// appendDecimal appends n in decimal, with at least the given number of digits.
// Every operation's key comes from here, which is why it is not strconv's:
// BenchmarkDecimal compares them.
func appendDecimal(dst []byte, n uint64, least int) []byte {
	var head, second, third uint64
	rest := 0 // digits behind those of head
	switch {
	case n >= 1e16:
		head = n / 1e16
		n -= head * 1e16
		second, rest = n/1e8, 16
		third = eightDigits(n - second*1e8)
		second = eightDigits(second)
	case n >= 1e8:
		head, rest = n/1e8, 8
		second = eightDigits(n - head*1e8)
	default:
		head = n
	}
	head = eightDigits(head)
	zeros := bits.TrailingZeros64(head|1<<63) / 8 // 0 itself has one digit
	for length := rest + 8 - zeros; length < least; length++ {
		dst = append(dst, '0')
	}
	at := len(dst)
	if cap(dst)-at < decimalMax {
		dst = slices.Grow(dst, decimalMax)
	}
	out := dst[at : at+decimalMax]
	binary.LittleEndian.PutUint64(out, head>>(uint(8*zeros)&63)+eightZeros)
	out = out[8-zeros:]
	binary.LittleEndian.PutUint64(out, second+eightZeros)
	binary.LittleEndian.PutUint64(out[8:], third+eightZeros)
	return dst[:at+8-zeros+rest]
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
