package tracegen

import (
	"math"
	"testing"
	"time"

	"pianola/tracegen/arrival"
	"pianola/traces"
)

// TestProfiledDue compares every due time of warmup and run with the plan, which
// both begin anew, and the stated means with the operations there are.
func TestProfiledDue(t *testing.T) {
	for _, c := range []struct {
		arrivals string
		duration string
		ops      string
		want     int
		mean     float64
		warmup   float64 // the mean of the first second
		visible  uint64  // 100 ms at the highest rate
	}{
		{"step:10s@1000,20s@5000", "30", "0", 110_000, 11000. / 3, 1000, 500},
		{"step:1s@0,1s@1000,1s@500", "0", "1500", 1500, 500, 1, 100},
		{"ramp:1000..5000/60s", "60", "0", 180_000, 3000, 1033 + 1./3, 500},
		{"ramp:2000..1000/1s", "2", "0", 2500, 1250, 1500, 200},
		{"sine:1000+-500/60s", "60", "0", 60_000, 1000, 1026, 150},
		{"burst:1000,200ms@10000/1s", "2", "0", 5600, 2800, 2800, 1000},
		{"burst:1000,200ms@10000/1s", "2", "1000", 1000, 1000 / 0.82, 2800, 1000},
	} {
		spec := mixSpec(t, "readproportion=0.5", "insertproportion=0.5", "warmuptime=1", "arrivals="+c.arrivals, "maxexecutiontime="+c.duration, "operationcount="+c.ops)
		if c.arrivals == "step:1s@0,1s@1000,1s@500" { // nothing is due in its first second
			spec.WarmupOps, spec.WarmupDuration = 1, 0
		}
		p, err := arrival.ParseProfile(c.arrivals)
		if err != nil {
			t.Fatal(err)
		}
		g := mustGenerator(t, spec)
		f := write(t, g)
		warmup, run := &g.Header().Phases[1], &g.Header().Phases[2]
		if g.Header().Tick != time.Nanosecond || run.Arrivals != p.String() || run.VisibilityOps != c.visible {
			t.Errorf("%s: tick %v, phase %+v", c.arrivals, g.Header().Tick, run)
		}
		if got := run.Rate.PerSecond(); math.Abs(got-c.mean) > 1e-3*c.mean {
			t.Errorf("%s: stated mean %v, want %v", c.arrivals, got, c.mean)
		}
		if got := warmup.Rate.PerSecond(); math.Abs(got-c.warmup) > 1e-3*c.warmup {
			t.Errorf("%s: stated mean of the warmup %v, want %v", c.arrivals, got, c.warmup)
		}
		for _, phase := range []string{"warmup", "run"} {
			count := 0
			f.ops(t, phase, func(i uint64, op *traces.Op) {
				if want := p.Due(i); op.Due != want {
					t.Fatalf("%s, %s: operation %d is due at %d, want %d", c.arrivals, phase, i, op.Due, want)
				}
				count++
			})
			if phase == "run" && count != c.want {
				t.Errorf("%s: %d operations, want %d", c.arrivals, count, c.want)
			}
		}
	}
}

// TestProfilesRefused makes specs by hand that Parse would not.
func TestProfilesRefused(t *testing.T) {
	for _, arrivals := range []Arrivals{"", "step", "ramp:1..0/1s"} {
		spec := mixSpec(t)
		spec.Arrivals = arrivals
		if _, err := NewGenerator(spec, "test"); err == nil {
			t.Errorf("arrivals %q are taken", arrivals)
		}
	}
}
