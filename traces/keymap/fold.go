package keymap

import (
	"errors"
	"math"
	"math/bits"

	"pianola/traces/payload"
)

// Fold maps ranks to records as YCSB's ScrambledZipfianGenerator does: the
// FNV hash of the rank modulo the size of the key range. Several ranks fall on
// one number.
type Fold struct {
	// reciprocal is (2^64 - 1) / modulus, rounded down.
	modulus, reciprocal uint64
}

// NewFold returns the map to the records below modulus >= 1. YCSB's CoreWorkload
// takes insertcount + 2·operationcount·insertproportion + 1 as the modulus, one
// more than there are records even where nothing is inserted, and draws again
// where the record doesn't exist.
func NewFold(modulus uint64) (Fold, error) {
	if modulus == 0 {
		return Fold{}, errors.New("make a fold of ranks: modulus 0")
	}
	return Fold{modulus, math.MaxUint64 / modulus}, nil
}

// Modulus returns the number of records.
func (f Fold) Modulus() uint64 { return f.modulus }

// Key returns the record of a rank.
func (f Fold) Key(rank uint64) uint64 { return f.reduce(payload.HashNumber(rank)) }

// Keys sets keys[j] to the record of ranks[j]. The two may be the same slice.
func (f Fold) Keys(keys, ranks []uint64) {
	together := hashTogether(keys, ranks)
	for j, hash := range keys[:together] {
		keys[j] = f.reduce(hash)
	}
	f.keysOneByOne(keys[together:], ranks[together:])
}

// keysOneByOne is what Keys is, on any processor.
func (f Fold) keysOneByOne(keys, ranks []uint64) {
	for j, rank := range ranks {
		keys[j] = f.Key(rank)
	}
}

// reduce returns hash <= 2^63 modulo f.modulus, without a division: the product
// with the reciprocal is less than the quotient by a half and what was rounded
// off, so that the rest is below twice the modulus.
func (f Fold) reduce(hash uint64) uint64 {
	quotient, _ := bits.Mul64(hash, f.reciprocal)
	rest, below := bits.Sub64(hash-quotient*f.modulus, f.modulus, 0)
	return rest + f.modulus&-below
}
