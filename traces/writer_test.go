package traces

import (
	"io"
	"testing"
)

// A reader refuses these, so a Writer must not write them.
func TestAWriterRefusesWhatAReaderRefuses(t *testing.T) {
	for name, change := range map[string]func(h *Header, blocks []*Block){
		"too many visible records": func(_ *Header, b []*Block) { b[4].VisibleRecords++ },
		"too few visible records":  func(_ *Header, b []*Block) { b[4].VisibleRecords = 0 },
		"a delete too many":        func(_ *Header, b []*Block) { b[4].DeletesBefore++ },
		"visible where none says":  func(h *Header, _ []*Block) { h.Phases[1].VisibilityOps = 0 },
		"a record not loaded":      func(h *Header, b []*Block) { h.Records++ },
		"a due time in 200 years": func(h *Header, b []*Block) {
			h.Tick = 1e9
			b[4].Due[4] = 200 * 365 * 24 * 3600
		},
		"inserts at the end of the key numbers": func(h *Header, b []*Block) { h.FirstKey, b[0].InsertBase = keyMax-10, keyMax-10 },
		"a field set of 2^31":                   func(_ *Header, b []*Block) { b[2].Read[0] = 1 << 31 },
		"a field set of a DELETE":               func(_ *Header, b []*Block) { b[2].Read[4] = 1 },
		"fields read of an UPDATE":              func(_ *Header, b []*Block) { b[2].Read[1] = 1 },
		"fields written of a READ":              func(_ *Header, b []*Block) { b[2].Written[0] = 1 },
		"a scan length of a READ":               func(_ *Header, b []*Block) { b[2].ScanLengths[0] = 1 },
		"a scan length of 2^31":                 func(_ *Header, b []*Block) { b[2].ScanLengths[2] = 1 << 31 },
		"an unknown key order":                  func(h *Header, _ []*Block) { h.Keys.Order = 2 },
		"an unpaced rate":                       func(h *Header, _ []*Block) { h.Phases[0].Rate = Rate{1, 1} },
		"too many hints":                        func(h *Header, _ []*Block) { h.Hints = make([]Hint, hintsMax+1) },
		"a long spec":                           func(h *Header, _ []*Block) { h.Spec = string(make([]byte, headerBytesMax)) },
		"text that is not UTF-8":                func(h *Header, _ []*Block) { h.Spec = "\xff" },
	} {
		h, blocks := smallTrace()
		change(h, blocks)
		w, err := NewWriter(io.Discard, h)
		for _, b := range blocks {
			if err == nil {
				err = w.WriteBlock(b)
			}
		}
		if err == nil {
			_, err = w.Close()
		}
		if err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

// Whatever order the calls come in, a Writer gives errors, not broken traces.
func TestAFailedWriterStaysFailed(t *testing.T) {
	h, blocks := smallTrace()
	w, err := NewWriter(io.Discard, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteBlock(blocks[1]); err == nil {
		t.Error("the second block was written first")
	}
	if err := w.WriteBlock(blocks[0]); err == nil {
		t.Error("a block was written behind an error")
	}
	if _, err := w.Close(); err == nil {
		t.Error("closed without an error")
	}
}
