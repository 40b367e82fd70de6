package tracegen

import (
	"testing"

	"pianola/traces"
)

// filler makes blocks of phase run one after the other, beginning again behind
// the last.
type filler struct {
	start, src phaseSource
	block      traces.Block
}

func newFiller(t testing.TB, spec *Spec) *filler {
	t.Helper()
	g := mustGenerator(t, spec)
	return &filler{start: *g.run, src: *g.run}
}

// fill returns the number of operations of the next block.
func (f *filler) fill(t testing.TB) int {
	if f.src.next == f.src.ops {
		f.src = f.start
	}
	f.block.Reset()
	if err := f.src.fill(&f.block); err != nil {
		t.Fatal(err)
	}
	return f.block.Len()
}

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

// BenchmarkFill reports the time of one operation of a run, without encoding.
func BenchmarkFill(b *testing.B) {
	eachSpeedSpec(b, func(name string, spec *Spec) {
		b.Run(name, func(b *testing.B) {
			f := newFiller(b, spec)
			f.fill(b)
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; {
				n += f.fill(b)
			}
		})
	})
}

// TestFillAllocatesNothing fills blocks that have had their size.
func TestFillAllocatesNothing(t *testing.T) {
	eachSpeedSpec(t, func(name string, spec *Spec) {
		f := newFiller(t, spec)
		f.fill(t)
		if allocs := testing.AllocsPerRun(3, func() { f.fill(t) }); allocs > 0 {
			t.Errorf("%s: %v allocations per block", name, allocs)
		}
	})
	load := mustGenerator(t, readySpec(t, "workloada", "recordcount=1000000", "load.rate=1000")).load
	var b traces.Block
	if allocs := testing.AllocsPerRun(3, func() {
		b.Reset()
		if err := load.fill(&b); err != nil || b.Len() != traces.BlockOps {
			t.Errorf("%d operations, %v", b.Len(), err)
		}
	}); allocs > 0 {
		t.Errorf("load: %v allocations per block", allocs)
	}
}
