package tracegen

import (
	"maps"
	"slices"
	"testing"

	"pianola/traces"
)

// sliced makes a spec work on a slice of the table.
func sliced(spec *Spec, first, insertFrom uint64) *Spec {
	spec.FirstKey, spec.InsertFrom = first, insertFrom
	return spec
}

// TestSlices holds every law to its slice: the keys of the load and those of
// the inserts, in their order.
func TestSlices(t *testing.T) {
	for _, c := range []struct{ first, insertFrom uint64 }{
		{0, 1000}, {0, 5000}, {3_000_000_000, 3_000_001_000}, {3_000_000_000, 5_000_000_000}, {1 << 61, 1<<61 + 1000},
	} {
		spec := sliced(mixSpec(t, "recordcount=1000", "operationcount=70000", "insertproportion=0.1"), c.first, c.insertFrom)
		lawsOf(spec, func(name string) {
			g := mustGenerator(t, spec)
			if h := g.Header(); h.FirstKey != c.first || h.Records != 1000 {
				t.Errorf("%s: the header says %d records from %d on", name, h.Records, h.FirstKey)
			}
			made := opsMade(t, g)
			for i, op := range made["load"] {
				if op.Key != c.first+uint64(i) {
					t.Fatalf("%s: op %d loads key %d, want %d", name, i, op.Key, c.first+uint64(i))
				}
			}
			next, read, inserted := c.insertFrom, 0, 0
			for i, op := range made["run"] {
				switch {
				case op.Kind == traces.Insert:
					if op.Key != next {
						t.Fatalf("%s: op %d inserts key %d, want %d", name, i, op.Key, next)
					}
					next++
				case op.Key >= c.first && op.Key < c.first+1000:
					read++
				case op.Key >= c.insertFrom && op.Key < next:
					inserted++
				default:
					t.Fatalf("%s: op %d chooses key %d", name, i, op.Key)
				}
			}
			sees := spec.KeyLaw != Uniform && spec.KeyLaw != Hotspot && spec.KeyLaw != Sequential
			if read == 0 || (inserted > 0) != sees {
				t.Errorf("%s from %d on: %d choices of loaded keys, %d of inserted ones", name, c.first, read, inserted)
			}
		})
	}
}

// TestSlicesChooseAlike moves a slice: its operations move with it.
func TestSlicesChooseAlike(t *testing.T) {
	spec := mixSpec(t, "operationcount=70000", "insertproportion=0.1")
	lawsOf(spec, func(name string) {
		plain := opsMade(t, mustGenerator(t, sliced(spec, 0, 1000)))["run"]
		moved := opsMade(t, mustGenerator(t, sliced(spec, 7_000_000_000, 7_000_001_000)))["run"]
		for i, op := range plain {
			if op.Key += 7_000_000_000; op != moved[i] {
				t.Fatalf("%s: op %d is %+v, want %+v", name, i, moved[i], op)
			}
		}
	})
}

// TestClientsShareATable cuts a workload in three, as three machines would: no
// key is inserted twice, and together they load what one would.
func TestClientsShareATable(t *testing.T) {
	seen := map[uint64]int{}
	for client := range uint64(3) {
		spec := mixSpec(t, "recordcount=1000", "operationcount=20000", "insertproportion=1")
		sliced(spec, client*1000, 3000+client*20_000)
		for _, ops := range opsMade(t, mustGenerator(t, spec)) {
			for _, op := range ops {
				if op.Kind == traces.Insert {
					seen[op.Key]++
				}
			}
		}
	}
	keys := slices.Sorted(maps.Keys(seen))
	for _, key := range keys {
		if seen[key] != 1 {
			t.Errorf("key %d is inserted %d times", key, seen[key])
		}
	}
	if !slices.Equal(keys[:3000], slices.Collect(func(yield func(uint64) bool) {
		for n := range uint64(3000) {
			if !yield(n) {
				return
			}
		}
	})) {
		t.Error("the loads are not the keys 0 to 2999")
	}
}

// TestASecondTraceContinues begins where a first one ended: its inserts go on
// at the first free key.
func TestASecondTraceContinues(t *testing.T) {
	first := write(t, mustGenerator(t, mixSpec(t, "operationcount=5000", "insertproportion=1")))
	spec := sliced(mixSpec(t, "operationcount=5000", "insertproportion=1"), 0, first.totals.FirstFreeKey)
	inserted := map[uint64]bool{}
	for _, ops := range [][]traces.Op{first.all(t, "run"), opsMade(t, mustGenerator(t, spec))["run"]} {
		for _, op := range ops {
			if op.Kind == traces.Insert {
				if inserted[op.Key] {
					t.Fatalf("key %d is inserted again", op.Key)
				}
				inserted[op.Key] = true
			}
		}
	}
}
