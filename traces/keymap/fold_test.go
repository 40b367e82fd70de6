package keymap

import (
	"math"
	"slices"
	"testing"

	"pianola/traces/payload"
)

// checkFold holds the records of ranks against the hash and a division.
func checkFold(t *testing.T, modulus uint64, ranks []uint64) {
	t.Helper()
	f, err := NewFold(modulus)
	if err != nil {
		t.Fatal(err)
	}
	keys := append(make([]uint64, len(ranks)), 42)
	f.Keys(keys[:len(ranks)], ranks)
	for i, rank := range ranks {
		want := payload.HashNumber(rank) % modulus
		if keys[i] != want || f.Key(rank) != want {
			t.Fatalf("modulus %d, %d ranks: %d folds to %d and %d, want %d", modulus, len(ranks), rank, keys[i], f.Key(rank), want)
		}
	}
	if keys[len(ranks)] != 42 {
		t.Fatalf("%d ranks have more keys", len(ranks))
	}
	if f.Keys(ranks, ranks); !slices.Equal(ranks, keys[:len(ranks)]) {
		t.Fatalf("modulus %d: %d ranks folded in place differ", modulus, len(ranks))
	}
}

func TestFoldIsTheHashModuloItsSize(t *testing.T) {
	for _, modulus := range []uint64{1, 2, 3, 1000, 1_000_001, 1<<32 - 1, 1 << 32, 5_000_000_001, 1<<62 + 1, 1 << 63, 1<<63 + 1, math.MaxUint64} {
		for count := range 70 {
			checkFold(t, modulus, numbersBelow(10_000_000_001, count, modulus))
		}
		checkFold(t, modulus, numbersBelow(math.MaxUint64, 10_000, modulus))
		checkFold(t, modulus, []uint64{0, math.MaxUint64, 1 << 63, 255, 256, 1<<56 - 1, 1 << 56, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2})
	}
	// Where a rounded quotient is one too small: multiples of the modulus, and
	// what is next to them.
	for _, modulus := range []uint64{1, 2, 3, 7, 1_000_001, 1<<62 + 1, 1 << 63, math.MaxUint64} {
		f, _ := NewFold(modulus)
		for _, quotient := range []uint64{0, 1, 2, 1000, 1 << 63 / modulus} {
			for d := range uint64(3) {
				if hash := quotient*modulus + d - 1; hash <= 1<<63 && f.reduce(hash) != hash%modulus {
					t.Errorf("%d modulo %d is %d, want %d", hash, modulus, f.reduce(hash), hash%modulus)
				}
			}
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add(uint64(1_000_001), uint64(0), uint16(100))
	f.Add(uint64(math.MaxUint64), uint64(5), uint16(16))
	f.Fuzz(func(t *testing.T, modulus, seed uint64, count uint16) {
		checkFold(t, max(modulus, 1), numbersBelow(math.MaxUint64, int(count%512), seed))
	})
}

// BenchmarkFold compares 1024 ranks together with the same one by one.
func BenchmarkFold(b *testing.B) {
	f, err := NewFold(1_000_001)
	if err != nil {
		b.Fatal(err)
	}
	ranks := numbersBelow(10_000_000_001, 1024, 1)
	keys := make([]uint64, len(ranks))
	b.Run("together", func(b *testing.B) {
		for b.Loop() {
			f.Keys(keys, ranks)
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for b.Loop() {
			f.keysOneByOne(keys, ranks)
		}
	})
}
