package dist

import (
	"math"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
)

func mustAges(t testing.TB, newest, beyond float64) *Ages {
	t.Helper()
	a, err := NewAges(newest, beyond)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAges compares draws below limits on both sides of where the method
// changes with q^k.
func TestAges(t *testing.T) {
	for _, c := range []struct{ newest, beyond float64 }{{857.1428571, 0.05}, {1, 0.5}, {0.001, 0.5}, {100_000, 0.5}, {1e-30, 0.1}} {
		law := mustAges(t, c.newest, c.beyond)
		gamma := -math.Log(c.beyond) / c.newest
		for _, n := range []uint64{1, 2, 3, 100, 1000, 100_000} {
			cells := min(n, 100)
			counts, shares := make([]uint64, cells), make([]float64, cells)
			for i := range shares {
				from, to := uint64(i)*n/cells, uint64(i+1)*n/cells
				// (q^from - q^to) / (1 - q^n)
				shares[i] = math.Exp(-gamma*float64(from)) * math.Expm1(-gamma*float64(to-from)) / math.Expm1(-gamma*float64(n))
			}
			out := make([]uint64, 200_000)
			law.Fill(out, random.NewStream(1, "ages"), 0, n, nil)
			for _, k := range out {
				if k >= n {
					t.Fatalf("age %d of %d", k, n)
				}
				counts[k*cells/n]++
			}
			if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
				t.Errorf("%v of ages from %v on, below %d: chi-square %.1f on %d, p = %.3g", c.beyond, c.newest, n, stat, df, p)
			}
		}
	}
}

// TestGreatAges draws where neighbours are drawn as one.
func TestGreatAges(t *testing.T) {
	for _, newest := range []float64{1 << 57, 1 << 60, 1 << 63, 1.8e19} {
		law := mustAges(t, newest, 1/math.E) // a mean of newest
		const n, cells = 1 << 62, 20
		counts, shares, low := make([]uint64, cells), make([]float64, cells), make([]uint64, 16)
		for i := range shares {
			g := n / newest
			shares[i] = math.Exp(-g*float64(i)/cells) * math.Expm1(-g/cells) / math.Expm1(-g)
		}
		out := make([]uint64, 100_000)
		law.Fill(out, random.NewStream(1, "great ages"), 0, n, nil)
		for _, k := range out {
			if k >= n {
				t.Fatalf("age %d", k)
			}
			counts[k/(n/cells+1)]++
			low[k%16]++
		}
		if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
			t.Errorf("a mean of %v: chi-square %.1f on %d, p = %.3g", newest, stat, df, p)
		}
		uniform := make([]float64, 16)
		for i := range uniform {
			uniform[i] = 1. / 16
		}
		if stat, df, p := chisquare.Fit(low, uniform); p < chisquare.MinP {
			t.Errorf("a mean of %v, low bits: chi-square %.1f on %d, p = %.3g", newest, stat, df, p)
		}
	}
}

// TestAgesFill draws with limits of their own, as Sample does.
func TestAgesFill(t *testing.T) {
	stream := random.NewStream(1, "ages")
	for _, newest := range []float64{10, 1000, 1e6, 1 << 60} {
		law := mustAges(t, newest, 0.05)
		out, more := make([]uint64, 10_000), make([]uint32, 10_000)
		for j := range more {
			more[j] = uint32(j / 2)
		}
		law.Fill(out, stream, 77, 5, more)
		for j, got := range out {
			src := stream.At(77 + uint64(j))
			if want := law.Sample(&src, 5+uint64(more[j])); got != want {
				t.Fatalf("mean %v: age %d at index %d, want %d", newest, got, j, want)
			}
		}
	}
}

func TestNewAgesRefuses(t *testing.T) {
	for _, c := range []struct{ newest, beyond float64 }{
		{0, 0.5}, {-1, 0.5}, {math.NaN(), 0.5}, {math.Inf(1), 0.5}, {1, 0}, {1, 1}, {1, -1}, {1, math.NaN()},
	} {
		if _, err := NewAges(c.newest, c.beyond); err == nil {
			t.Errorf("the share %v from %v on is taken", c.beyond, c.newest)
		}
	}
}
