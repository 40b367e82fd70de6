package tracegen

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
	"pianola/traces"
)

// sighted are the keys of a trace's run: how often each number was chosen by
// key and by age (0 is the newest visible record), how many records the choices
// saw, and how many of them took the newest.
type sighted struct {
	keys, ages   []uint64
	seen, newest sightings
}

// choicesOf reads the choices of a trace. v is the visibility in operations.
func choicesOf(t *testing.T, f generated, records, v uint64) *sighted {
	t.Helper()
	c := &sighted{}
	var inserts []bool
	visible := records
	f.ops(t, "run", func(i uint64, op *traces.Op) {
		if i > v && inserts[i-v-1] {
			visible++
		}
		inserts = append(inserts, op.Kind == traces.Insert)
		if op.Kind == traces.Insert {
			return
		}
		if op.Key >= visible {
			t.Fatalf("op %d reads key %d where %d are visible", i, op.Key, visible)
		}
		for uint64(len(c.keys)) < visible {
			c.keys, c.ages = append(c.keys, 0), append(c.ages, 0)
		}
		c.keys[op.Key]++
		c.ages[visible-1-op.Key]++
		c.seen.add(visible)
		if op.Key == visible-1 {
			c.newest.add(visible)
		}
	})
	return c
}

// weights are what draws of a law are proportional to: by key number, or by age
// for `latest`. items is the size of the law's range, where it has one.
func (c *sighted) weights(spec *Spec, items uint64) []float64 {
	n := uint64(len(c.keys))
	var out []float64
	switch spec.KeyLaw {
	case Latest:
		out = zipfWeights(n, spec.Theta)
	case ZipfianExact:
		out = scrambledWeights(items, spec.Theta, spec.Seed)
	case ZipfianYCSB:
		below := grayBelow
		if spec.Theta != 0.99 {
			below = foldedZipf(spec.Theta)
		}
		out = foldedWeights(items, 1<<20, below)
	default:
		out = equalWeights(spec.Records)
	}
	return append(out, make([]float64, n)...) // keys beyond the range are never drawn
}

// TestKeyLaws compares the keys of whole traces with the formula of their law.
func TestKeyLaws(t *testing.T) {
	const exact = "zipfian.range=exact"
	for _, c := range []struct {
		law        string
		items      uint64
		properties []string
	}{
		{"uniform", 0, nil},
		{"uniform", 0, []string{"insertproportion=0.5"}}, // of the records loaded alone
		{"latest", 0, nil},
		{"latest", 0, []string{"insertproportion=1", "recordcount=3", "insert.visibility=0s"}},
		{"latest", 0, []string{"insertproportion=0.05", "arrivals=poisson"}},
		{"latest", 0, []string{"insertproportion=0.05", "zipfian.theta=2"}},
		{"latest", 0, []string{"insertproportion=0.05", "zipfian.theta=0.01"}},
		{"zipfian", 1000, []string{exact}},
		{"zipfian", 100_000, []string{exact, "recordcount=100000", "zipfian.theta=1"}},
		{"zipfian", 1_000_000, []string{exact, "recordcount=1000000"}},
		{"zipfian", 1000, []string{exact, "zipfian.theta=2"}},
		{"zipfian", 1000, []string{exact, "zipfian.theta=0.01"}},
		// 300,000 · 0.05/1.05 inserts are expected,
		{"zipfian", 1000 + 14_285, []string{exact, "insertproportion=0.05"}},
		// and the first 100 s are a third of them.
		{"zipfian", 1000 + 4761, []string{exact, "insertproportion=0.05", "maxexecutiontime=100"}},
		{"zipfian", 1001, nil},
		{"zipfian", 1001, []string{"zipfian.theta=2"}},
		{"zipfian", 1001, []string{"zipfian.theta=0.01"}},
		// YCSB reckons with 2 · 300,000 · 0.05.
		{"zipfian", 1000 + 30_000 + 1, []string{"insertproportion=0.05"}},
		{"zipfian", 1000 + 30_000 + 1, []string{"insertproportion=0.05", "zipfian.theta=1.2", "insert.visibility=5s"}},
	} {
		properties := append([]string{"operationcount=300000", "requestdistribution=" + c.law}, c.properties...)
		spec := mixSpec(t, properties...)
		v := max(uint64(spec.Visibility.Milliseconds()), 1) // at 1000 op/s
		got := choicesOf(t, write(t, mustGenerator(t, spec)), spec.Records, v)
		counts := got.keys
		if spec.KeyLaw == Latest {
			counts = got.ages
		}
		stat, df, p := chisquare.Fit(counts, got.seen.shares(got.weights(spec, c.items)))
		if p < chisquare.MinP {
			t.Errorf("%v: chi-square %.1f on %d, p = %.3g", properties, stat, df, p)
		}
		t.Logf("%v: chi-square %.1f on %d, p = %.3g", properties, stat, df, p)
	}
}

// TestFoldedKeysAgainstYCSB compares the keys of a trace with those that YCSB
// read. The difference of two shares has the standard error
// sqrt(p(1-p)·(1/ours + 1/theirs)); 5 of those are allowed, for each of 20 keys.
func TestFoldedKeysAgainstYCSB(t *testing.T) {
	const ours, theirs = 1_000_000, 5_000_000
	spec := readySpec(t, "workloadc", "operationcount=1000000")
	counts := choicesOf(t, write(t, mustGenerator(t, spec)), spec.Records, 100).keys
	for _, row := range goldenRows(t, "zipfian_1000_hottest.tsv") { // place, key, share, count of each run
		key, got, want := number(t, row[1]), counts[number(t, row[1])], sum(t, row[3:])
		p := float64(got+want) / (ours + theirs)
		z := (float64(got)/ours - float64(want)/theirs) / math.Sqrt(p*(1-p)*(1./ours+1./theirs))
		if math.Abs(z) > 5 {
			t.Errorf("key %d: %d of %d draws, YCSB has %d of %d: %.1f standard errors apart", key, got, ours, want, theirs, z)
		}
	}
	var a, b []uint64
	for _, row := range goldenRows(t, "zipfian_1000_twentieths.tsv") { // from, to, share, count of each run
		n := uint64(0)
		for _, c := range counts[number(t, row[0]) : number(t, row[1])+1] {
			n += c
		}
		a, b = append(a, n), append(b, sum(t, row[3:]))
	}
	if stat, df, p := chisquare.TwoSamples(a, b); p < chisquare.MinP {
		t.Errorf("twentieths: chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
}

func number(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func sum(t *testing.T, cells []string) (total uint64) {
	t.Helper()
	for _, cell := range cells {
		total += number(t, cell)
	}
	return total
}

// TestHotKeysAreYCSBs sorts the keys of traces by how often they are drawn. The
// first ones are those that YCSB folds the ranks 0, 1, 2, … to. By the formula
// neighbours in these lists are 4 standard errors apart or more.
func TestHotKeysAreYCSBs(t *testing.T) {
	for _, c := range []struct {
		properties []string
		hottest    []uint64
	}{
		{[]string{"operationcount=1000000"}, []uint64{144, 610, 213, 679, 10, 545, 942, 476, 436, 902}},
		// YCSB has the modulus 1101 for 1000 operations with 5 % inserts.
		{[]string{"operationcount=1000000", "insertproportion=0.00005"}, []uint64{903, 403, 802, 302, 660, 59, 761, 160, 62, 663}},
		{[]string{"operationcount=1000000", "recordcount=1000000"}, []uint64{801320, 216074, 971811, 386565, 464295, 49540}},
	} {
		spec := mixSpec(t, append(c.properties, "requestdistribution=zipfian")...)
		counts := choicesOf(t, write(t, mustGenerator(t, spec)), spec.Records, 100).keys
		order := make([]uint64, len(counts))
		for key := range order {
			order[key] = uint64(key)
		}
		slices.SortFunc(order, func(a, b uint64) int { return cmp.Compare(counts[b], counts[a]) })
		if got := order[:len(c.hottest)]; !slices.Equal(got, c.hottest) {
			t.Errorf("%v: the hottest keys are %v, want %v", c.properties, got, c.hottest)
		}
	}
}

// TestLatestReachesTheEnds looks for the oldest key, which YCSB never draws, and
// for the newest of each moment. The newest of n records has a share of
// 1/Σ k^-0.99 over n, above 1/9 here: it is missed by 300 draws once in 10^15.
func TestLatestReachesTheEnds(t *testing.T) {
	spec := mixSpec(t, "requestdistribution=latest", "insertproportion=0.002", "operationcount=400000", "recordcount=10")
	c := choicesOf(t, write(t, mustGenerator(t, spec)), spec.Records, 100)
	if c.keys[0] == 0 {
		t.Error("key 0 is never drawn")
	}
	moments := 0
	for n, draws := range c.seen {
		if draws >= 300 {
			moments++
			if n >= len(c.newest) || c.newest[n] == 0 {
				t.Errorf("of %d records the newest is not among %d draws", n, draws)
			}
		}
	}
	if moments < 100 {
		t.Errorf("%d moments of 300 draws, want at least 100", moments)
	}
	// The law itself, at every size that a phase may grow to.
	law := mustGenerator(t, spec).phases[1].law.(*latestLaw)
	for n := uint64(10); n <= 3000; n++ {
		src := random.NewStream(1, "test").At(n)
		if !slices.ContainsFunc(make([]bool, 500), func(bool) bool {
			_, record := law.draw(&src, n)
			return record == n-1
		}) {
			t.Errorf("500 draws of %d records miss the newest", n)
		}
	}
}

// stubborn is a law that draws what can't be chosen for its first draws.
type stubborn struct{ misses, draws int }

func (s *stubborn) draw(_ *random.Source, n uint64) (rank, record uint64) {
	if s.draws++; s.draws <= s.misses {
		return 7, n
	}
	return 3, n - 1
}

func (s *stubborn) rankOf(record uint64) uint64 { return record + 100 }
func (s *stubborn) reach() uint64               { return everyRecord }

// TestRedraw bounds the draws for a record.
func TestRedraw(t *testing.T) {
	c := choices{
		stream: random.NewStream(1, "test"), kinds: []traces.Kind{traces.Read}, keys: make([]uint64, 1), ranks: make([]uint64, 1), visible: 10,
	}
	for _, m := range []struct{ misses, draws int }{{0, 1}, {1, 2}, {redrawMax - 1, redrawMax}, {redrawMax, redrawMax}, {1 << 30, redrawMax}} {
		law := stubborn{misses: m.misses}
		c.drawAll(&law, 0, 1)
		rank, key := c.ranks[0], c.keys[0]
		if law.draws != m.draws || key >= 10 || m.misses < redrawMax && (key != 9 || rank != 3) || m.misses >= redrawMax && rank != key+100 {
			t.Errorf("%d misses: key %d of rank %d after %d draws, want %d", m.misses, key, rank, law.draws, m.draws)
		}
	}
	counts := make([]uint64, 10)
	for i := range uint64(10_000) {
		src := c.stream.At(i)
		counts[c.living(0, &src, everyRecord)]++
	}
	if stat, df, p := chisquare.Fit(counts, equalShares(10)); p < chisquare.MinP {
		t.Errorf("records of a law that gives none: chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
}
