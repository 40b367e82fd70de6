package archive

import (
	"bytes"
	"encoding/hex"
	"testing"

	"pianola/traces"
)

// Whatever this program has become, it reads what was archived, and that is what
// MANIFEST says it is.
func TestEveryTraceIsStillRead(t *testing.T) {
	entries, err := Entries()
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 7 {
		t.Fatalf("%d traces; the archive began with 7", len(entries))
	}
	for _, e := range entries {
		data, err := Read(e.Name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := traces.NewReader(bytes.NewReader(data), e.Name)
		if err != nil {
			t.Fatal(err)
		}
		ops := uint64(0)
		for r.Scan() {
			ops++
		}
		totals, known := r.Totals()
		if r.Err() != nil || !known {
			t.Fatalf("%s: %v", e.Name, r.Err())
		}
		h := r.Header()
		if got := hex.EncodeToString(totals.Digest[:]); got != e.Digest || ops != e.Ops || h.Seed != e.Seed || h.FormatVersion != e.Format || h.ToolVersion != e.Tool {
			t.Errorf("%s: %d ops of seed %d, format %d, by %q, digest %s; MANIFEST says %+v", e.Name, ops, h.Seed, h.FormatVersion, h.ToolVersion, got, e)
		}
	}
}

func TestBrokenLinesAreRefused(t *testing.T) {
	for _, line := range []string{"", "a\tb", "a\tb\tc\tx\t1\td\tt\t1", "a\tb\tc\t1\tx\td\tt\t1", "a\tb\tc\t1\t1\td\tt\tx"} {
		if e, err := parseEntry(line); err == nil {
			t.Errorf("%q is taken as %+v", line, e)
		}
	}
}
