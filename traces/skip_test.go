package traces

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	tracev1 "pianola/proto/trace/v1"
)

func TestSkipToChecksWhatItReads(t *testing.T) {
	h, blocks := smallTrace()
	data := writeBlocks(t, h, blocks)
	f := dissect(t, data)
	open := func(data []byte) *Reader {
		path := filepath.Join(t.TempDir(), "x.trace.zst")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	ops := func(r *Reader) (n int) {
		for r.Scan() {
			n++
		}
		return n
	}
	r := open(data)
	if err := r.SkipTo(1); err != nil || ops(r) != 15 || r.Err() != nil {
		t.Errorf("from phase 1 on: %v, %v", err, r.Err())
	}
	r = open(data)
	r.Scan()
	if err := r.SkipTo(1); err != nil || ops(r) != 15 || r.Err() != nil {
		t.Errorf("from phase 1 on, out of a block of phase 0: %v, %v", err, r.Err())
	}
	r = open(data)
	if err := r.SkipTo(2); err != nil || ops(r) != 0 || r.Err() != nil {
		t.Errorf("to a phase without ops: %v, %v", err, r.Err())
	}
	r = open(data)
	for _, phase := range []int{-1, 3, 1 << 30} {
		if err := r.SkipTo(phase); err == nil {
			t.Errorf("skipped to phase %d of 3", phase)
		}
	}
	other := blockMessage(t, f.blocks[3])
	other.KeyTokens[0] ^= 4
	f.blocks[3] = marshal(t, &tracev1.Trace{Block: []*tracev1.Block{other}})
	r = open(f.file(t))
	var c *CorruptError
	if err := r.SkipTo(1); err != nil || ops(r) != 15 || !errors.As(r.Err(), &c) || c.Invariant != invDigest {
		t.Errorf("a changed key behind the skip: %v, %v", err, r.Err())
	}
	stream, err := NewReader(bytes.NewReader(data), "stream")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SkipTo(1); err == nil || stream.Seekable() {
		t.Error("skipped in a stream")
	}
}
