package keymap

import (
	"errors"

	"pianola/traces/payload"
)

// Fold maps ranks to records as YCSB's ScrambledZipfianGenerator does: the
// FNV hash of the rank modulo the size of the key range. Several ranks fall on
// one number.
type Fold struct{ modulus uint64 }

// NewFold returns the map to the records below modulus >= 1. YCSB's CoreWorkload
// takes insertcount + 2·operationcount·insertproportion + 1 as the modulus, one
// more than there are records even where nothing is inserted, and draws again
// where the record doesn't exist.
func NewFold(modulus uint64) (Fold, error) {
	if modulus == 0 {
		return Fold{}, errors.New("make a fold of ranks: modulus 0")
	}
	return Fold{modulus}, nil
}

// Modulus returns the number of records.
func (f Fold) Modulus() uint64 { return f.modulus }

// Key returns the record of a rank.
func (f Fold) Key(rank uint64) uint64 { return payload.HashNumber(rank) % f.modulus }
