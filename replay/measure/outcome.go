package measure

import (
	"time"

	"pianola/bindings"
	"pianola/traces"
)

// Outcome is what became of one op.
type Outcome uint8

const (
	// Completed: answered.
	Completed Outcome = iota
	// Expected, Raced and Orphaned are misses that count as completed: the
	// trace reads a key it never wrote; its insert was unacknowledged when the
	// op started, or a later delete had started before it ended; its insert failed.
	Expected
	Raced
	Orphaned
	// Failed: answered with an error, which has a class.
	Failed
	// Censored: sent, unanswered at its deadline.
	Censored
	// Dropped: given up by the overload policy.
	Dropped
	// Unsent: never sent.
	Unsent
)

var outcomeNames = [...]string{"ok", "expected", "raced", "orphaned", "failed", "censored", "dropped", "unsent"}

// String returns the word for o in op logs; that of a failed op is its class.
func (o Outcome) String() string { return outcomeNames[o] }

// Started reports whether an op with this outcome was sent.
func (o Outcome) Started() bool { return o <= Censored }

// Sample is the fate of one op. Instants count from the phase's start.
type Sample struct {
	// Index over the whole trace.
	Index   uint64
	Kind    traces.Kind
	Outcome Outcome
	// Class of the error of a failed op.
	Class bindings.Class
	// Due, Ready and Start are clock readings or, for Due, computed; Ready and
	// Start are set only if the op was started.
	Due, Ready, Start time.Duration
	// KeyFree is when an op's key became free, if it had to wait for it.
	KeyFree time.Duration
	// ReadEnded is when a READMODIFYWRITE had the answer to its read, 0 if that
	// is not known.
	ReadEnded time.Duration
	// Decided is when the fate was decided: the end of an answered op, the
	// deadline of a censored or unsent one.
	Decided time.Duration
}
