package tracegen

import (
	"math"
	"testing"
)

// The figures are those of Shannon's formula over all ranks, summed by another
// program.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		properties []string
		want       Bound
	}{
		{[]string{"recordcount=1000000", "zipfian.range=exact"}, Bound{Kinds: 1, Keys: 13.653, Fields: 1.661}},
		{[]string{"recordcount=1000000", "zipfian.range=ycsb"}, Bound{Kinds: 1, Keys: 16.68, Fields: 1.661}},
		{[]string{"recordcount=1024", "requestdistribution=uniform", "readproportion=1", "updateproportion=0"}, Bound{Keys: 10}},
		{[]string{"recordcount=1024", "requestdistribution=sequential", "arrivals=poisson", "target=1000000", "fieldcount=4"},
			Bound{Kinds: 1, Gaps: math.Log2(math.E * 100), Fields: 1}},
		{[]string{"recordcount=1024", "requestdistribution=uniform", "readproportion=0", "updateproportion=0", "scanproportion=1", "maxscanlength=64"},
			Bound{Keys: 10, ScanLengths: 6}},
		{[]string{"recordcount=1000", "requestdistribution=hotspot", "hotspotdatafraction=0.1", "hotspotopnfraction=0.5", "readproportion=1", "updateproportion=0"},
			Bound{Keys: 1 + math.Log2(100)/2 + math.Log2(900)/2}},
		{[]string{"readproportion=0", "updateproportion=0", "insertproportion=1"}, Bound{}},
	} {
		bounds := mustGenerator(t, readySpec(t, "workloada", c.properties...)).Bounds()
		got := bounds[len(bounds)-1]
		if got.Phase != "run" || bounds[0].Total() != 0 {
			t.Fatalf("%v: %+v", c.properties, bounds)
		}
		for _, part := range [][2]float64{
			{got.Kinds, c.want.Kinds}, {got.Keys, c.want.Keys}, {got.Gaps, c.want.Gaps}, {got.ScanLengths, c.want.ScanLengths}, {got.Fields, c.want.Fields},
		} {
			if math.Abs(part[0]-part[1]) > 0.01 {
				t.Errorf("%v: %+v, want %+v", c.properties, got, c.want)
				break
			}
		}
	}
}
