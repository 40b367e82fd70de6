package tracegen

import (
	"strings"
	"testing"

	"pianola/traces/payload"
)

func FuzzParse(f *testing.F) {
	for _, c := range accepted {
		f.Add(c.text)
	}
	for _, c := range refused {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spec, notes, err := Parse(inputOf(text))
		for _, n := range notes {
			if n.Text == "" || n.String() == "" {
				t.Fatalf("empty note %+v", n)
			}
		}
		if err != nil {
			if spec != nil || len(SpecErrors(err)) == 0 {
				t.Fatalf("spec %v beside %v", spec, err)
			}
			for _, e := range SpecErrors(err) {
				if e.Reason == "" || strings.Contains(e.Reason, "\n") {
					t.Fatalf("error %+v", e)
				}
			}
			return
		}
		canonical := spec.Canonical()
		again, notes, err := Parse(Input{Sources: []Source{{"canonical", []byte(canonical)}}})
		if err != nil {
			t.Fatalf("%v of\n%s", err, canonical)
		}
		again.Seed, again.Hints, again.RateStated = spec.Seed, spec.Hints, spec.RateStated
		if !sameSpec(spec, again) || again.Canonical() != canonical {
			t.Fatalf("%+v\nbecame\n%+v\nthrough\n%s", spec, again, canonical)
		}
		for _, n := range notes {
			if strings.HasPrefix(n.Text, "no effect") || strings.Contains(n.Text, "dropped") {
				t.Fatalf("note %q of\n%s", n, canonical)
			}
		}
	})
}

func FuzzHistogram(f *testing.F) {
	for _, text := range histograms {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		buckets, line, reason := parseHistogram([]byte(text))
		if reason != "" {
			if buckets != nil || line < 1 || line > 2+strings.Count(text, "\n") || strings.Contains(reason, "\n") || len(reason) > 1000 {
				t.Fatalf("%v, line %d: %s", buckets, line, reason)
			}
			return
		}
		if len(buckets) < 2 || len(buckets) > payload.MaxBuckets+1 || buckets[0] > payload.MaxValueBytes {
			t.Fatalf("%d buckets of %d bytes", len(buckets)-1, buckets[0])
		}
		l, err := payload.HistogramLength(int(buckets[0]), buckets[1:])
		if err != nil {
			return
		}
		if again, err := payload.ParseLength(l.String()); err != nil || again.String() != l.String() {
			t.Fatalf("%q became %q, %v", l, again, err)
		}
	})
}
