package traces

import "io"

// Verify reads a trace to its end and returns its totals, or as an error the
// first of the invariants of FORMAT.md that it breaks, by its number, with path,
// offset and block. look is given every block; it is valid until look returns.
func Verify(r *Reader, look func(*Block)) (*Totals, error) {
	var b Block
	for {
		switch err := r.NextBlock(&b); err {
		case nil:
			look(&b)
		case io.EOF:
			totals, _ := r.Totals() // known at the end
			return totals, nil
		default:
			return nil, err
		}
	}
}
