package replay

import (
	"testing"

	"pianola/traces"
	"pianola/traces/payload"
)

// A check costs no memory on ops whose values are right.
func TestCheckingAllocatesNothing(t *testing.T) {
	h := &traces.Header{
		Seed: 1, Records: 100, Keys: payload.Keys{Prefix: "user", Order: payload.Hashed},
		Fields: payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}},
	}
	c := &checker{header: h, index: map[string]int{}, ordered: true, inserts: &insertLog{}, sample: newKeySample(h, 100, 100)}
	for i := range h.Fields.Count {
		c.index[h.Fields.Name(i)] = i
	}
	insert := traces.Op{Kind: traces.Insert, Key: 7}
	c.sample.key(7, true)
	c.wrote(&insert, 0, 0)
	for _, kind := range []traces.Kind{traces.Read, traces.Scan} {
		s := &slot{trace: traces.Op{Kind: kind, Key: 7, ScanLength: 5}, key: h.Keys.Append(nil, 7)}
		r := newReading(c, s)
		names, values := make([]string, 10), make([][]byte, 10)
		for i := range names {
			names[i], values[i] = h.Fields.Name(i), h.Fields.Append(nil, 1, 7, i, 0)
		}
		op := func() {
			r.begin()
			r.Row(s.key)
			for i := range names {
				r.Field(names[i], values[i])
			}
			r.finish()
		}
		op()
		if r.fault+r.stale != "" || r.values != 10 || r.unchecked != 0 {
			t.Fatalf("%v: fault %q, stale %q, %d values right, %d unchecked", kind, r.fault, r.stale, r.values, r.unchecked)
		}
		if n := testing.AllocsPerRun(100, op); n > 0 {
			t.Errorf("%v: %v allocations per op", kind, n)
		}
	}
}
