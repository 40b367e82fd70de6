package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"pianola/traces"
)

// The line of progress tells phase, operations done and, of a file, their share.
func TestReadingTellsHowFarItIs(t *testing.T) {
	path := falsified(t, func(*traces.Header) {})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := traces.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stream, err := traces.NewReader(bytes.NewBuffer(text), "stream")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r           *traces.Reader
		first, last string
	}{
		{file, "reading phase load: 1000 of 1000 operations (100%)", "reading phase run: 100000 of 100000 operations (100%)"},
		{stream, "reading phase load: 1000 operations", "reading phase run: 100000 operations"},
	} {
		at := position{doing: "reading "}
		var seen []string
		totals, err := readWith(c.r, func(*traces.Block) { seen = append(seen, at.text()) }, &at)
		if err != nil || totals.Phases[1].Count() != 100_000 {
			t.Fatalf("%s: %+v, %v", c.r.Path(), totals, err)
		}
		if len(seen) < 3 || seen[0] != "" || !strings.HasPrefix(seen[1], c.first) {
			t.Errorf("%s: %q, want %q behind the first block", c.r.Path(), seen, c.first)
		}
		if got := at.text(); !strings.HasPrefix(got, c.last) {
			t.Errorf("%s: %q, want %q", c.r.Path(), got, c.last)
		}
	}
}
