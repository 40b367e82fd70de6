package tracegen

import (
	"fmt"
	"math/big"
	"testing"

	"pianola/traces"
)

// checkVisibility reads a trace back and counts by brute force what each
// operation may see. It returns how many operations chose a key and how many
// chose that of an insert.
func checkVisibility(t *testing.T, name string, f generated, records, v uint64) (chosen, inserted int) {
	t.Helper()
	ops := f.all(t, "run")
	// before[i] is the number of inserts with an index below i.
	before := make([]uint64, len(ops)+1)
	for i, op := range ops {
		before[i+1] = before[i]
		if op.Kind == traces.Insert {
			before[i+1]++
		}
	}
	seen := func(i uint64) uint64 {
		if i < v {
			return 0
		}
		return before[i-v]
	}
	for i, op := range ops {
		if op.Kind == traces.Insert {
			if want := records + before[i]; op.Key != want {
				t.Fatalf("%s: op %d inserts key %d, want %d", name, i, op.Key, want)
			}
			continue
		}
		chosen++
		if op.Key >= records {
			inserted++
		}
		if limit := records + seen(uint64(i)); op.Key >= limit {
			t.Fatalf("%s: op %d chooses key %d of %d visible", name, i, op.Key, limit)
		}
	}
	f.blocks(t, "run", func(b *traces.Block) {
		if b.VisibleRecords != records+seen(b.PhaseFirst) || b.InsertBase != records+before[b.PhaseFirst] {
			t.Fatalf("%s: the block of op %d says %d inserts visible, the next is key %d; want %d and %d",
				name, b.PhaseFirst, b.VisibleRecords, b.InsertBase, records+seen(b.PhaseFirst), records+before[b.PhaseFirst])
		}
	})
	if want := records + before[len(ops)]; f.totals.FirstFreeKey != want {
		t.Errorf("%s: the first free key is %d, want %d", name, f.totals.FirstFreeKey, want)
	}
	return chosen, inserted
}

// TestVisibility holds D, and specs like E under each law, against brute force.
func TestVisibility(t *testing.T) {
	laws := [][]string{
		{"requestdistribution=latest"},
		{"requestdistribution=zipfian"},
		{"requestdistribution=zipfian", "zipfian.range=exact"},
		{"requestdistribution=uniform"},
	}
	for _, c := range []struct {
		visibility string
		rate       traces.Rate
		v          uint64
	}{
		{"0s", traces.Rate{Numerator: 1000, Denominator: 1}, 1},
		{"1ns", traces.Rate{Numerator: 1000, Denominator: 1}, 1},
		{"1ms", traces.Rate{Numerator: 1000, Denominator: 1}, 1},
		{"1000001ns", traces.Rate{Numerator: 1000, Denominator: 1}, 2},
		{"100ms", traces.Rate{Numerator: 1000, Denominator: 1}, 100},
		{"100ms", traces.Rate{Numerator: 1999, Denominator: 2}, 100}, // of 99.95
		{"100ms", traces.Rate{Numerator: 7, Denominator: 1}, 1},
		{"100ms", traces.Rate{Numerator: 1, Denominator: 3}, 1},
		{"100ms", traces.Rate{Numerator: 300_000, Denominator: 1}, 30_000},
		{"1h", traces.Rate{Numerator: 1000, Denominator: 1}, 3_600_000}, // longer than the phase
		{"1h", traces.Rate{Numerator: 1_000_000, Denominator: 1}, 1 << 24},
	} {
		for _, law := range laws {
			properties := append(law, "insert.visibility="+c.visibility, "operationcount=70000", "insertproportion=0.1")
			spec := withRate(readySpec(t, "workloade", properties...), c.rate.Numerator, c.rate.Denominator)
			name := fmt.Sprintf("%v at %v", properties, c.rate)
			g := mustGenerator(t, spec)
			if got := g.Header().Phases[1].VisibilityOps; got != c.v {
				t.Errorf("%s: visible after %d operations, want %d", name, got, c.v)
			}
			chosen, inserted := checkVisibility(t, name, write(t, g), spec.Records, c.v)
			if chosen < 60_000 || (inserted > 0) != (c.v < 70_000 && spec.KeyLaw != Uniform) {
				t.Errorf("%s: %d of %d operations choose inserted keys", name, inserted, chosen)
			}
		}
	}
	spec := readySpec(t, "workloadd", "operationcount=200000")
	checkVisibility(t, "workloadd", write(t, mustGenerator(t, spec)), spec.Records, 100)
}

// TestWhatAnOperationSees takes the definition word by word: operation i sees
// the inserts with an index below i - v. One record is loaded and every second
// operation inserts, so under `latest` each insert soon shows that it is seen.
func TestWhatAnOperationSees(t *testing.T) {
	for _, v := range []uint64{1, 2, 10, 1000} {
		spec := mixSpec(t, "requestdistribution=latest", "zipfian.theta=2", "insertproportion=1", "recordcount=1",
			"operationcount=50000", fmt.Sprintf("insert.visibility=%dms", v))
		ops := write(t, mustGenerator(t, spec)).all(t, "run")
		index := map[uint64]uint64{} // of the insert of a key
		youngest := uint64(len(ops))
		for i, op := range ops {
			if op.Kind == traces.Insert {
				index[op.Key] = uint64(i)
			} else if op.Key > 0 {
				youngest = min(youngest, uint64(i)-index[op.Key])
			}
		}
		if youngest != v+1 {
			t.Errorf("v = %d: the youngest insert that is read is %d operations old, want %d", v, youngest, v+1)
		}
	}
}

// TestExpectedInserts pins the numbers that the ranges of the laws depend on.
func TestExpectedInserts(t *testing.T) {
	for _, c := range []struct {
		properties []string
		stated     uint64
		expected   uint64
		modulus    uint64
	}{
		{nil, 1000, 0, 1001},
		{[]string{"insertproportion=0.05", "readproportion=0.95"}, 1000, 50, 1101},
		// YCSB takes the weight for the share.
		{[]string{"insertproportion=0.05"}, 1000, 47, 1101},
		{[]string{"insertproportion=1", "readproportion=1"}, 1000, 500, 3001},
		{[]string{"insertproportion=3", "readproportion=9"}, 1000, 250, 7001},
		// In doubles 100·0.57 is less than 57, and 2·100·0.57 is cut to 113.
		{[]string{"insertproportion=0.57", "readproportion=0.43", "operationcount=100"}, 100, 57, 1114},
		{[]string{"insertproportion=0.29", "readproportion=0.71", "operationcount=100"}, 100, 29, 1058},
		{[]string{"insertproportion=0.05", "readproportion=0.95", "operationcount=1"}, 1, 0, 1001},
		// No number of operations: the rate times the duration, rounded.
		{[]string{"insertproportion=0.5", "readproportion=0.5", "operationcount=0", "maxexecutiontime=2"}, 2000, 1000, 3001},
		{[]string{"insertproportion=0.5", "readproportion=0.5", "operationcount=0", "maxexecutiontime=1.0005"}, 1001, 500, 2002},
		{[]string{"insertproportion=0.5", "readproportion=0.5", "operationcount=0", "maxexecutiontime=1.0004999"}, 1000, 500, 2001},
		// Both: YCSB reckons with the number, whatever ends the phase.
		{[]string{"insertproportion=0.5", "readproportion=0.5", "maxexecutiontime=0.1"}, 1000, 50, 2001},
		{[]string{"insertproportion=0.5", "readproportion=0.5", "maxexecutiontime=9"}, 1000, 500, 2001},
		{[]string{"insertproportion=0.5", "readproportion=0.5", "recordcount=5000000000", "operationcount=10000000000"},
			10_000_000_000, 5_000_000_000, 15_000_000_001},
	} {
		for _, arrivals := range []string{"constant", "poisson"} {
			g := mustGenerator(t, mixSpec(t, append(c.properties, "requestdistribution=zipfian", "arrivals="+arrivals)...))
			if g.statedOps() != c.stated || g.expectedInserts() != c.expected || g.modulus() != c.modulus {
				t.Errorf("%v, %s: %d operations, %d inserts, modulus %d; want %d, %d, %d", c.properties, arrivals,
					g.statedOps(), g.expectedInserts(), g.modulus(), c.stated, c.expected, c.modulus)
			}
		}
	}
}

// TestWeightsMayBeAbsurd takes the modulus of a weight far above 1.
func TestWeightsMayBeAbsurd(t *testing.T) {
	spec := mixSpec(t, "requestdistribution=zipfian", "insertproportion=1000000000000", "operationcount=1000")
	if want := uint64(2_000_000_000_001_001); mustGenerator(t, spec).modulus() != want {
		t.Errorf("modulus %d, want %d", mustGenerator(t, spec).modulus(), want)
	}
	spec.Weights[traces.Insert] = big.NewRat(1, 1)
	if want := uint64(3001); mustGenerator(t, spec).modulus() != want {
		t.Errorf("modulus %d, want %d", mustGenerator(t, spec).modulus(), want)
	}
}
