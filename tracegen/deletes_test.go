package tracegen

import (
	"math/big"
	"strings"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/traces"
)

// deleting adds deletes of a weight to a spec.
func deleting(spec *Spec, weight int64) *Spec {
	spec.Weights[traces.Delete] = big.NewRat(weight, 10)
	return spec
}

// lawsOf sets each law, those without a word in this list of everyLaw too.
func lawsOf(spec *Spec, each func(name string)) {
	for _, law := range []KeyLaw{Uniform, ZipfianYCSB, ZipfianExact, Latest} {
		spec.KeyLaw, spec.Theta = law, 0.99
		each(string(law))
	}
	for _, law := range []parameterLaw{ycsbHotspot, ycsbExponential} {
		law.set(spec)
		each(law.name)
	}
	spec.KeyLaw = Sequential
	each("sequential")
}

// TestDeadKeysAreLeftAlone follows which keys are deleted: each is once, it was
// loaded, and nothing touches it after that.
func TestDeadKeysAreLeftAlone(t *testing.T) {
	for _, warmup := range []uint64{0, 30_000} {
		spec := deleting(mixSpec(t, "recordcount=20000", "operationcount=150000", "insertproportion=0.1"), 1)
		spec.WarmupOps = warmup
		lawsOf(spec, func(name string) {
			f := write(t, mustGenerator(t, spec))
			dead := map[uint64]bool{}
			deletes := uint64(0)
			check := func(i uint64, op *traces.Op) {
				if dead[op.Key] {
					t.Fatalf("%s: op %d, a %v, has key %d, which is deleted", name, i, op.Kind, op.Key)
				}
				if op.Kind == traces.Delete {
					deletes++
					dead[op.Key] = true
					if op.Key >= spec.Records {
						t.Fatalf("%s: op %d deletes key %d, which was not loaded", name, i, op.Key)
					}
				}
			}
			f.ops(t, "warmup", check)
			f.ops(t, "run", check)
			if want := (150_000 + warmup) / 12; deletes < want-500 || deletes > want+500 {
				t.Errorf("%s: %d deletes, want about %d", name, deletes, want)
			}
		})
	}
}

// TestLivingKeysKeepTheirLaw compares the keys of operations in the midst of
// deletes with the law over what lives.
func TestLivingKeysKeepTheirLaw(t *testing.T) {
	spec := deleting(mixSpec(t, "recordcount=100", "operationcount=3000000"), 0)
	spec.Weights[traces.Delete] = big.NewRat(1, 60_000) // about 50
	for _, c := range []struct {
		law     KeyLaw
		weights []float64
	}{
		{Uniform, equalWeights(100)},
		{Latest, zipfWeights(100, 0.99)},
		{ZipfianExact, scrambledWeights(100, 0.99, 1)},
	} {
		spec.KeyLaw = c.law
		counts, want := make([]uint64, 100), make([]float64, 100)
		dead := make([]bool, 100)
		weight := func(key int) float64 {
			switch {
			case dead[key]:
				return 0
			case c.law == Latest:
				return c.weights[99-key]
			}
			return c.weights[key]
		}
		chosen, total := 0, 0
		flush := func() {
			sum := 0.
			for key := range 100 {
				sum += weight(key)
			}
			for key := range 100 {
				want[key] += float64(chosen) * weight(key) / sum
			}
			chosen = 0
		}
		write(t, mustGenerator(t, spec)).ops(t, "run", func(_ uint64, op *traces.Op) {
			if op.Kind == traces.Delete {
				flush()
				dead[op.Key] = true
				return
			}
			chosen++
			total++
			counts[op.Key]++
		})
		flush()
		for key := range want {
			want[key] /= float64(total)
		}
		if stat, df, p := chisquare.Fit(counts, want); p < chisquare.MinP {
			t.Errorf("%s: chi-square %.1f on %d, p = %.3g", c.law, stat, df, p)
		}
	}
}

// TestAllIsDeleted deletes every record, and then no more.
func TestAllIsDeleted(t *testing.T) {
	spec := deleting(mixSpec(t, "readproportion=0", "updateproportion=0", "insertproportion=1", "recordcount=100000", "operationcount=100000"), 1)
	spec.Weights[traces.Insert] = new(big.Rat)
	counts := make([]uint64, 100_000)
	order := make([]uint64, 0, 100_000)
	write(t, mustGenerator(t, spec)).ops(t, "run", func(_ uint64, op *traces.Op) {
		counts[op.Key]++
		order = append(order, op.Key)
	})
	for key, n := range counts {
		if n != 1 {
			t.Fatalf("key %d is deleted %d times", key, n)
		}
	}
	// In an order without a pattern: pairs of neighbours are as any two numbers.
	pairs := make([]uint64, 100)
	for i := 1; i < len(order); i += 2 {
		pairs[order[i-1]/10_000*10+order[i]/10_000]++
	}
	if stat, df, p := chisquare.Fit(pairs, equalShares(100)); p < chisquare.MinP {
		t.Errorf("pairs of neighbours: chi-square %.1f on %d, p = %.3g", stat, df, p)
	}

	// One more is an error; so is a mix that comes to more by chance.
	spec.Ops++
	const want = "deleteproportion: more deletes than the 100000 records loaded: 100001 of the first 100001 operations of phase run and before"
	if _, err := NewGenerator(spec, "test"); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	spec.Ops, spec.WarmupOps = 50_000, 50_001
	if _, err := NewGenerator(spec, "test"); err == nil || err.Error() != strings.ReplaceAll(want, "first 100001", "first 50000") {
		t.Errorf("with a warmup: error %v", err)
	}
	refused := 0
	for seed := range uint64(40) {
		half := deleting(mixSpec(t, "recordcount=10000", "operationcount=20000"), 10)
		half.Seed = seed
		g, err := NewGenerator(half, "test")
		if err != nil {
			refused++
			continue
		}
		kinds := make([]traces.Kind, 20_000)
		g.phases[1].mix.fill(kinds, g.phases[1].kinds, 0)
		if deletes := countKind(kinds, traces.Delete); deletes > 10_000 {
			t.Errorf("seed %d: %d deletes of 10000 records", seed, deletes)
		}
	}
	if refused < 8 || refused > 32 {
		t.Errorf("%d of 40 seeds have more deletes than records, want about half", refused)
	}
}

// TestNothingLeftToRead deletes all records early and reads on.
func TestNothingLeftToRead(t *testing.T) {
	spec := deleting(mixSpec(t, "recordcount=3", "operationcount=1000", "readproportion=1"), 0)
	spec.Weights[traces.Delete] = big.NewRat(1, 300)
	spec.Ops = 1000
	failed := 0
	for seed := range uint64(60) {
		spec.Seed = seed
		g, err := NewGenerator(spec, "test")
		if err != nil { // a fourth delete
			continue
		}
		lawsOf(spec, func(name string) {
			g = mustGenerator(t, spec)
			_, err := newMaker(g.phases[1]).next()
			if err != nil {
				failed++
				if !strings.Contains(err.Error(), "finds no record to choose: 3 of 3 are deleted") {
					t.Errorf("seed %d, %s: %v", seed, name, err)
				}
			}
		})
	}
	if failed == 0 {
		t.Error("no seed leaves nothing to read")
	}
}

// TestDeletesBesideInserts reads inserts when all else is gone.
func TestDeletesBesideInserts(t *testing.T) {
	spec := deleting(mixSpec(t, "recordcount=1000", "operationcount=20000", "insertproportion=1", "readproportion=0.5"), 0)
	spec.Weights[traces.Delete] = big.NewRat(15*999, 20_000*10)
	lawsOf(spec, func(name string) {
		if spec.KeyLaw == ZipfianExact {
			spec.Visibility = 0
		}
		for seed := range uint64(50) {
			spec.Seed = seed
			g, err := NewGenerator(spec, "test")
			if err != nil {
				continue
			}
			f := write(t, g)
			dead := map[uint64]bool{}
			f.ops(t, "run", func(i uint64, op *traces.Op) {
				if dead[op.Key] {
					t.Fatalf("%s: op %d, a %v, has key %d, which is deleted", name, i, op.Kind, op.Key)
				}
				if op.Kind == traces.Delete {
					dead[op.Key] = true
				}
			})
			return
		}
		t.Errorf("%s: every seed deletes too much", name)
	})
}
