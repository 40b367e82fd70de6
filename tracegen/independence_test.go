package tracegen

import (
	"math"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/traces"
)

// TestChoicesAreIndependent cuts each choice of an operation in classes of equal
// probability and counts the pairs of classes of any two choices.
func TestChoicesAreIndependent(t *testing.T) {
	const classes = 10
	spec := mixSpec(t, "readproportion=0", "scanproportion=1", "readmodifywriteproportion=1", "maxscanlength=100", "arrivals=poisson",
		"readallfields=false", "operationcount=200000")
	// Gaps have a mean of 1000 ticks here.
	gapClass := func(gap uint64) uint64 { return uint64(classes * -math.Expm1(-float64(gap)/1000)) }
	names := []string{"kind", "key", "gap", "read field", "scan length", "written field"}
	const kind, key, gap, read, length, written = 0, 1, 2, 3, 4, 5
	var pairs [6][6][]uint64
	for a := range names {
		for b := range a {
			pairs[a][b] = make([]uint64, classes*classes)
		}
	}
	before := uint64(0)
	write(t, mustGenerator(t, spec)).ops(t, "run", func(_ uint64, op *traces.Op) {
		class := [6]uint64{key: op.Key / 100, gap: gapClass(op.Due - before), read: uint64(op.Read) - 1}
		before = op.Due
		chosen := []int{kind, key, gap, read, length}
		if op.Kind == traces.Scan {
			class[length] = uint64(op.ScanLength-1) / 10
		} else {
			class[kind], class[written] = 1, uint64(op.Written)-1
			chosen[4] = written
		}
		for i, a := range chosen {
			for _, b := range chosen[:i] {
				pairs[a][b][class[a]*classes+class[b]]++
			}
		}
	})
	for a := range names {
		for b := range a {
			// Lengths and written fields are of one kind each.
			if a == written && b == length || a >= length && b == kind {
				continue
			}
			shares := equalShares(classes * classes)
			if b == kind { // two classes instead of ten
				for i := range shares {
					shares[i] = 0
					if i%classes < 2 {
						shares[i] = 1. / (2 * classes)
					}
				}
			}
			if stat, df, p := chisquare.Fit(pairs[a][b], shares); p < chisquare.MinP {
				t.Errorf("%s and %s: chi-square %.1f on %d, p = %.3g", names[a], names[b], stat, df, p)
			}
		}
	}
}
