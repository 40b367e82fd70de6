package bindings

import (
	"fmt"
	"time"

	"pianola/traces"
)

// Driver describes a binding before it is used: what `replay databases` prints
// and what a run checks before anything is touched.
type Driver struct {
	Name string
	// Aliases are other names that choose it, YCSB's among them.
	Aliases []string
	// Summary says in half a line what it is.
	Summary string
	// Statements says which calls or statements each kind becomes, how many
	// round trips that takes and what the client might hide; plain text.
	Statements string
	Properties []Property
	// Kinds lists what it can do; a trace with another kind is refused.
	Kinds []traces.Kind
	// Place says where its work is done.
	Place Place
	// Slots is the default number of slots.
	Slots int
	// New checks properties and returns a binding; it touches nothing else.
	// Names are known and set: defaults are filled in.
	New func(p Properties) (Binding, error)
	// Volatile reports whether nothing can be there before the run and nothing
	// stays after it: true for a database in memory or in a temporary directory.
	// Nil means that it is false.
	Volatile func(p Properties) bool
}

// Place says where a binding's work is done, which decides how much CPU the
// pacing may take and whose fault a busy CPU is.
type Place int

const (
	// Nowhere: nothing is done; the tool measures itself.
	Nowhere Place = iota
	// Embedded: in this process.
	Embedded
	// Remote: in another process, on this machine or elsewhere.
	Remote
)

// String returns the word that a result holds.
func (p Place) String() string {
	switch p {
	case Nowhere:
		return "nowhere"
	case Embedded:
		return "embedded"
	case Remote:
		return "remote"
	}
	return fmt.Sprintf("place %d", int(p))
}

// Property is one setting of a binding.
type Property struct {
	Name    string
	Default string
	Help    string
	// Secret values appear in no output.
	Secret bool
}

// Properties holds values by name. The methods parse; their errors name the
// property, the value and what is expected.
type Properties map[string]string

// DefaultSlots is the number of slots where a Driver does not say.
const DefaultSlots = 1024

// DefaultSlotsEmbedded is that of stores in this process.
const DefaultSlotsEmbedded = 64

// DefaultDeadline is how long after its due time an op is given up.
const DefaultDeadline = 10 * time.Second
