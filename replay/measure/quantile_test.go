package measure

import (
	"math"
	"math/big"
	"testing"
	"time"
)

// kindOf returns a kind whose completed ops took 1 µs, 2 µs … completed µs.
func kindOf(completed int, c Counts) *Kind {
	c.Completed = uint64(completed)
	c.Offered = c.Decided()
	return &Kind{Kind: "READ", Counts: c, Response: record(ramp(completed)...)}
}

func TestResponseQuantileRanksOverTheOffered(t *testing.T) {
	mixed := Counts{Failed: 20, Censored: 10, Dropped: 5, Unsent: 5}
	for _, c := range []struct {
		name   string
		kind   *Kind
		q      Q
		value  time.Duration
		above  string
		beyond uint64
	}{
		{"all completed, p50", kindOf(1000, Counts{}), P50, 500, "", 500},
		{"all completed, p99.99", kindOf(1000, Counts{}), P9999, 1000, "", 0},
		{"all completed, max", kindOf(1000, Counts{}), Max, 1000, "", 0},
		{"p95 of 1000 with 40 that are not completed", kindOf(960, mixed), P95, 950, "", 50},
		{"the last completed one", kindOf(960, mixed), 960_000_000, 960, "", 40},
		{"one above it", kindOf(960, mixed), 960_000_001, 960, "failed", 39},
		{"the last failed one", kindOf(960, mixed), 980_000_000, 960, "failed", 20},
		{"p99", kindOf(960, mixed), P99, 960, "censored", 10},
		{"among the dropped", kindOf(960, mixed), 995_000_000, 960, "dropped", 5},
		{"p99.9", kindOf(960, mixed), P999, 960, "unsent", 1},
		{"max", kindOf(960, mixed), Max, 960, "unsent", 0},
		{"none completed", kindOf(0, Counts{Censored: 3}), P50, 0, "censored", 1},
		{"one op", kindOf(1, Counts{}), P50, 1, "", 0},
		{"two ops", kindOf(2, Counts{}), P50, 1, "", 1},
		{"three ops", kindOf(3, Counts{}), P50, 2, "", 1},
	} {
		got := c.kind.ResponseQuantile(c.q)
		if got.None || got.Above != c.above || got.Beyond != c.beyond {
			t.Errorf("%s: %+v, want above %q and %d beyond", c.name, got, c.above, c.beyond)
		}
		wantNear(t, c.name, got.Value, c.value*time.Microsecond)
	}
}

func TestQuantileOfNothing(t *testing.T) {
	if got := kindOf(0, Counts{}).ResponseQuantile(P50); got != (Quantile{None: true}) {
		t.Errorf("no op offered: %+v", got)
	}
}

func TestCountsThatDoNotAddUpNameNoNumber(t *testing.T) {
	k := kindOf(1, Counts{})
	k.Counts.Offered = 5
	if got := k.ResponseQuantile(Max); got.Above != "unaccounted" {
		t.Errorf("%+v, want it unaccounted", got)
	}
}

func TestNearestRankIsExact(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 7, 99, 100, 101, 9_999, 10_000, 1e10, 1e10 + 1, math.MaxInt64, math.MaxUint64} {
		for _, q := range []Q{1, P50, P90, P95, P99, P999, P9999, Max - 1, Max} {
			product := new(big.Int).Mul(new(big.Int).SetUint64(uint64(q)), new(big.Int).SetUint64(n))
			product.Add(product, big.NewInt(int64(Max)-1))
			want := product.Div(product, big.NewInt(int64(Max))).Uint64()
			if got := nearestRank(q, n); got != want {
				t.Errorf("rank of quantile %d of %d is %d, want %d", q, n, got, want)
			}
		}
		if got := nearestRank(0, n); got != 1 {
			t.Errorf("rank of quantile 0 of %d is %d, want 1", n, got)
		}
		if got := nearestRank(math.MaxUint64, n); got != n {
			t.Errorf("rank of a quantile above all of %d is %d, want %d", n, got, n)
		}
	}
}

// A stall of 1 s at 1000 op/s within 10 s delays the ops due in it by 1 s
// down to nothing: a tenth of all, spread evenly.
func TestAStallShowsInFull(t *testing.T) {
	k := Kind{Counts: Counts{Offered: 10_000, Completed: 10_000}, Response: NewHistogram()}
	for i := range 10_000 {
		response := time.Duration(0)
		if i >= 4_000 && i < 5_000 {
			response = time.Duration(5_000-i) * time.Millisecond
		}
		k.Response.Record(response)
	}
	for q, want := range map[Q]time.Duration{P90: 0, P95: 500, P99: 900, P999: 990, P9999: 999, Max: 1000} {
		wantNear(t, "quantile", k.ResponseQuantile(q).Value, want*time.Millisecond)
	}
}

func TestTotalIsTheMergeOfTheKinds(t *testing.T) {
	a, b := kindOf(900, Counts{Failed: 1, Censored: 2, Dropped: 3, Unsent: 4, Expected: 5, Raced: 6, Orphaned: 7}), kindOf(100, Counts{Failed: 10})
	p := Phase{Kinds: []Kind{*a, *b}}
	all, err := p.Total()
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{Offered: 1020, Completed: 1000, Failed: 11, Censored: 2, Dropped: 3, Unsent: 4, Expected: 5, Raced: 6, Orphaned: 7}
	if all.Counts != want {
		t.Errorf("counts %+v, want %+v", all.Counts, want)
	}
	if all.Counts.Offered != all.Counts.Decided() {
		t.Errorf("%d offered, %d decided", all.Counts.Offered, all.Counts.Decided())
	}
	both := record(append(ramp(900), ramp(100)...)...)
	if got, want := marshal(t, all.Response), marshal(t, both); got != want {
		t.Errorf("response of all: %s, want %s", got, want)
	}
}
