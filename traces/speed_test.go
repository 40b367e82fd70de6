package traces

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"pianola/traces/payload"
)

// workloadB returns a header and full blocks of the shape of YCSB's workload B:
// 95 % READ of all fields, 5 % UPDATE of one, few hot keys among a million, an
// op every 10 µs.
func workloadB(blocks int) (*Header, []*Block) {
	h := testHeader()
	h.Phases = h.Phases[1:]
	h.Records = 1_000_000
	r := rand.New(rand.NewPCG(7, 8))
	out := make([]*Block, blocks)
	for i := range out {
		b := &Block{First: uint64(i) * BlockOps, InsertBase: h.Records}
		for j := range BlockOps {
			kind, written := Read, AllFields
			if r.IntN(20) == 0 {
				kind, written = Update, OneField(r.IntN(10))
			}
			rank := uint64(math.Pow(float64(h.Records), r.Float64()))
			b.Kinds = append(b.Kinds, kind)
			b.Keys = append(b.Keys, payload.HashNumber(rank)%h.Records)
			b.Due = append(b.Due, (b.First+uint64(j))*10_000)
			b.ScanLengths = append(b.ScanLengths, 0)
			b.Read = append(b.Read, AllFields)
			b.Written = append(b.Written, written)
		}
		out[i] = b
	}
	return h, out
}

// perOp runs f on one block after another and reports time and bytes per
// operation of the trace.
func perOp(b *testing.B, f func()) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/BlockOps, "ns/op")
}

func BenchmarkEncodeBlock(b *testing.B) {
	h, blocks := workloadB(1)
	c := newBlockCodec(h)
	counts := kindCounts(blocks[0].Kinds)
	perOp(b, func() {
		if _, _, err := c.encode(blocks[0], &counts, isConstant(blocks[0], h), nil); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkDigestBlock(b *testing.B) {
	_, blocks := workloadB(1)
	d := NewPhaseDigest(true)
	perOp(b, func() { d.Add(blocks[0]) })
}

func BenchmarkCheckBlock(b *testing.B) {
	h, blocks := workloadB(1)
	perOp(b, func() {
		if _, _, err := checkBlock(blocks[0], h); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkDecodeBlock(b *testing.B) {
	h, blocks := workloadB(1)
	field := encodeField(b, h, blocks[0])
	c := newBlockCodec(h)
	var block Block
	perOp(b, func() {
		o, err := c.open(field, &block)
		if err == nil {
			err = c.finish(o, &block, 0, nil)
		}
		if err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkWrite is everything that a Writer does to an op: checks, digest,
// encoding, compression.
func BenchmarkWrite(b *testing.B) {
	h, blocks := workloadB(1)
	w, err := NewWriter(io.Discard, h)
	if err != nil {
		b.Fatal(err)
	}
	block := blocks[0]
	perOp(b, func() {
		if err := w.WriteBlock(block); err != nil {
			b.Fatal(err)
		}
		block.First += BlockOps
		for i := range block.Due {
			block.Due[i] += BlockOps * 10_000
		}
	})
}

// BenchmarkRead is everything that a Reader does to an op: checksum,
// decompression, decoding, digest.
func BenchmarkRead(b *testing.B) {
	h, blocks := workloadB(8)
	var data bytes.Buffer
	w, err := NewWriter(&data, h)
	if err != nil {
		b.Fatal(err)
	}
	for _, block := range blocks {
		if err := w.WriteBlock(block); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		b.Fatal(err)
	}
	var r *Reader
	var block Block
	perOp(b, func() {
		if r == nil {
			if r, err = NewReader(bytes.NewReader(data.Bytes()), "stream"); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.NextBlock(&block); err != nil {
			b.Fatal(err)
		}
		if block.First == 7*BlockOps {
			r = nil
		}
	})
}
