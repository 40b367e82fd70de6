package tracegen

import (
	"encoding/hex"
	"testing"

	"pianola/tracegen/workloads"
	"pianola/traces/archive"
)

// What a spec and a seed made when a format was released they make today, from
// the ready spec and from the header of the trace.
func TestTheArchiveIsGeneratedAgain(t *testing.T) {
	entries, err := archive.Entries()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, ok := workloads.Read(e.Workload)
		if !ok {
			t.Fatalf("%s: there is no workload %q", e.Name, e.Workload)
		}
		spec, _, err := Parse(Input{Sources: []Source{{Name: e.Workload, Text: text}}, Overrides: e.Properties})
		if err != nil {
			t.Fatal(err)
		}
		spec.Seed = e.Seed
		made := write(t, mustGenerator(t, spec))
		if got := hex.EncodeToString(made.totals.Digest[:]); got != e.Digest {
			t.Errorf("%s: digest %s, archived is %s", e.Name, got, e.Digest)
		}
	}
}
