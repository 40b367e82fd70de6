package payload

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestEightDigits(t *testing.T) {
	for n := range uint64(1e8) {
		// Every ten thousand, and every number within the first and the last.
		if n >= 20000 && n < 1e8-20000 && n%10007 != 0 {
			continue
		}
		got := eightDigits(n)
		var text [8]byte
		for i := range text {
			text[i] = '0' + byte(got>>(8*i))
		}
		if want := fmt.Sprintf("%08d", n); string(text[:]) != want {
			t.Fatalf("%q, want %q", text, want)
		}
	}
	// The parts of four digits don't touch each other: all of them, in both places.
	for n := range uint64(10000) {
		if low, both := eightDigits(n)>>32, eightDigits(n*10001); both != low<<32|low {
			t.Fatalf("%04d%04d: %x, %x", n, n, both, low)
		}
	}
}

func TestDecimalIsStrconvs(t *testing.T) {
	numbers := []uint64{0, 1<<64 - 1}
	for power := uint64(1); ; power *= 10 {
		numbers = append(numbers, power-1, power, power+1)
		if power == 1e19 {
			break
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		numbers = append(numbers, random.Uint64()>>random.IntN(64))
	}
	for _, n := range numbers {
		want := strconv.FormatUint(n, 10)
		if got := string(appendDecimal([]byte("key"), n, 1)); got != "key"+want {
			t.Fatalf("%d: %q", n, got)
		}
		if got := string(appendDecimal(nil, n, 33)); got != fmt.Sprintf("%033d", n) {
			t.Fatalf("%d with 33 digits: %q", n, got)
		}
	}
}

func BenchmarkDecimal(b *testing.B) {
	var dst []byte
	b.Run("own", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			dst = appendDecimal(dst[:0], Mix(uint64(i))>>1, 1)
		}
	})
	b.Run("strconv", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			dst = strconv.AppendUint(dst[:0], Mix(uint64(i))>>1, 10)
		}
	})
}

func BenchmarkKey(b *testing.B) {
	keys := Keys{Prefix: "user", Padding: 1}
	var dst []byte
	for i := 0; b.Loop(); i++ {
		dst = keys.Append(dst[:0], Mix(uint64(i))>>44)
	}
}
