package payload

import "strconv"

// Order says which number a key shows.
type Order uint8

const (
	// Hashed keys show the absolute value of the key number's FNV hash, as
	// YCSB's default does.
	Hashed Order = iota
	// Ordered keys show the key number itself.
	Ordered
)

// String returns YCSB's word for the order.
func (o Order) String() string {
	if o == Ordered {
		return "ordered"
	}
	return "hashed"
}

// Keys is the scheme that turns a key number into the key that is sent.
type Keys struct {
	Prefix string
	// Padding is the least number of decimal digits; shorter numbers are
	// filled with zeros from the left.
	Padding int
	Order   Order
}

// MaxPadding bounds Keys.Padding: a key must stay a key.
const MaxPadding = 1000

const (
	fnvOffset64 = 0xCBF29CE484222325
	fnvPrime64  = 1099511628211
)

// HashNumber is YCSB's 64-bit FNV hash of a key number: FNV-1a over its eight
// octets, lowest first, read as a signed number, absolute value. The hash whose
// absolute value does not fit in 63 bits is returned as 2^63, where YCSB would
// print a minus sign.
func HashNumber(n uint64) uint64 {
	h := uint64(fnvOffset64)
	for range 8 {
		h ^= n & 0xff
		h *= fnvPrime64
		n >>= 8
	}
	if int64(h) < 0 {
		return -h
	}
	return h
}

// Append appends the key of key number n to dst.
func (k *Keys) Append(dst []byte, n uint64) []byte {
	if k.Order == Hashed {
		n = HashNumber(n)
	}
	dst = append(dst, k.Prefix...)
	var digits [20]byte
	number := strconv.AppendUint(digits[:0], n, 10)
	for i := len(number); i < k.Padding; i++ {
		dst = append(dst, '0')
	}
	return append(dst, number...)
}
