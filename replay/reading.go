package replay

import (
	"bytes"
	"fmt"
	"math"

	"pianola/traces"
	"pianola/traces/payload"
)

// reading checks the rows of one op as they are handed back. It belongs to a
// slot, and is used by whoever runs the slot's op.
type reading struct {
	checker *checker
	slot    *slot
	// rows of the op so far, values that are right, and values of which too
	// little is known.
	rows, values, unchecked int
	// fault and stale are the first of their kind, empty if there is none.
	fault, stale string

	// What is known of the row begun last.
	key      uint64
	known    bool
	complete bool
	sampled  *sampledKey
	given    int
	// seen holds, by field, the serial number of the row that last had it.
	seen     []uint64
	serial   uint64
	expected []byte
	shown    []byte
}

func newReading(c *checker, s *slot) *reading {
	return &reading{checker: c, slot: s, seen: make([]uint64, c.header.Fields.Count)}
}

// begin is called before the slot's op is sent.
func (r *reading) begin() {
	r.rows, r.values, r.unchecked, r.fault, r.stale, r.given = 0, 0, 0, "", "", 0
}

// wrong notes the first fault of the op.
func (r *reading) wrong(format string, args ...any) {
	if r.fault == "" {
		r.fault = fmt.Sprintf(format, args...)
	}
}

// Row begins a record.
func (r *reading) Row(key []byte) {
	r.rows++
	if scan := &r.slot.trace; scan.Kind == traces.Scan && r.rows > int(scan.ScanLength) {
		r.wrong("gave more than the %d records asked for", scan.ScanLength)
	}
	if r.rows > 1 {
		r.endRow()
	}
	r.serial++
	r.given = 0
	c, op := r.checker, &r.slot.trace
	if op.Kind == traces.Scan {
		r.locate(key)
		r.complete = r.known && !c.deletes && r.key-c.header.FirstKey < c.header.Records && !c.inserts.orphan(r.key)
	} else {
		r.key, r.known = op.Key, true
		r.complete = !r.slot.unwritten && !r.slot.raced && !c.inserts.orphan(op.Key) && (c.ordered || !c.deletes)
		if !bytes.Equal(key, r.slot.key) {
			r.wrong("gave the record of key %q", key)
		}
		if r.rows > 1 {
			r.wrong("gave %d records", r.rows)
		}
	}
	r.sampled = nil
	if r.known && (c.fixed || c.ordered && op.Kind != traces.Scan) {
		r.sampled = c.sample.key(r.key, false)
	}
	if r.sampled != nil && r.sampled.state.Load() == keyDeleted && op.Kind != traces.Scan && r.stale == "" {
		r.stale = "gave a record that was deleted"
	}
	if r.sampled != nil && r.sampled.state.Load() != keyWritten {
		r.sampled = nil
	}
}

// locate finds the number behind a key that a SCAN gave. Those of hashed keys
// are known in the sample alone.
func (r *reading) locate(key []byte) {
	c := r.checker
	r.known = false
	n, ok := uint64(0), false
	if at := len(c.header.Keys.Prefix); len(key) > at && string(key[:at]) == c.header.Keys.Prefix {
		n, ok = number(key[at:])
	}
	if !ok {
		r.wrong("gave key %q, which is none of the trace", key)
		return
	}
	if c.header.Keys.Order == payload.Hashed {
		r.key, r.known = c.sample.number(n)
		if !r.known {
			return
		}
	} else {
		r.key, r.known = n, true
	}
	if r.shown = c.header.Keys.Append(r.shown[:0], r.key); !bytes.Equal(r.shown, key) || r.key < c.header.FirstKey {
		r.known = false
		r.wrong("gave key %q, which is none of the trace", key)
	}
}

// number reads a decimal number; leading zeros fill it up.
func number(digits []byte) (n uint64, ok bool) {
	for _, d := range digits {
		d -= '0'
		if d > 9 || n > (math.MaxUint64-uint64(d))/10 {
			return 0, false
		}
		n = 10*n + uint64(d)
	}
	return n, true
}

// Field checks a value.
func (r *reading) Field(name string, value []byte) {
	c := r.checker
	i, ok := c.index[name]
	if !ok {
		r.wrong("gave field %q, which the trace doesn't have", name)
		return
	}
	if one, is := r.slot.trace.Read.Index(); is && one != i {
		r.wrong("gave field %q, which was not asked for", name)
	}
	if r.seen[i] == r.serial {
		r.wrong("gave field %q twice", name)
	}
	r.seen[i] = r.serial
	r.given++
	if !r.known {
		r.unchecked++
		return
	}
	version, carried := c.header.Fields.Version(value)
	if !carried {
		if version, ok = r.version(i); !ok {
			r.unchecked++
			if len(value) >= payload.MinVersioned {
				r.wrong("field %q begins with no version: %s", name, excerpt(value))
			}
			return
		}
	}
	r.expected = c.header.Fields.Append(r.expected[:0], c.header.Seed, r.key, i, version)
	if !bytes.Equal(r.expected, value) {
		r.wrong("field %q is %s, want version %d, %s", name, excerpt(value), version, excerpt(r.expected))
		return
	}
	r.values++
	if r.sampled == nil || !carried {
		return
	}
	switch want := r.sampled.versions[i].Load(); {
	case version > want:
		r.wrong("field %q has version %d, which is later than the last one written, %d", name, version, want)
	case version < want && r.stale == "":
		r.stale = fmt.Sprintf("field %q has version %d, the last one written is %d", name, version, want)
	}
}

// version returns the version of a value that doesn't carry one, if there is
// only one that it can have.
func (r *reading) version(field int) (uint64, bool) {
	c := r.checker
	switch {
	case c.unchanging:
		return 0, true
	case r.sampled != nil:
		return r.sampled.versions[field].Load(), true
	case c.fixed && r.key-c.header.FirstKey < c.header.Records:
		return 0, true
	}
	return 0, false
}

// endRow ends the record begun last.
func (r *reading) endRow() {
	if !r.complete {
		return
	}
	want := r.checker.header.Fields.Count
	if _, one := r.slot.trace.Read.Index(); one {
		want = 1
	}
	if r.given < want {
		r.wrong("gave %d of %d fields", r.given, want)
	}
}

// finish is called when the op was answered without an error.
func (r *reading) finish() {
	if r.rows > 0 {
		r.endRow()
	} else if r.slot.trace.Kind != traces.Scan {
		r.wrong("answered, and gave no record")
	}
}

// excerpt quotes the beginning of a value.
func excerpt(value []byte) string {
	const most = 32
	if len(value) <= most {
		return fmt.Sprintf("%q", value)
	}
	return fmt.Sprintf("%q… of %d bytes", value[:most], len(value))
}
