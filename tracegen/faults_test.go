package tracegen

import (
	"fmt"
	"slices"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/traces"
)

// What other tools got wrong and no test of a law or a phase shows.

// TestNoTwoKeysAlike builds the keys of 10^7 hashed numbers: none comes twice,
// and their first digits are as spread as those of random numbers.
func TestNoTwoKeysAlike(t *testing.T) {
	const n = 10_000_000
	keys := mixSpec(t, "zeropadding=20").Keys
	numbers := make([]uint64, n)
	var key []byte
	for i := range numbers {
		key = keys.Append(key[:0], uint64(i))
		x := uint64(0)
		for _, digit := range key[len("user"):] {
			x = 10*x + uint64(digit-'0')
		}
		numbers[i] = x
	}
	// Neighbours are apart: the numbers of one block of 256 fill the range evenly.
	top := make([]uint64, 128) // the hash is an absolute value, below 2^63
	for _, x := range numbers[:256*1000] {
		top[x>>56]++
	}
	if stat, df, p := chisquare.Fit(top, equalShares(128)); p < chisquare.MinP {
		t.Errorf("first bytes of hashes: chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
	slices.Sort(numbers)
	for i := 1; i < n; i++ {
		if numbers[i] == numbers[i-1] {
			t.Fatalf("two numbers have the hash %d", numbers[i])
		}
	}
}

// TestTenMillionInsertsOutstanding lets nothing be seen for 2^24 operations,
// nearly all of them inserts.
func TestTenMillionInsertsOutstanding(t *testing.T) {
	const v = 1 << 24
	spec := mixSpec(t, "requestdistribution=latest", "insertproportion=0.999", "readproportion=0.001", "target=1000000000",
		"insert.visibility=1h", "operationcount=17500000")
	m := newMaker(runOf(t, spec))
	for {
		b, err := m.next()
		if err != nil {
			t.Fatal(err)
		}
		if b.Len() == 0 {
			break
		}
		for j, kind := range b.Kinds {
			i, n := b.PhaseFirst+uint64(j), b.VisibleRecords+uint64(b.Seen[j])
			if i <= v && n != spec.Records || i > v+100 && n == spec.Records {
				t.Fatalf("op %d sees %d records", i, n)
			}
			if kind != traces.Insert && b.Keys[j] >= n {
				t.Fatalf("op %d reads key %d of %d visible", i, b.Keys[j], n)
			}
		}
	}
	if inserts := m.at.inserts; inserts < 17_000_000 {
		t.Errorf("%d inserts", inserts)
	}
}

// TestHalvesBeyond32Bits reads a slice that lies on both sides of 2^32, and a
// load of which the numbers need 33 bits.
func TestHalvesBeyond32Bits(t *testing.T) {
	const first, records = 3_000_000_000, 5_000_000_000
	spec := readySpec(t, "workloada", "recordcount=5000000000", "operationcount=60000")
	sliced(spec, first, first+records)
	lawsOf(spec, func(name string) {
		b := newMaker(runOf(t, spec)).mustNext(t)
		low, high := 0, 0
		for _, key := range b.Keys {
			switch {
			case key < first || key >= first+records:
				t.Fatalf("%s: key %d", name, key)
			case key < 1<<32:
				low++
			default:
				high++
			}
		}
		if low == 0 || (high == 0) != (spec.KeyLaw == Sequential) {
			t.Errorf("%s: %d keys below 2^32, %d from there on", name, low, high)
		}
	})
	load := newMaker(mustGenerator(t, spec).phases[0])
	load.k = records/traces.BlockOps - 1
	if b := load.mustNext(t); b.Keys[0] != first+b.PhaseFirst || b.PhaseFirst < 1<<32 {
		t.Errorf("a block of the load begins with key %d", b.Keys[0])
	}
}

// TestAnyThetaStartsAtOnce makes laws of 10^11 records, which takes YCSB minutes.
func TestAnyThetaStartsAtOnce(t *testing.T) {
	for _, theta := range []string{"0.000000001", "0.01", "0.5", "0.99", "1", "1.0000001", "1.5", "2"} {
		for _, law := range []string{"latest", "zipfian"} {
			for _, span := range []string{"ycsb", "exact"} {
				spec := mixSpec(t, "requestdistribution="+law, "zipfian.range="+span, "zipfian.theta="+theta,
					"recordcount=100000000000", "insertproportion=1", "operationcount=100000000000")
				if n := newMaker(runOf(t, spec)).mustNext(t).Len(); n != traces.BlockOps {
					t.Errorf("%s", fmt.Sprint(law, span, theta))
				}
			}
		}
	}
}
