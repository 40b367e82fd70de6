package main

import (
	"math/rand/v2"
	"testing"

	"pianola/traces"
)

func readsOf(keys ...uint64) *traces.Block {
	b := &traces.Block{}
	for _, k := range keys {
		b.Kinds, b.Keys = append(b.Kinds, traces.Read), append(b.Keys, k)
	}
	return b
}

func TestSkewIsExactForFewKeys(t *testing.T) {
	var s skew
	b := readsOf(1, 1, 1, 2, 2, 3, 4, 5)
	b.Kinds, b.Keys = append(b.Kinds, traces.Insert, traces.Delete), append(b.Keys, 9, 1)
	s.add(b)
	shares, exact := s.shares(100)
	want := []hotShare{{"hottest key", 3. / 8}, {"hottest 10", 1}, {"hottest 100", 1}, {"hottest 1 % of the records", 3. / 8}}
	if !exact || len(shares) != len(want) {
		t.Fatalf("exact %v: %v", exact, shares)
	}
	for i := range want {
		if shares[i] != want[i] {
			t.Errorf("%+v, want %+v", shares[i], want[i])
		}
	}
}

// With more keys than are kept the counts are too low, by no more than is said.
func TestSkewKeepsTheHotKeys(t *testing.T) {
	var s skew
	r := rand.New(rand.NewPCG(1, 2))
	const ops = 1 << 21
	for range ops / 1024 {
		keys := make([]uint64, 1024)
		for i := range keys {
			keys[i] = 1000 + r.Uint64N(1<<40)
			if r.IntN(10) == 0 {
				keys[i] = r.Uint64N(10)
			}
		}
		s.add(readsOf(keys...))
	}
	if len(s.counts) > 2*skewKept {
		t.Fatalf("%d keys are counted", len(s.counts))
	}
	shares, exact := s.shares(1 << 40)
	if exact || shares[1].Share < 0.099 || shares[1].Share > 0.1005 || shares[0].Share < 0.009 || shares[0].Share > 0.0105 {
		t.Errorf("exact %v: %v, missed %d of %d", exact, shares, s.missed, s.total)
	}
}

// A constant rate is drawn as one: no column has more than the width of a cut
// makes it.
func TestRateChartOfAConstantRateIsFlat(t *testing.T) {
	for _, gap := range []uint64{1, 7, 10_000, 1_000_000} {
		const ops = 200_000
		c := new(rateChart)
		b := &traces.Block{}
		for i := range uint64(ops) {
			b.Due = append(b.Due, i*gap)
		}
		c.add(b)
		sum := 0.0
		for i, n := range c.columns() {
			if want := float64(ops) / chartColumns; n < want-2 || n > want+2 {
				t.Errorf("gap %d: column %d has %.2f operations, want %.2f", gap, i, n, want)
			}
			sum += n
		}
		if sum < ops-1e-3 || sum > ops+1e-3 {
			t.Errorf("gap %d: %.4f operations in all, want %d", gap, sum, ops)
		}
	}
}

// Blocks spread over their time draw what their operations do, as far as blocks
// go.
func TestSpreadBlocksDrawTheSameRate(t *testing.T) {
	var each, spread rateChart
	due := uint64(0)
	for i := range uint64(600) { // slower and slower
		b, from := &traces.Block{}, due
		for range 1000 {
			b.Due = append(b.Due, due)
			due += 1000 + 5*i
		}
		each.add(b)
		spread.spread(from, due, 1000)
	}
	got, want := spread.columns(), each.columns()
	sum := 0.0
	for i := range got {
		if d := got[i] - want[i]; d < -0.01*want[i] || d > 0.01*want[i] {
			t.Errorf("column %d: %.1f, want %.1f", i, got[i], want[i])
		}
		sum += got[i]
	}
	if sum < 600_000-1e-3 || sum > 600_000+1e-3 {
		t.Errorf("%.4f operations in all, want 600,000", sum)
	}
}

func TestRateChart(t *testing.T) {
	c := new(rateChart)
	b := &traces.Block{}
	for due := range uint64(60_000) {
		if due < 30_000 || due%2 == 1 {
			b.Due = append(b.Due, due)
		}
	}
	c.add(b)
	want := []string{
		"rate over time, a column for 1s, full at 1000 op/s",
		"|██████████████████████████████▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄|",
	}
	for i, got := range c.lines(1_000_000) {
		if got != want[i] {
			t.Errorf("%s\nwant\n%s", got, want[i])
		}
	}
}
