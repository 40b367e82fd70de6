package keymap

import (
	"slices"
	"testing"

	"pianola/traces/payload"
)

// numbersBelow returns as many numbers below items.
func numbersBelow(items uint64, count int, seed uint64) []uint64 {
	numbers := make([]uint64, count)
	for i := range numbers {
		numbers[i] = payload.Mix(seed+uint64(i)) % items
	}
	return numbers
}

// checkMapAll holds MapAll against Map, in a slice of its own and in place.
func checkMapAll(t *testing.T, s *Scramble, numbers []uint64) {
	t.Helper()
	want := make([]uint64, len(numbers))
	for i, x := range numbers {
		want[i] = s.Map(x)
	}
	images := append(make([]uint64, len(numbers)), 42)
	s.MapAll(images[:len(numbers)], numbers)
	for i := range want {
		if images[i] != want[i] {
			t.Fatalf("%d items, %d numbers: the image of %d is %d, want %d", s.n, len(numbers), numbers[i], images[i], want[i])
		}
	}
	if images[len(numbers)] != 42 {
		t.Fatalf("%d items: %d numbers have more images", s.n, len(numbers))
	}
	if s.MapAll(numbers, numbers); !slices.Equal(numbers, want) {
		t.Fatalf("%d items: %d numbers mapped in place differ", s.n, len(numbers))
	}
}

func TestMapAllIsMap(t *testing.T) {
	for i, items := range []uint64{1, 2, 3, 4, 5, 15, 16, 17, 255, 256, 1000, 1 << 16, 1<<16 + 1, 1_000_000, 1<<32 - 1, 1 << 32, 5_000_000_000, 1 << 61, MaxItems - 1, MaxItems} {
		s, err := NewScramble(items, [Rounds]uint64{payload.Mix(uint64(i)), 2, 1 << 63, 1<<64 - 1})
		if err != nil {
			t.Fatal(err)
		}
		for count := range 40 {
			checkMapAll(t, s, numbersBelow(items, count, uint64(i)))
		}
		checkMapAll(t, s, numbersBelow(items, 10_000, uint64(i)))
		checkMapAll(t, s, []uint64{0, items - 1, items / 2, 0, items - 1, 0, 0, items - 1, items / 3})
	}
}

func FuzzMapAll(f *testing.F) {
	f.Add(uint64(1_000_000), uint64(1), uint64(2), uint64(3), uint64(4), uint16(100))
	f.Add(uint64(MaxItems), uint64(1<<63), uint64(0), uint64(1<<64-1), uint64(5), uint16(8))
	f.Fuzz(func(t *testing.T, items, a, b, c, d uint64, count uint16) {
		s, err := NewScramble(items%MaxItems+1, [Rounds]uint64{a, b, c, d})
		if err != nil {
			t.Fatal(err)
		}
		checkMapAll(t, s, numbersBelow(s.n, int(count%512), a))
	})
}

// BenchmarkMapAll compares 1024 numbers together with the same one by one.
func BenchmarkMapAll(b *testing.B) {
	s, err := NewScramble(1_000_000, [Rounds]uint64{1, 2, 3, 4})
	if err != nil {
		b.Fatal(err)
	}
	numbers := numbersBelow(1_000_000, 1024, 1)
	images := make([]uint64, len(numbers))
	b.Run("together", func(b *testing.B) {
		for b.Loop() {
			s.MapAll(images, numbers)
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for b.Loop() {
			s.mapOneByOne(images, numbers)
		}
	})
}
