package traces

import (
	"time"

	"pianola/traces/keymap"
	"pianola/traces/payload"
)

// Header says what the operations of a trace are made of and how they were
// made.
type Header struct {
	FormatVersion int
	// ToolVersion is the version of the program that wrote the trace.
	ToolVersion string
	// Spec is the canonical text of the workload spec.
	Spec string
	Seed uint64
	// Generator lists the versions of the random streams and samplers.
	Generator string
	// Tick is the unit of every due time.
	Tick   time.Duration
	Keys   payload.Keys
	Fields payload.Fields
	Table  string
	// Key numbers FirstKey <= n < FirstKey+Records exist before the first
	// phase after the load.
	FirstKey, Records uint64
	// InsertFrom is the key number of the first insert behind the load,
	// FirstKey+Records or more; 0 means that sum.
	InsertFrom uint64
	// Victims are the round keys of the keymap.Scramble over the records that says
	// which of them the first, second, … DELETE takes; nil if deletes take any.
	Victims *[keymap.Rounds]uint64
	Phases  []Phase
	Hints   []Hint
}

// insertFrom resolves InsertFrom.
func (h *Header) insertFrom() uint64 {
	if h.InsertFrom == 0 {
		return h.FirstKey + h.Records
	}
	return h.InsertFrom
}

// loads reports whether the first phase writes the records.
func (h *Header) loads() bool { return h.Phases[0].Name == LoadPhase }

// LoadPhase is the name of the phase that writes the records; every phase
// behind it works on them.
const LoadPhase = "load"

// Phase is a named, ordered part of a trace.
type Phase struct {
	Name string
	// Paced says whether operations have due times.
	Paced bool
	// Mix holds the share of each kind, in the order of Kind.
	Mix []Share
	// KeyLaw, ScanLaw and Arrivals say in words which laws made the phase.
	KeyLaw, ScanLaw, Arrivals string
	// Rate is the stated mean rate in operations per second; zero if unpaced,
	// or if none is stated.
	Rate Rate
	// VisibilityOps is v: operation i sees exactly the inserts of earlier
	// phases and those of its own with index < i - v. 0: nothing is said, and
	// blocks count no visible records.
	VisibilityOps uint64
	// KeyMap is what codes of keys stand for in the file.
	KeyMap KeyMap
}

// Share is the share of one kind in a phase's mix, as an exact decimal or ratio.
type Share struct {
	Kind  Kind
	Share string
}

// Rate is an exact number of operations per second.
type Rate struct{ Numerator, Denominator uint64 }

// PerSecond returns the rate as a float, 0 if it is not stated.
func (r Rate) PerSecond() float64 {
	if r.Denominator == 0 {
		return 0
	}
	return float64(r.Numerator) / float64(r.Denominator)
}

// Hint is a property of a client or a binding that the spec held.
type Hint struct{ Name, Value string }

// Totals is what a trace knows only at its end.
type Totals struct {
	Phases []PhaseTotal
	// FirstFreeKey is the first key number that the trace leaves unused.
	FirstFreeKey uint64
	// Digest proves what the stream of operations is; see Digest in FORMAT.md.
	Digest [32]byte
}

// PhaseTotal sums up one phase.
type PhaseTotal struct {
	// Ops by Kind.
	Ops [KindLimit]uint64
	// LastDue is the due time of the last operation in ticks, 0 if unpaced.
	LastDue uint64
	Digest  [32]byte
	// Chunks holds the SHA-256 of each chunk of BlockOps operations.
	Chunks [][32]byte
}

// Count returns the number of operations of the phase.
func (p *PhaseTotal) Count() uint64 {
	var n uint64
	for _, ops := range p.Ops {
		n += ops
	}
	return n
}
