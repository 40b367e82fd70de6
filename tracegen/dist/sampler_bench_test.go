package dist

import (
	"fmt"
	"math"
	"testing"

	"pianola/tracegen/random"
)

// BenchmarkRank compares the samplers with YCSB's formula, all in one run. The
// time of one draw is ns/op.
func BenchmarkRank(b *testing.B) {
	stream := random.NewStream(1, "benchmark")
	for _, c := range []struct {
		name string
		law  interface{ Sample(*random.Source) uint64 }
	}{
		{"zipf_1M", mustZipf(b, 1e6, 0.99)},
		{"zipf_100M", mustZipf(b, 1e8, 0.99)},
		{"zipf_2e62", mustZipf(b, 1<<62, 0.99)},
		{"ycsb", NewYCSBZipf()},
	} {
		b.Run(c.name, func(b *testing.B) {
			src := stream.At(0)
			for b.Loop() {
				sink += c.law.Sample(&src)
			}
		})
	}
	b.Run("zipf_1M_by_index", func(b *testing.B) {
		law := mustZipf(b, 1e6, 0.99)
		for i := range b.N {
			src := stream.At(uint64(i))
			sink += law.Sample(&src)
		}
	})
	for _, c := range []struct {
		name  string
		items float64
	}{{"formula_1M", 1e6}, {"formula_100M", 1e8}, {"formula_ycsb", YCSBItems}} {
		g := newGray(c.items, zeta(1e6, 0.99), 0.99) // the constants don't matter for the time
		b.Run(c.name, func(b *testing.B) {
			src := stream.At(0)
			for b.Loop() {
				sink += g.rank(src.Float64())
			}
		})
	}
}

// BenchmarkKey measures what turns a rank into a key number.
func BenchmarkKey(b *testing.B) {
	b.Run("fold", func(b *testing.B) {
		fold := mustFold(b, 1000001)
		for i := range b.N {
			sink += fold.Key(uint64(i))
		}
	})
	b.Run("scramble_1M", func(b *testing.B) {
		s := mustScramble(b, 1e6, 1)
		for i := range b.N {
			sink += s.Map(uint64(i) % 1e6)
		}
	})
}

// BenchmarkExponential compares gaps of several means with a logarithm.
func BenchmarkExponential(b *testing.B) {
	stream := random.NewStream(1, "benchmark")
	b.Run("log", func(b *testing.B) {
		src := stream.At(0)
		for b.Loop() {
			sink += uint64(-1000*math.Log(1-src.Float64()) + src.Float64())
		}
	})
	for _, mean := range []float64{1, 100, 1000} {
		b.Run(fmt.Sprintf("mean_%v", mean), func(b *testing.B) {
			law := mustExponential(b, mean)
			src := stream.At(0)
			for b.Loop() {
				sink += law.Sample(&src)
			}
		})
	}
}

// BenchmarkNew measures the making of a law.
func BenchmarkNew(b *testing.B) {
	b.Run("zipf_1M", func(b *testing.B) {
		for b.Loop() {
			mustZipf(b, 1e6, 0.99)
		}
	})
	b.Run("zipf_2e62", func(b *testing.B) {
		for b.Loop() {
			mustZipf(b, 1<<62, 0.99)
		}
	})
	b.Run("exponential", func(b *testing.B) {
		for b.Loop() {
			mustExponential(b, 1000)
		}
	})
}

var sink uint64
