package payload

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

// fnvPowers holds the prime to the power of the octets that are left after so many.
var fnvPowers = func() (powers [9]uint64) {
	powers[8] = 1
	for i := 8; i > 0; i-- {
		powers[i-1] = powers[i] * fnvPrime64
	}
	return powers
}()

// HashNumber is YCSB's 64-bit FNV hash of a key number: FNV-1a over its eight
// octets, lowest first, read as a signed number, absolute value. The hash whose
// absolute value does not fit in 63 bits is returned as 2^63, where YCSB would
// print a minus sign.
func HashNumber(n uint64) uint64 {
	h := uint64(fnvOffset64)
	octets := 0
	for ; n > 0; octets++ {
		h = (h ^ n&0xff) * fnvPrime64
		n >>= 8
	}
	h *= fnvPowers[octets] // what is left are zeros
	if int64(h) < 0 {
		return -h
	}
	return h
}

// Append appends the key of key number n to dst.
func (k *Keys) Append(dst []byte, n uint64) []byte {
	return k.AppendNumber(append(dst, k.Prefix...), n)
}

// AppendNumber appends what is behind the prefix in the key of key number n.
func (k *Keys) AppendNumber(dst []byte, n uint64) []byte {
	if k.Order == Hashed {
		n = HashNumber(n)
	}
	return appendDecimal(dst, n, k.Padding)
}
