package traces

import (
	"errors"
	"fmt"
)

// ErrCorrupt marks every error that says that a trace is not as it was written:
// truncated, changed, reordered, or followed by other bytes.
var ErrCorrupt = errors.New("corrupt trace")

// ErrNotTrace marks the error for a file that does not begin as a trace does.
var ErrNotTrace = errors.New("not a trace")

// ErrVersion marks the error for a trace of a format version that this program
// does not know.
var ErrVersion = errors.New("unknown trace format version")

// CorruptError says where a trace is corrupt. It is an ErrCorrupt.
type CorruptError struct {
	Path string
	// Offset of the frame in the file, in bytes.
	Offset int64
	// Block is the index of the block, or -1 outside of the blocks.
	Block int
	// Invariant is the number in FORMAT.md of what does not hold.
	Invariant int
	Err       error
}

func (e *CorruptError) Error() string {
	place := fmt.Sprintf("offset %d", e.Offset)
	if e.Block >= 0 {
		place += fmt.Sprintf(", block %d", e.Block)
	}
	return fmt.Sprintf("%s: corrupt trace at %s: %v (FORMAT.md, invariant %d)", e.Path, place, e.Err, e.Invariant)
}

func (e *CorruptError) Unwrap() []error { return []error{ErrCorrupt, e.Err} }

// invariantError is a broken invariant before its place is known.
type invariantError struct {
	number int
	msg    string
}

func (e *invariantError) Error() string { return e.msg }

func broken(number int, format string, args ...any) error {
	return &invariantError{number, fmt.Sprintf(format, args...)}
}

// Numbers of the invariants in FORMAT.md.
const (
	invFrames      = 1
	invSkippable   = 2
	invSeekTable   = 3
	invChecksum    = 4
	invNoTrailing  = 5
	invHeader      = 6
	invBlockOrder  = 7
	invBlockCount  = 8
	invColumns     = 9
	invDue         = 10
	invKeys        = 11
	invFields      = 12
	invScanLengths = 13
	invTotals      = 14
	invDigest      = 15
	invFooter      = 16
)
