package tracegen

import (
	"testing"

	"pianola/traces"
)

var speedSpecs = []struct {
	name       string
	properties []string
}{
	{"workloada", nil},
	{"workloada", []string{"zipfian.range=exact"}},
	{"workloadd", nil},
	{"workloade", nil},
}

// eachSpeedSpec runs each with both arrivals: 10^6 records, 10^7 operations.
func eachSpeedSpec(t testing.TB, run func(name string, spec *Spec)) {
	for _, c := range speedSpecs {
		for _, arrivals := range []string{"constant", "poisson"} {
			properties := append(c.properties, "recordcount=1000000", "operationcount=10000000", "arrivals="+arrivals)
			name := c.name
			if c.properties != nil {
				name += "-exact"
			}
			run(name+"/"+arrivals, readySpec(t, c.name, properties...))
		}
	}
}

// BenchmarkMake reports the time of one operation of a run, without encoding.
func BenchmarkMake(b *testing.B) {
	eachSpeedSpec(b, func(name string, spec *Spec) {
		b.Run(name, func(b *testing.B) {
			m := newMaker(runOf(b, spec))
			m.mustNext(b)
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; {
				n += m.mustNext(b).Len()
			}
		})
	})
}

// TestMakingAllocatesNothing makes blocks that have had their size.
func TestMakingAllocatesNothing(t *testing.T) {
	eachSpeedSpec(t, func(name string, spec *Spec) {
		m := newMaker(runOf(t, spec))
		m.mustNext(t)
		if allocs := testing.AllocsPerRun(3, func() { m.mustNext(t) }); allocs > 0 {
			t.Errorf("%s: %v allocations per block", name, allocs)
		}
	})
	load := newMaker(mustGenerator(t, readySpec(t, "workloada", "recordcount=1000000", "load.rate=1000")).phases[0])
	load.mustNext(t)
	if allocs := testing.AllocsPerRun(3, func() {
		if n := load.mustNext(t).Len(); n != traces.BlockOps {
			t.Errorf("%d operations", n)
		}
	}); allocs > 0 {
		t.Errorf("load: %v allocations per block", allocs)
	}
}
