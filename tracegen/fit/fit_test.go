package fit_test

import (
	"bytes"
	"context"
	"io"
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

// least returns the least p of the tests, and the law.
func least(t *testing.T, a, b *fit.Sample) (p float64, law string) {
	t.Helper()
	results, err := fit.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	p = 1
	for _, r := range results {
		if r.Untested == "" && r.P < p {
			p, law = r.P, r.Law
		}
	}
	return p, law
}

var laws = [][]string{
	{"requestdistribution=uniform"}, {"requestdistribution=hotspot"}, {"requestdistribution=sequential"},
	{"requestdistribution=exponential", "insertproportion=0.1"}, {"requestdistribution=latest", "insertproportion=0.3"},
	{"requestdistribution=zipfian"}, {"zipfian.range=exact"}, {"zipfian.theta=1.5"}, {"insertproportion=0.2"},
	{"scanproportion=0.5", "scanlengthdistribution=zipfian"}, {"arrivals=poisson"}, {"readallfields=false"},
	{"insertstart=5000", "insertcount=10000", "requestdistribution=latest", "insertproportion=0.1"}, {"deleteproportion=0.05"},
	{"zipfian.range=exact", "insertproportion=0.1"}, {"warmup=5000", "requestdistribution=latest", "insertproportion=0.1"},
}

func TestSeedsOfOneLawPass(t *testing.T) {
	for _, properties := range laws {
		if p, law := least(t, sample(t, "workloada", 1, properties...), sample(t, "workloada", 2, properties...)); p < 1e-6 {
			t.Errorf("%v: %s: p = %.3g", properties, law, p)
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
		{"gaps", []string{"arrivals=poisson"}, []string{"arrivals=constant"}},
		{"scan lengths", []string{"scanproportion=0.5", "scanlengthdistribution=zipfian"}, []string{"scanproportion=0.5", "scanlengthdistribution=uniform"}},
		{"fields read", []string{"readallfields=false"}, []string{"readallfields=true"}},
	} {
		if p, law := least(t, sample(t, "workloada", 1, c.a...), sample(t, "workloada", 2, c.b...)); p > 1e-9 || law != c.law {
			t.Errorf("%v taken for %v: %s: p = %.3g", c.a, c.b, law, p)
		}
	}
}
