package replay

import (
	"bytes"
	"testing"

	"pianola/traces"
	"pianola/traces/payload"
	"pianola/traces/tracetest"
)

// A slot's bytes are those of the scheme, whatever lengths the values have, and
// take no allocation once the slot has its memory.
func TestSlotsBuildValuesOfEveryScheme(t *testing.T) {
	uniform, err := payload.UniformLength(0, 300)
	if err != nil {
		t.Fatal(err)
	}
	zipfian, err := payload.ZipfianLength(1, 300)
	if err != nil {
		t.Fatal(err)
	}
	histogram, err := payload.HistogramLength(10, []uint64{1, 0, 3, 2})
	if err != nil {
		t.Fatal(err)
	}
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Fields.Count = 5
	for _, scheme := range []payload.Fields{
		{Length: payload.Length{Constant: 100}}, {Length: uniform}, {Length: zipfian}, {Length: histogram},
		{Length: uniform, Values: payload.Values{Scheme: payload.Compressible, Saving: 500}},
		{Length: payload.Length{Constant: 10}, Values: payload.Values{Scheme: payload.YCSBIntegrity, Keys: h.Keys}},
		{Length: payload.Length{Constant: 100}, Values: payload.Values{Scheme: payload.YCSBIntegrity, Keys: h.Keys}},
	} {
		h.Fields.Length, h.Fields.Values = scheme.Length, scheme.Values
		b, s, version := newBuilder(h), &slot{}, uint64(0)
		next := func() {
			version++
			s.trace = traces.Op{Kind: traces.Update, Key: version * 7}
			if version%3 == 0 {
				s.trace.Written = traces.OneField(int(version % 5))
			}
			s.version = version
			b.build(s)
		}
		for range 50 {
			next()
			first := 0
			if i, one := s.trace.Written.Index(); one {
				first = i
			}
			if len(s.op.Write) != 5 && len(s.op.Write) != 1 {
				t.Fatalf("%d fields are written", len(s.op.Write))
			}
			for i, f := range s.op.Write {
				want := h.Fields.Append(nil, h.Seed, s.trace.Key, first+i, version)
				if f.Name != h.Fields.Name(first+i) || !bytes.Equal(f.Value, want) {
					t.Fatalf("%v, %v, version %d, %s: %q, want %q", h.Fields.Length, h.Fields.Values, version, f.Name, f.Value, want)
				}
			}
		}
		if allocs := testing.AllocsPerRun(100, next); allocs > 0 {
			t.Errorf("%v, %v: %v allocations per op", h.Fields.Length, h.Fields.Values, allocs)
		}
	}
}
