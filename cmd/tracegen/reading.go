package main

import (
	"io"

	"pianola/cmd/status"
	"pianola/tracegen"
	"pianola/traces"
)

// readAll reads and checks a trace to its end, shows each block to look, and how
// far it has come on stderr.
func readAll(r *traces.Reader, look func(*traces.Block), stderr io.Writer) (*traces.Totals, error) {
	at := position{doing: "reading "}
	line := status.Start(stderr, "tracegen", at.text)
	defer line.Stop()
	return readWith(r, look, &at)
}

// readWith reads a trace to its end and sets how far it has come. How many
// operations a phase has is not known of a stream.
func readWith(r *traces.Reader, look func(*traces.Block), at *position) (*traces.Totals, error) {
	h := r.Header()
	stated, known := r.Totals()
	return traces.Verify(r, func(b *traces.Block) {
		look(b)
		now := tracegen.Progress{Phase: h.Phases[b.Phase].Name, Done: b.PhaseFirst + uint64(b.Len())}
		if known {
			now.Of = stated.Phases[b.Phase].Count()
		}
		at.set(now)
	})
}
