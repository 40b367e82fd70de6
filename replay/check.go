package replay

import (
	"fmt"
	"sync"
	"sync/atomic"

	"pianola/bindings"
	"pianola/replay/measure"
	"pianola/traces"
	"pianola/traces/payload"
)

// DefaultCheckSample is the number of keys whose versions a check follows.
const DefaultCheckSample = 1 << 16

// checker verifies what a run reads against what its trace writes: each value
// against seed, key, field and version, and under KeyOrder the version against
// that of the last write, for the keys of a sample.
type checker struct {
	header *traces.Header
	// index finds a field by its name.
	index  map[string]int
	sample *keySample
	// ordered: ops on one key don't overtake, so that the version is known.
	ordered bool
	// fixed: nothing behind the load changes a value that is there; unchanging:
	// nothing can, since values have no versions.
	fixed, unchanging bool
	// deletes: records may go.
	deletes bool
	inserts *insertLog
}

// refuseCheck says why what is read can't be checked, if it can't.
func (r *Runner) refuseCheck() error {
	h := r.Trace.Header()
	cannot := func(format string, args ...any) error {
		return fmt.Errorf("%w: check: %s", ErrRefused, fmt.Sprintf(format, args...))
	}
	_, counts := r.Binding.(bindings.Counter)
	volatile := r.Driver.Volatile != nil && r.Driver.Volatile(r.Properties)
	switch changes, _ := changesOf(h); {
	case r.Driver.Place == bindings.Nowhere:
		return cannot("%s keeps nothing and gives no values back", r.Driver.Name)
	case r.Phases != AllPhases || r.Resume:
		return cannot("the versions of what is there are known only where this run loads all of it")
	case h.Phases[0].Name != traces.LoadPhase:
		return cannot("the trace has no phase load, so that what is there is not known")
	case changes && !h.Fields.Unchanging() && h.Fields.Length.Max() < payload.MinVersioned:
		return cannot("values of %s bytes carry no version, and the trace changes them; %d bytes would do", h.Fields.Length, payload.MinVersioned)
	case !counts && !volatile && !r.Drop:
		return cannot("%s can't tell whether the table is empty", r.Driver.Name)
	}
	return nil
}

// changesOf reports whether a phase behind the load changes values that are
// there, and whether it deletes records.
func changesOf(h *traces.Header) (changes, deletes bool) {
	for i := range h.Phases {
		for _, share := range h.Phases[i].Mix {
			if h.Phases[i].Name == traces.LoadPhase {
				continue
			}
			changes = changes || share.Kind == traces.Update || share.Kind == traces.ReadModifyWrite
			deletes = deletes || share.Kind == traces.Delete
		}
	}
	return changes, deletes
}

func (r *run) newChecker() *checker {
	h := r.Trace.Header()
	c := &checker{header: h, index: make(map[string]int, h.Fields.Count), ordered: r.Order == KeyOrder, inserts: r.inserts}
	for i := range h.Fields.Count {
		c.index[h.Fields.Name(i)] = i
	}
	changes, deletes := changesOf(h)
	c.fixed, c.unchanging, c.deletes = !changes, h.Fields.Unchanging(), deletes
	keys := h.Records
	if totals, known := r.totals(); known {
		keys = 0
		for i := range totals.Phases {
			keys += totals.Phases[i].Ops[traces.Insert]
		}
	}
	c.sample = newKeySample(h, r.CheckSample, keys)
	return c
}

// wrote notes what became of a write that was sent.
func (c *checker) wrote(op *traces.Op, version uint64, outcome measure.Outcome) {
	if op.Kind != traces.Delete && !op.Kind.Writes() {
		return
	}
	k := c.sample.key(op.Key, false)
	switch {
	case k == nil:
	case outcome == measure.Expected || outcome == measure.Raced || outcome == measure.Orphaned:
		// There was no record: nothing was written.
	case outcome != measure.Completed:
		k.state.Store(keyUnknown)
	case op.Kind == traces.Delete:
		k.state.Store(keyDeleted)
	case op.Kind == traces.Insert:
		for i := range k.versions {
			k.versions[i].Store(version)
		}
		k.state.Store(keyWritten)
	case k.state.Load() != keyWritten:
		// A database that can't tell has made a record of some fields.
		k.state.Store(keyUnknown)
	default:
		if i, one := op.Written.Index(); one {
			k.versions[i].Store(version)
			return
		}
		for i := range k.versions {
			k.versions[i].Store(version)
		}
	}
}

// checkTally counts what was checked in one phase.
type checkTally struct {
	values, unchecked, mismatched, stale atomic.Uint64

	mu    sync.Mutex
	first []string
}

// firstMismatches bounds the messages that a phase keeps.
const firstMismatches = 10

// add counts what one op read.
func (t *checkTally) add(r *reading) {
	t.values.Add(uint64(r.values))
	if r.unchecked > 0 {
		t.unchecked.Add(uint64(r.unchecked))
	}
	switch {
	case r.fault != "":
		t.mismatched.Add(1)
	case r.stale != "":
		t.stale.Add(1)
	default:
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.first) < firstMismatches {
		message := r.fault
		if message == "" {
			message = r.stale
		}
		t.first = append(t.first, fmt.Sprintf("op %d, %v %s: %s", r.slot.trace.Index, r.slot.trace.Kind, r.slot.key, message))
	}
}

// result returns the counts.
func (t *checkTally) result() *measure.Check {
	return &measure.Check{
		Values: t.values.Load(), Unchecked: t.unchecked.Load(), Mismatched: t.mismatched.Load(), Stale: t.stale.Load(), First: t.first,
	}
}
