package measure

import (
	"fmt"
	"math/big"
	"strings"
)

// Allowance is how many ops of a phase may be failed or censored: --allow-errors.
type Allowance struct {
	text string
	// One of the two: a number of ops, or a share of the offered ones.
	ops   *big.Int
	share *big.Rat
}

// ParseAllowance reads "N" or "N%" with N a decimal; a share is at most 100 %.
func ParseAllowance(s string) (Allowance, error) {
	fail := fmt.Errorf("allow errors %q: want a number of ops, as 10, or a share of them, as 0.1%%", s)
	number, isShare := strings.CutSuffix(s, "%")
	if len(number) == 0 || len(number) > 30 || strings.Trim(number, "0123456789.") != "" {
		return Allowance{}, fail
	}
	if isShare {
		share, ok := new(big.Rat).SetString(number)
		if !ok || share.Cmp(big.NewRat(100, 1)) > 0 {
			return Allowance{}, fail
		}
		return Allowance{text: s, share: share.Quo(share, big.NewRat(100, 1))}, nil
	}
	ops, ok := new(big.Int).SetString(number, 10)
	if !ok {
		return Allowance{}, fail
	}
	return Allowance{text: s, ops: ops}, nil
}

// String returns the allowance as it was given.
func (a Allowance) String() string {
	if a.text == "" {
		return "0"
	}
	return a.text
}

// Exceeded reports whether so many errors among so many offered ops are more
// than a allows. The zero Allowance allows none.
func (a Allowance) Exceeded(errors, offered uint64) bool {
	n := new(big.Int).SetUint64(errors)
	switch {
	case a.share != nil:
		limit := new(big.Rat).Mul(a.share, new(big.Rat).SetInt(new(big.Int).SetUint64(offered)))
		return new(big.Rat).SetInt(n).Cmp(limit) > 0
	case a.ops != nil:
		return n.Cmp(a.ops) > 0
	}
	return errors > 0
}
