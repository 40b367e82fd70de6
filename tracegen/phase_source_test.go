package tracegen

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pianola/tracegen/arrival"
	"pianola/tracegen/chisquare"
	"pianola/traces"
	"pianola/traces/payload"
)

// TestLoad reads the keys of loads: every number once, in order, and named as
// YCSB names them.
func TestLoad(t *testing.T) {
	rows := goldenRows(t, "keys.tsv") // n, then a column for each scheme
	for column, scheme := range [][]string{
		{"insertorder=ordered", "zeropadding=1"},
		{"insertorder=ordered", "zeropadding=20"},
		{"insertorder=hashed", "zeropadding=1"},
		{"insertorder=hashed", "zeropadding=20"},
	} {
		spec := readySpec(t, "workloada", append(scheme, "recordcount=70000")...)
		g := mustGenerator(t, spec)
		f := write(t, g)
		count := uint64(0)
		f.ops(t, "load", func(i uint64, op *traces.Op) {
			want := traces.Op{Index: i, Kind: traces.Insert, Key: i}
			if *op != want {
				t.Fatalf("%v: op %+v, want %+v", scheme, *op, want)
			}
			if i < uint64(len(rows)) {
				row := rows[i]
				if key := string(g.Header().Keys.Append(nil, op.Key)); number(t, row[0]) != i || key != row[1+column] {
					t.Errorf("%v: key %d is %s, want %s", scheme, i, key, row[1+column])
				}
			}
			count++
		})
		if count != spec.Records || f.totals.FirstFreeKey != spec.Records {
			t.Errorf("%v: %d operations, the first free key is %d", scheme, count, f.totals.FirstFreeKey)
		}
	}
}

// TestRunInsertsGoOn follows the key numbers of both phases.
func TestRunInsertsGoOn(t *testing.T) {
	for _, properties := range [][]string{
		{"insertproportion=1", "readproportion=0", "operationcount=70000"},
		{"insertproportion=0.3", "requestdistribution=latest", "arrivals=poisson", "operationcount=70000"},
	} {
		spec := mixSpec(t, properties...)
		next := spec.Records
		f := write(t, mustGenerator(t, spec))
		f.ops(t, "run", func(i uint64, op *traces.Op) {
			if op.Index != spec.Records+i {
				t.Fatalf("op %d of the run has index %d", i, op.Index)
			}
			if op.Kind == traces.Insert {
				if op.Key != next || op.Written != traces.AllFields || op.Read != traces.AllFields || op.ScanLength != 0 {
					t.Fatalf("op %d is %+v, want an insert of key %d", i, *op, next)
				}
				next++
			}
		})
		if f.totals.FirstFreeKey != next || next == spec.Records {
			t.Errorf("%v: the first free key is %d, want %d", properties, f.totals.FirstFreeKey, next)
		}
	}
}

// TestScanLengths compares the lengths of E with uniform ones and with those
// that YCSB asked for.
func TestScanLengths(t *testing.T) {
	golden := make([]uint64, 100)
	for _, row := range goldenRows(t, "scanlength_uniform_100.tsv") {
		golden[number(t, row[0])-1] = number(t, row[1])
	}
	for _, c := range []struct {
		properties  []string
		least, most uint32
	}{
		{nil, 1, 100},
		{[]string{"minscanlength=7", "maxscanlength=7"}, 7, 7},
		{[]string{"minscanlength=90", "maxscanlength=110"}, 90, 110},
		{[]string{"minscanlength=2147483646", "maxscanlength=2147483647"}, 1<<31 - 2, 1<<31 - 1},
	} {
		spec := readySpec(t, "workloade", append(c.properties, "operationcount=300000")...)
		counts := make([]uint64, c.most-c.least+1)
		write(t, mustGenerator(t, spec)).ops(t, "run", func(i uint64, op *traces.Op) {
			switch {
			case op.Kind != traces.Scan:
				if op.ScanLength != 0 {
					t.Fatalf("op %d is %+v", i, *op)
				}
			case op.ScanLength < c.least || op.ScanLength > c.most:
				t.Fatalf("op %d scans %d records, want %d to %d", i, op.ScanLength, c.least, c.most)
			default:
				counts[op.ScanLength-c.least]++
			}
		})
		if stat, df, p := chisquare.Fit(counts, equalShares(len(counts))); p < chisquare.MinP {
			t.Errorf("lengths %d to %d: chi-square %.1f on %d, p = %.3g", c.least, c.most, stat, df, p)
		}
		if c.properties == nil {
			if stat, df, p := chisquare.TwoSamples(counts, golden); p < chisquare.MinP {
				t.Errorf("lengths against YCSB's: chi-square %.1f on %d, p = %.3g", stat, df, p)
			}
		}
	}
}

// TestZipfianScanLengths compares lengths with the formula of YCSB and with
// those that it asked for.
func TestZipfianScanLengths(t *testing.T) {
	golden := make([]uint64, 100)
	for _, row := range goldenRows(t, "scanlength_zipfian_100.tsv") {
		golden[number(t, row[0])-1] = number(t, row[1])
	}
	for _, c := range []struct{ least, most uint32 }{{1, 100}, {7, 7}, {7, 8}, {1, 3}, {90, 110}, {1, 5000}, {1 << 20, 1<<31 - 1}} {
		spec := readySpec(t, "workloade", "operationcount=300000")
		spec.ScanLaw, spec.ScanMin, spec.ScanMax = ScanZipfian, c.least, c.most
		g := mustGenerator(t, spec)
		if law := g.Header().Phases[1].ScanLaw; !strings.HasPrefix(law, "zipfian") {
			t.Errorf("the header says %q", law)
		}
		n := uint64(c.most-c.least) + 1
		counts := make([]uint64, min(n, 10_000))
		write(t, g).ops(t, "run", func(i uint64, op *traces.Op) {
			if op.Kind != traces.Scan {
				return
			}
			if op.ScanLength < c.least || op.ScanLength > c.most {
				t.Fatalf("op %d scans %d records, want %d to %d", i, op.ScanLength, c.least, c.most)
			}
			counts[min(uint64(op.ScanLength-c.least), uint64(len(counts))-1)]++
		})
		shares, before, below := make([]float64, len(counts)), 0.0, grayOf(float64(n))
		for i := range shares {
			next := 1.0
			if i+1 < len(shares) {
				next = below(float64(i + 1))
			}
			shares[i] = next - before
			before = next
		}
		if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
			t.Errorf("lengths %d to %d: chi-square %.1f on %d, p = %.3g", c.least, c.most, stat, df, p)
		}
		if c.most == 100 {
			if stat, df, p := chisquare.TwoSamples(counts, golden); p < chisquare.MinP {
				t.Errorf("lengths against YCSB's: chi-square %.1f on %d, p = %.3g", stat, df, p)
			}
		}
	}
}

// grayOf returns the share of the ranks below k when YCSB's formula draws from n.
func grayOf(n float64) func(k float64) float64 {
	const theta = 0.99
	zeta := zipfSum(n, theta)
	eta := (1 - math.Pow(2/n, 1-theta)) / (1 - zipfSum(2, theta)/zeta)
	return func(k float64) float64 {
		switch {
		case k >= n:
			return 1
		case k <= 1:
			return k / zeta
		}
		return 1 - (1-math.Pow(k/n, 1-theta))/eta
	}
}

// TestFields counts which fields are read and written: all, or each one alone
// as often as any other, and the two of a READMODIFYWRITE independently.
func TestFields(t *testing.T) {
	const fields = 10
	mix := []string{"updateproportion=1", "insertproportion=1", "scanproportion=1", "readmodifywriteproportion=1", "operationcount=200000"}
	for _, all := range []struct{ read, write bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		spec := mixSpec(t, mix...)
		spec.ReadAllFields, spec.WriteAllFields = all.read, all.write
		var read, written [traces.KindLimit][fields + 1]uint64
		pairs := make([]uint64, fields*fields)
		write(t, mustGenerator(t, spec)).ops(t, "run", func(i uint64, op *traces.Op) {
			if op.Read > fields || op.Written > fields {
				t.Fatalf("op %d is %+v", i, *op)
			}
			read[op.Kind][op.Read]++
			written[op.Kind][op.Written]++
			if op.Kind == traces.ReadModifyWrite && !all.read && !all.write {
				pairs[(op.Read-1)*fields+op.Written-1]++
			}
		})
		for kind := traces.Read; kind < traces.Delete; kind++ {
			checkFields(t, kind, "read", read[kind][:], !all.read && kind.Reads())
			checkFields(t, kind, "written", written[kind][:], !all.write && kind.Writes() && kind != traces.Insert)
		}
		if !all.read && !all.write {
			if stat, df, p := chisquare.Fit(pairs, equalShares(len(pairs))); p < chisquare.MinP {
				t.Errorf("fields of READMODIFYWRITE: chi-square %.1f on %d, p = %.3g", stat, df, p)
			}
		}
	}
}

// checkFields takes counts of field sets, the first of which is that of all.
func checkFields(t *testing.T, kind traces.Kind, what string, sets []uint64, one bool) {
	t.Helper()
	total := uint64(0)
	for _, n := range sets {
		total += n
	}
	if !one {
		if sets[0] != total {
			t.Errorf("%v: sets %s %v, want all fields only", kind, what, sets)
		}
		return
	}
	stat, df, p := chisquare.Fit(sets[1:], equalShares(len(sets)-1))
	if sets[0] > 0 || p < chisquare.MinP {
		t.Errorf("%v: sets %s %v, chi-square %.1f on %d, p = %.3g", kind, what, sets, stat, df, p)
	}
}

// TestOneOfOneField is the least number of fields to choose from.
func TestOneOfOneField(t *testing.T) {
	spec := readySpec(t, "workloadf", "fieldcount=1", "readallfields=false")
	write(t, mustGenerator(t, spec)).ops(t, "run", func(i uint64, op *traces.Op) {
		if op.Read != traces.OneField(0) || op.Kind.Writes() && op.Written != traces.OneField(0) {
			t.Fatalf("op %d is %+v", i, *op)
		}
	})
	spec = readySpec(t, "workloada", "fieldcount=32768", "operationcount=100000", "readallfields=false")
	most := traces.FieldSet(0)
	write(t, mustGenerator(t, spec)).ops(t, "run", func(_ uint64, op *traces.Op) { most = max(most, op.Read, op.Written) })
	if most > payload.MaxFields || most < payload.MaxFields-100 {
		t.Errorf("the last field chosen is %d of %d", most, payload.MaxFields)
	}
}

// TestCutAddsTheBase holds sums of random gaps against what is due before them,
// where that stays below the last instant and where it doesn't.
func TestCutAddsTheBase(t *testing.T) {
	schedule := runOf(t, readySpec(t, "workloada", "recordcount=10", "operationcount=10", "arrivals=poisson")).schedule
	s := &phaseSource{schedule: schedule, end: arrival.MaxDue, timed: true}
	for _, base := range []uint64{0, 1, 1 << 40, arrival.MaxDue - 9, arrival.MaxDue - 8, arrival.MaxDue} {
		b := &traces.Block{Kinds: make([]traces.Kind, 4), Due: []uint64{0, 3, 7, 8}}
		want := []uint64{}
		for _, due := range b.Due {
			if base+due < s.end {
				want = append(want, base+due)
			}
		}
		if err := s.cut(b, base); err != nil || !slices.Equal(b.Due, want) || b.Len() != len(want) {
			t.Errorf("behind %d: %d operations, due at %v, %v, want %v", base, b.Len(), b.Due, err, want)
		}
	}
}
