package dist

import (
	"math"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/tracegen/random"
)

// TestFoldGolden holds key numbers that YCSB 0.17.0 made of ranks.
func TestFoldGolden(t *testing.T) {
	fold := mustFold(t, 1001)
	for _, row := range golden(t, "rank_to_key.tsv") {
		if got := fold.Key(uint64(row[0])); got != uint64(row[1]) {
			t.Errorf("modulus 1001: rank %v goes to %d, want %v", row[0], got, row[1])
		}
	}
	for modulus, keys := range map[uint64][]uint64{
		1001:    {144, 610, 213, 679, 10, 545, 942, 476, 436, 902, 505, 971},
		1101:    {903, 403, 802, 302, 660, 59, 761, 160, 62, 663, 1062, 562},
		1000001: {801320, 216074, 971811, 386565, 464295, 49540},
	} {
		fold := mustFold(t, modulus)
		for rank, want := range keys {
			if got := fold.Key(uint64(rank)); got != want {
				t.Errorf("modulus %d: rank %d goes to %d, want %d", modulus, rank, got, want)
			}
		}
	}
}

// foldedCounts draws key numbers as YCSB's zipfian does with 1000 records: the
// modulus is 1001, and what falls on 1000 is drawn again.
func foldedCounts(t *testing.T, draws int) []uint64 {
	law, fold := NewYCSBZipf(), mustFold(t, 1001)
	src := random.NewStream(1, "folded").At(0)
	counts := make([]uint64, 1000)
	for range draws {
		key := fold.Key(law.Sample(&src))
		for key > 999 {
			key = fold.Key(law.Sample(&src))
		}
		counts[key]++
	}
	return counts
}

// TestFoldedLawAgainstYCSB compares as many draws of ours with the five runs of
// YCSB. For a single key the difference of the two shares has the standard error
// sqrt(2·p(1-p)/5e6); 5 of those are allowed, for each of 20 keys.
func TestFoldedLawAgainstYCSB(t *testing.T) {
	counts := foldedCounts(t, goldenReads)
	for _, s := range goldenShares(t, "zipfian_1000_hottest.tsv") {
		got := counts[s.from]
		p := float64(got+s.count) / (2 * goldenReads)
		z := (float64(got) - float64(s.count)) / goldenReads / math.Sqrt(2*p*(1-p)/goldenReads)
		if math.Abs(z) > 5 {
			t.Errorf("key %d: %d draws, YCSB has %d: %.1f standard errors apart", s.from, got, s.count, z)
		}
	}
	var ours, theirs []uint64
	for _, s := range goldenShares(t, "zipfian_1000_twentieths.tsv") {
		ours, theirs = append(ours, s.sum(counts)), append(theirs, s.count)
	}
	stat, df, p := chisquare.TwoSamples(ours, theirs)
	if p < chisquare.MinP {
		t.Errorf("twentieths: chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
	t.Logf("twentieths: chi-square %.1f on %d, p = %.3g", stat, df, p)
}

// TestUniformAgainstYCSB compares random.Source.Below with the lengths of YCSB's
// uniform scans.
func TestUniformAgainstYCSB(t *testing.T) {
	src := random.NewStream(1, "uniform").At(0)
	ours, theirs := make([]uint64, 100), make([]uint64, 100)
	for _, row := range golden(t, "scanlength_uniform_100.tsv") {
		theirs[int(row[0])-1] = uint64(row[1])
	}
	for range 1_000_000 {
		ours[src.Below(100)]++
	}
	if stat, df, p := chisquare.TwoSamples(ours, theirs); p < chisquare.MinP {
		t.Errorf("chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
}

// TestLatestAgainstYCSB compares the exact law over the ages of 1000 records
// with YCSB's `latest`, which is the formula of Gray et al. over 999 items: ages
// 0..998, so that key 0 never comes. The two laws are closed, so it is known by
// how much each share must differ; what is left must be within 5 standard errors
// of the difference of two shares.
func TestLatestAgainstYCSB(t *testing.T) {
	const records = 1000
	g := newGray(records-1, zeta(records-1, YCSBTheta), YCSBTheta)
	exact, theirs := make([]float64, records), make([]float64, records) // by key
	for age := range records {
		exact[records-1-age] = zipfMass(uint64(age+1), uint64(age+1), YCSBTheta) / zipfMass(1, records, YCSBTheta)
		theirs[records-1-age] = g.below(float64(age+1)) - g.below(float64(age))
	}
	law, err := NewGrowing(records, records, YCSBTheta)
	if err != nil {
		t.Fatal(err)
	}
	src := random.NewStream(1, "latest").At(0)
	counts := make([]uint64, records)
	for range goldenReads {
		counts[records-1-law.Sample(&src, records)]++
	}
	if counts[0] == 0 || theirs[0] != 0 {
		t.Errorf("key 0: drawn %d times, its share in YCSB is %v", counts[0], theirs[0])
	}
	total := func(shares []float64, s share) (sum float64) {
		for _, p := range shares[s.from : s.to+1] {
			sum += p
		}
		return sum
	}
	for _, table := range []string{"latest_1000_hottest.tsv", "latest_1000_twentieths.tsv"} {
		for _, s := range goldenShares(t, table) {
			a, b := total(exact, s), total(theirs, s)
			got := (float64(s.sum(counts)) - float64(s.count)) / goldenReads
			z := (got - (a - b)) / math.Sqrt((a*(1-a)+b*(1-b))/goldenReads)
			if math.Abs(z) > 5 {
				t.Errorf("%s: keys %d to %d: shares differ by %.6f, by the formulas %.6f: %.1f standard errors off",
					table, s.from, s.to, got, a-b, z)
			}
		}
	}
	var measured []uint64
	var shares []float64
	for _, s := range goldenShares(t, "latest_1000_twentieths.tsv") {
		measured, shares = append(measured, s.count), append(shares, total(theirs, s))
	}
	if stat, df, p := chisquare.Fit(measured, shares); p < chisquare.MinP {
		t.Errorf("YCSB's draws against its formula: chi-square %.1f on %d, p = %.3g", stat, df, p)
	}
}
