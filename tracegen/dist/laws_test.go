package dist

import (
	"testing"

	"pianola/tracegen/random"
)

func mustZipf(t testing.TB, n uint64, theta float64) *Zipf {
	t.Helper()
	z, err := NewZipf(n, theta)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func mustExponential(t testing.TB, mean float64) *Exponential {
	t.Helper()
	e, err := NewExponential(mean)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func mustScramble(t testing.TB, n, seed uint64) *Scramble {
	t.Helper()
	s, err := NewScramble(n, random.NewStream(seed, "scramble"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustFold(t testing.TB, modulus uint64) Fold {
	t.Helper()
	f, err := NewFold(modulus)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
