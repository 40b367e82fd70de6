package dist

import (
	"testing"

	"pianola/tracegen/random"
	"pianola/traces/keymap"
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

func mustScramble(t testing.TB, n, seed uint64) *keymap.Scramble {
	t.Helper()
	var keys [keymap.Rounds]uint64
	src := random.NewStream(seed, "scramble").At(0)
	for i := range keys {
		keys[i] = src.Uint64()
	}
	s, err := keymap.NewScramble(n, keys)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustFold(t testing.TB, modulus uint64) keymap.Fold {
	t.Helper()
	f, err := keymap.NewFold(modulus)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
