package fit_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"

	"pianola/tracegen"
	"pianola/tracegen/fit"
	"pianola/tracegen/workloads"
	"pianola/traces"
)

// sample counts phase run of a workload.
func sample(t *testing.T, workload string, seed uint64, properties ...string) *fit.Sample {
	t.Helper()
	text, ok := workloads.Read(workload)
	if !ok {
		t.Fatalf("there is no workload %q", workload)
	}
	spec, _, err := tracegen.Parse(tracegen.Input{
		Sources:   []tracegen.Source{{Name: workload, Text: text}},
		Overrides: append([]string{"recordcount=20000", "operationcount=200000"}, properties...),
	})
	if err != nil {
		t.Fatal(err)
	}
	spec.Seed = seed
	g, err := tracegen.NewGenerator(spec, "test")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, err := traces.NewWriter(&file, g.Header())
	if err == nil {
		err = g.Write(context.Background(), w, nil)
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := traces.NewReader(&file, "stream")
	if err != nil {
		t.Fatal(err)
	}
	last := len(r.Header().Phases) - 1
	s, err := fit.NewSample(r.Header(), last)
	if err != nil {
		t.Fatal(err)
	}
	var b traces.Block
	for {
		if err := r.NextBlock(&b); err == io.EOF {
			return s
		} else if err != nil {
			t.Fatal(err)
		}
		if b.Phase == last {
			s.Add(&b)
		}
	}
}

// tests returns the p of each law that was tested.
func tests(t *testing.T, a, b *fit.Sample, drawn bool) map[string]float64 {
	t.Helper()
	results, err := fit.Compare(a, b, drawn)
	if err != nil {
		t.Fatal(err)
	}
	p := map[string]float64{}
	for _, r := range results {
		if r.Untested == "" {
			p[r.Law] = r.P
		}
	}
	return p
}

var laws = [][]string{
	{"requestdistribution=uniform"}, {"requestdistribution=hotspot"}, {"requestdistribution=sequential"},
	{"requestdistribution=exponential", "insertproportion=0.1"}, {"requestdistribution=latest", "insertproportion=0.3"},
	{"requestdistribution=zipfian"}, {"zipfian.range=exact"}, {"zipfian.theta=1.5"}, {"insertproportion=0.2"},
	{"scanproportion=0.5", "scanlengthdistribution=zipfian"}, {"arrivals=poisson"}, {"readallfields=false"},
	{"insertstart=5000", "insertcount=10000", "requestdistribution=latest", "insertproportion=0.1"}, {"deleteproportion=0.05"},
	{"arrivals=step:50s@1000,20s@3000,1h@500"}, {"arrivals=ramp:500..2000/60s"}, {"arrivals=sine:1000+-500/20s"}, {"arrivals=burst:1000,2s@5000/10s"},
	{"readproportion=1", "updateproportion=0"}, {"zipfian.range=exact", "insertproportion=0.1"}, {"warmup=5000", "requestdistribution=latest", "insertproportion=0.1"},
}

func TestSeedsOfOneLawPass(t *testing.T) {
	for _, properties := range laws {
		drawn := slices.Contains(properties, "arrivals=poisson")
		for law, p := range tests(t, sample(t, "workloada", 1, properties...), sample(t, "workloada", 2, properties...), drawn) {
			if !(p >= 1e-6) { // not a number is no pass
				t.Errorf("%v: %s: p = %.3g", properties, law, p)
			}
		}
	}
}

func TestOtherLawsAreRefused(t *testing.T) {
	for _, c := range []struct {
		law  string
		a, b []string
	}{
		{"keys", []string{"requestdistribution=uniform"}, []string{"requestdistribution=hotspot"}},
		{"keys", []string{"requestdistribution=zipfian"}, []string{"requestdistribution=uniform"}},
		{"keys", []string{"zipfian.range=exact", "zipfian.theta=0.99"}, []string{"zipfian.range=exact", "zipfian.theta=0.95"}},
		{"keys", []string{"zipfian.theta=0.99"}, []string{"zipfian.theta=0.95"}},
		{"keys", []string{"requestdistribution=sequential"}, []string{"requestdistribution=uniform"}},
		{"due times", []string{"arrivals=poisson"}, []string{"arrivals=constant"}},
		{"due times", []string{"target=1030"}, []string{"target=1000"}},
		{"due times", []string{"arrivals=ramp:500..2000/60s"}, []string{"arrivals=ramp:2000..500/60s"}},
		{"kinds by the spec", nil, []string{"readproportion=0.52", "updateproportion=0.48"}},
		{"kinds by the spec", nil, []string{"readproportion=1", "updateproportion=0"}},
		{"kinds by the spec", []string{"readproportion=1", "updateproportion=0"}, nil},
		{"scan lengths", []string{"scanproportion=0.0005"}, nil},
		{"scan lengths", []string{"scanproportion=0.5", "scanlengthdistribution=zipfian"}, []string{"scanproportion=0.5", "scanlengthdistribution=uniform"}},
		{"fields read", []string{"readallfields=false"}, []string{"readallfields=true"}},
	} {
		got := tests(t, sample(t, "workloada", 1, c.a...), sample(t, "workloada", 2, c.b...), false)
		if p, tested := got[c.law]; !tested || !(p < 1e-9) {
			t.Errorf("%v taken for %v: %s isn't refused: p = %v", c.a, c.b, c.law, got)
		}
	}
}
