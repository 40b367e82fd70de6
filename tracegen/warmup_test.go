package tracegen

import (
	"testing"
	"time"

	"pianola/traces"
)

// TestWarmup looks at the phases of traces with a warmup, ended by operations
// or by time.
func TestWarmup(t *testing.T) {
	for _, arrivals := range []string{"constant", "poisson"} {
		for _, c := range []struct {
			ops      uint64
			duration time.Duration
		}{{500, 0}, {70_000, 0}, {0, 2500 * time.Millisecond}, {1, 0}, {2000, time.Second}, {300, time.Second}} {
			spec := mixSpec(t, "requestdistribution=latest", "insertproportion=0.1", "operationcount=3000", "arrivals="+arrivals)
			spec.WarmupOps, spec.WarmupDuration = c.ops, c.duration
			g := mustGenerator(t, spec)
			h := g.Header()
			if len(h.Phases) != 3 || h.Phases[1].Name != "warmup" || h.Phases[2].Name != "run" {
				t.Fatalf("phases %+v", h.Phases)
			}
			if w, r := h.Phases[1], h.Phases[2]; !w.Paced || w.Rate != r.Rate || w.KeyLaw != r.KeyLaw || w.VisibilityOps != r.VisibilityOps {
				t.Errorf("warmup %+v, run %+v", w, r)
			}
			f := write(t, g)
			warmup, run := f.all(t, "warmup"), f.all(t, "run")
			if len(run) != 3000 {
				t.Errorf("%d operations of phase run, want 3000: those of warmup are on top", len(run))
			}
			last := warmup[len(warmup)-1].Due * uint64(h.Tick)
			switch {
			case c.duration > 0 && last >= uint64(c.duration), c.ops > 0 && uint64(len(warmup)) > c.ops,
				c.duration == 0 && uint64(len(warmup)) != c.ops,
				arrivals == "constant" && c.duration > 0 && c.ops == 0 && len(warmup) != int(c.duration/time.Millisecond):
				t.Errorf("%s, %d operations or %v: %d, the last due at %v", arrivals, c.ops, c.duration, len(warmup), time.Duration(last))
			}
			checkWarmup(t, warmup, run, spec.Records)
		}
	}
}

// checkWarmup follows the inserts of both phases: the run sees all of warmup's
// at once, and goes on with the key numbers.
func checkWarmup(t *testing.T, warmup, run []traces.Op, records uint64) {
	t.Helper()
	next := records
	for _, op := range warmup {
		if op.Kind == traces.Insert {
			if op.Key != next {
				t.Fatalf("warmup inserts key %d, want %d", op.Key, next)
			}
			next++
		}
	}
	sees := next
	newest := uint64(0)
	inserts := []bool{}
	for i, op := range run {
		inserts = append(inserts, op.Kind == traces.Insert)
		if i > 100 && inserts[i-101] {
			sees++
		}
		if op.Kind == traces.Insert {
			if op.Key != next {
				t.Fatalf("run inserts key %d, want %d", op.Key, next)
			}
			next++
			continue
		}
		if op.Key >= sees {
			t.Fatalf("op %d of the run reads key %d of %d visible", i, op.Key, sees)
		}
		if i <= 100 {
			newest = max(newest, op.Key)
		}
	}
	// Each draw takes the newest record with a share of 1/8 or so.
	if len(run) > 100 && newest != sees-uint64(countTrue(inserts[:len(inserts)-101]))-1 {
		t.Errorf("the first 100 operations of the run choose key %d at most, of %d visible", newest, sees)
	}
}

func countTrue(of []bool) (n int) {
	for _, b := range of {
		if b {
			n++
		}
	}
	return n
}

// TestWarmupShiftsNothing compares runs with and without a warmup that inserts
// nothing: they are the same, and the warmup is no copy of either.
func TestWarmupShiftsNothing(t *testing.T) {
	for _, arrivals := range []string{"constant", "poisson"} {
		spec := mixSpec(t, "updateproportion=1", "operationcount=80000", "arrivals="+arrivals)
		lawsOf(spec, func(name string) {
			spec.WarmupOps = 0
			plain := write(t, mustGenerator(t, spec)).all(t, "run")
			spec.WarmupOps = 80_000
			f := write(t, mustGenerator(t, spec))
			warmup, run := f.all(t, "warmup"), f.all(t, "run")
			same := 0
			for i, op := range run {
				op.Index, op.Phase = plain[i].Index, plain[i].Phase
				if op != plain[i] {
					t.Fatalf("%s: op %d of the run is %+v, without a warmup %+v", name, i, op, plain[i])
				}
				if warmup[i].Kind == op.Kind {
					same++
				}
			}
			if same < 39_000 || same > 41_000 {
				t.Errorf("%s: %d of 80000 operations of the warmup are of the kind of the run's", name, same)
			}
		})
	}
}

// TestHotRecordsStayHot finds the same hottest key in both phases.
func TestHotRecordsStayHot(t *testing.T) {
	for _, law := range []KeyLaw{ZipfianExact, ZipfianYCSB} {
		spec := mixSpec(t, "operationcount=20000", "insertproportion=0.01")
		spec.KeyLaw, spec.WarmupOps = law, 20_000
		f := write(t, mustGenerator(t, spec))
		var hottest [2]uint64
		for i, phase := range []string{"warmup", "run"} {
			counts := map[uint64]int{}
			f.ops(t, phase, func(_ uint64, op *traces.Op) {
				if counts[op.Key]++; counts[op.Key] > counts[hottest[i]] {
					hottest[i] = op.Key
				}
			})
		}
		if hottest[0] != hottest[1] {
			t.Errorf("%s: key %d is the hottest of the warmup, %d that of the run", law, hottest[0], hottest[1])
		}
	}
}

// TestEmptyWarmup is over before its first operation.
func TestEmptyWarmup(t *testing.T) {
	spec := mixSpec(t, "arrivals=poisson", "target=2.5")
	spec.WarmupDuration = time.Microsecond
	const want = "generate phase warmup: no operation is due within its duration of 1µs: at 2.5 op/s and seed 1 the first one is due later"
	if _, err := NewGenerator(spec, "test"); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
