package traces

import (
	"math"
	"time"
)

// Limits of what a Writer writes and a Reader takes; FORMAT.md lists them under
// the same names. A Reader holds every length and count against them before it
// allocates.
const (
	// Bytes of the header, and of a block, each compressed or not.
	headerBytesMax = 1 << 20
	blockBytesMax  = 4 << 20
	// Bytes of the footer, compressed or not, for each frame and each phase.
	footerShareMax = 256
	// Frames of a file but the seek table's.
	framesMax = 1 << 24

	phasesMax = 1 << 10
	hintsMax  = 1 << 12
	// Operations by which a phase may delay the sight of its inserts: a reader
	// keeps a bit for each.
	visibilityMax = 1 << 24

	// Nanoseconds from the start of a phase to a due time: no sum of two wraps.
	dueNsMax = 1 << 62
	// Key numbers.
	keyMax = 1<<63 - 1
	// Records asked for by a SCAN.
	scanLengthMax = 1<<31 - 1
)

// footerBytesMax bounds the footer of a trace of so many frames and phases. A
// block takes at most 48 bytes of it and 32 for a chunk's digest, a phase less
// than 128, everything else less than 64; so the most frames fit in 31 bits.
func footerBytesMax(frames, phases int) uint64 {
	return min(footerShareMax*(uint64(frames)+uint64(phases)), math.MaxInt32)
}

// tickMax returns the greatest due time in ticks.
func tickMax(tick time.Duration) uint64 { return dueNsMax / uint64(tick) }
