package random

import (
	"testing"
)

// Words and Seconds are the draws that a source gives, wherever the slice ends.
func TestWordsAreDraws(t *testing.T) {
	for _, first := range []uint64{0, 1, 12345, 1 << 40, 1<<64 - 20} {
		s := NewStream(7, "words")
		for n := range 70 {
			words, seconds := make([]uint64, n+1), make([]uint64, n+1)
			words[n], seconds[n] = 42, 42 // behind the end
			s.Words(words[:n], first)
			s.Seconds(seconds[:n], first)
			for j := range n {
				src := s.At(first + uint64(j))
				if a, b := src.Uint64(), src.Uint64(); words[j] != a || seconds[j] != b {
					t.Fatalf("index %d of %d from %d: %x and %x, want %x and %x", j, n, first, words[j], seconds[j], a, b)
				}
			}
			if words[n] != 42 || seconds[n] != 42 {
				t.Fatalf("%d words from %d are more", n, first)
			}
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add(uint64(0), uint64(0), uint16(100))
	f.Add(uint64(1<<63), uint64(1<<64-1), uint16(16))
	f.Fuzz(func(t *testing.T, key, first uint64, n uint16) {
		got, want := make([]uint64, n%2048), make([]uint64, n%2048)
		s := Stream{key}
		s.Words(got, first)
		mixedOneByOne(want, key+first*stride+golden)
		for j := range got {
			if got[j] != want[j] {
				t.Fatalf("word %d of %d: %x, want %x", j, len(got), got[j], want[j])
			}
		}
	})
}

// BenchmarkWords compares a part of 1024 words with the same one by one.
func BenchmarkWords(b *testing.B) {
	out := make([]uint64, 1024)
	s := NewStream(7, "words")
	b.Run("together", func(b *testing.B) {
		for i := uint64(0); b.Loop(); i += 1024 {
			s.Words(out, i)
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for i := uint64(0); b.Loop(); i += 1024 {
			mixedOneByOne(out, s.key+i*stride)
		}
	})
}
