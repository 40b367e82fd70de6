package tracegen

import (
	"fmt"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/traces"
)

// Specs at the ends of what is possible. None of them takes long: the blocks
// that a test asks for are all that is made.

var everyLaw = [][]string{
	{"requestdistribution=uniform"},
	{"requestdistribution=latest"},
	{"requestdistribution=zipfian"},
	{"requestdistribution=zipfian", "zipfian.theta=2"},
	{"requestdistribution=zipfian", "zipfian.theta=0.01"},
	{"requestdistribution=zipfian", "zipfian.range=exact"},
	{"requestdistribution=zipfian", "zipfian.range=exact", "zipfian.theta=2"},
	{"requestdistribution=zipfian", "zipfian.range=exact", "zipfian.theta=0.01"},
	{"requestdistribution=latest", "zipfian.theta=2"},
	{"requestdistribution=latest", "zipfian.theta=0.01"},
}

// TestOneRecordManyInserts begins with one record out of 200,000 that the
// folded law may give. The draws for a key are bounded, see TestRedraw.
func TestOneRecordManyInserts(t *testing.T) {
	for _, law := range everyLaw {
		properties := append(law, "recordcount=1", "insertproportion=0.99", "readproportion=0.01", "operationcount=100000")
		spec := mixSpec(t, properties...)
		f := write(t, mustGenerator(t, spec))
		chosen, inserted := checkVisibility(t, fmt.Sprint(law), f, 1, 100)
		if chosen < 900 || chosen > 1100 || (inserted > 0) != (spec.KeyLaw != Uniform) {
			t.Errorf("%v: %d operations choose a key, %d an inserted one", law, chosen, inserted)
		}
	}
}

// TestBillionsOfRecords makes the operations of a run on 5·10^9 records: keys
// of all 33 bits, spread over the twentieths of the range where the law is
// flat there.
func TestBillionsOfRecords(t *testing.T) {
	const records = 5_000_000_000
	for _, law := range everyLaw {
		spec := readySpec(t, "workloada", append(law, "recordcount=5000000000", "operationcount=100000")...)
		counts := make([]uint64, 20)
		m := newMaker(runOf(t, spec))
		ops := 0
		for {
			b, err := m.next()
			if err != nil {
				t.Fatal(err)
			}
			if b.Len() == 0 {
				break
			}
			for _, key := range b.Keys {
				if key >= records {
					t.Fatalf("%v: key %d", law, key)
				}
				counts[key/(records/20)]++
			}
			ops += b.Len()
		}
		if ops != 100_000 {
			t.Errorf("%v: %d operations", law, ops)
		}
		if counts[19] == 0 && spec.Theta < 2 {
			t.Errorf("%v: no key in the last twentieth: %v", law, counts)
		}
		if spec.KeyLaw != Uniform && (spec.Theta != 0.01 || spec.KeyLaw == Latest) {
			continue
		}
		if stat, df, p := chisquare.Fit(counts, equalShares(20)); p < chisquare.MinP {
			t.Errorf("%v: chi-square %.1f on %d, p = %.3g", law, stat, df, p)
		}
	}
}

// TestLoadOfBillions makes the first and the last block of such a load.
func TestLoadOfBillions(t *testing.T) {
	const records = 5_000_000_000
	spec := readySpec(t, "workloada", "recordcount=5000000000", "load.rate=1000000")
	m := newMaker(mustGenerator(t, spec).phases[0])
	for _, c := range []struct {
		block uint64
		want  int
	}{{0, traces.BlockOps}, {records / traces.BlockOps, records % traces.BlockOps}, {records/traces.BlockOps + 1, 0}} {
		m.k = c.block
		b, err := m.next()
		if err != nil {
			t.Fatal(err)
		}
		first := c.block * traces.BlockOps
		if b.Len() != c.want || c.want > 0 && (b.PhaseFirst != first || b.InsertBase != first) {
			t.Errorf("block %d: %d operations, the first is %d", c.block, b.Len(), b.PhaseFirst)
		}
		for i, key := range b.Keys[:b.Len()] {
			if n := first + uint64(i); key != n || b.Kinds[i] != traces.Insert || b.Due[i] != n*1000 {
				t.Fatalf("op %d: %v of key %d, due at %d", n, b.Kinds[i], key, b.Due[i])
			}
		}
	}
}

// TestBillionsOfOperations makes the first block of 10^10 operations.
func TestBillionsOfOperations(t *testing.T) {
	for _, law := range everyLaw {
		for _, arrivals := range []string{"constant", "poisson"} {
			spec := readySpec(t, "workloadd", append(law, "recordcount=5000000000", "operationcount=10000000000", "arrivals="+arrivals)...)
			g := mustGenerator(t, spec)
			if of := g.ops; of != 10_000_000_000 {
				t.Errorf("%v: %d operations", law, of)
			}
			m := newMaker(g.phases[1])
			if n := m.mustNext(t).Len(); n != traces.BlockOps {
				t.Errorf("%v: a block of %d operations", law, n)
			}
		}
	}
}

// TestTheGreatestSpec is at the limits of what Parse accepts.
func TestTheGreatestSpec(t *testing.T) {
	for _, law := range everyLaw {
		spec := readySpec(t, "workloadd", append(law, "recordcount=4611000000000000000", "operationcount=281474976710655", "target=1000000000",
			"insert.visibility=1000000h")...)
		g := mustGenerator(t, spec)
		if v := g.phases[1].visibility; v != 1<<24 {
			t.Errorf("%v: visible after %d operations", law, v)
		}
		b := newMaker(g.phases[1]).mustNext(t)
		for i, key := range b.Keys {
			if key >= spec.Records && b.Kinds[i] != traces.Insert {
				t.Errorf("%v: key %d", law, key)
			}
		}
	}
}

// TestOneRecordOneOperation leaves nothing to choose but the kind.
func TestOneRecordOneOperation(t *testing.T) {
	for _, law := range everyLaw {
		for _, mix := range [][]string{
			{"readproportion=1"}, {"readproportion=0", "updateproportion=1"}, {"readproportion=0", "insertproportion=1"},
			{"readproportion=0", "scanproportion=1"}, {"readproportion=0", "readmodifywriteproportion=1"},
		} {
			spec := mixSpec(t, append(append(mix, law...), "recordcount=1", "operationcount=1")...)
			f := write(t, mustGenerator(t, spec))
			load, run := f.all(t, "load"), f.all(t, "run")
			if len(load) != 1 || load[0].Key != 0 || len(run) != 1 || run[0].Due != 0 || !spec.picks(run[0].Kind) {
				t.Errorf("%v, %v: load %+v, run %+v", law, mix, load, run)
				continue
			}
			want := uint64(0)
			if run[0].Kind == traces.Insert {
				want = 1
			}
			if run[0].Key != want {
				t.Errorf("%v: %v of key %d, want %d", law, run[0].Kind, run[0].Key, want)
			}
		}
	}
}
