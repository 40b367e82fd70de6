package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pianola/traces"
)

// falsified writes a trace whose header states something else than its
// operations were made by, and returns its path.
func falsified(t *testing.T, change func(h *traces.Header)) string {
	t.Helper()
	spec := "workload=site.ycsb.workloads.CoreWorkload\nrecordcount=1000\noperationcount=100000\nreadproportion=0.5\nupdateproportion=0.5\nrequestdistribution=zipfian\n"
	g, err := generatorOf(&traces.Header{Spec: spec}, 1)
	if err != nil {
		t.Fatal(err)
	}
	h := *g.Header()
	h.Phases = append([]traces.Phase(nil), h.Phases...)
	change(&h)
	var file bytes.Buffer
	w, err := traces.NewWriter(&file, &h)
	if err == nil {
		err = g.Write(context.Background(), w, nil)
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.trace.zst")
	if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVerifyRefusesOtherLawsThanTheStatedOnes(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(h *traces.Header)
		// want is in the error, or in what is printed if there is none.
		want   string
		refuse bool
	}{
		{"nothing changed", func(*traces.Header) {}, "phase run, keys: chi-square", false},
		{"another mix", func(h *traces.Header) { h.Phases[1].Mix[0].Share, h.Phases[1].Mix[1].Share = "0.52", "0.48" }, "kinds of phase run", true},
		{"another law", func(h *traces.Header) {
			h.Spec = strings.Replace(h.Spec, "requestdistribution=zipfian", "requestdistribution=uniform", 1)
		}, "keys of phase run", true},
		{"another mix in the spec", func(h *traces.Header) {
			h.Spec = strings.NewReplacer("readproportion=0.5", "readproportion=0.52", "updateproportion=0.5", "updateproportion=0.48").Replace(h.Spec)
		}, "kinds by the spec of phase run", true},
		{"no updates in the spec", func(h *traces.Header) {
			h.Spec = strings.NewReplacer("readproportion=0.5", "readproportion=1", "updateproportion=0.5", "updateproportion=0").Replace(h.Spec)
		}, "fields written of phase run", true},
		{"another rate in the spec", func(h *traces.Header) { h.Spec += "target=1001\n" }, "due times of phase run", true},
		{"Poisson arrivals in the spec", func(h *traces.Header) { h.Spec += "arrivals=poisson\n" }, "gaps of phase run", true},
		{"another seed", func(h *traces.Header) { h.Seed = 7 }, "make another stream", true},
		{"no spec", func(h *traces.Header) { h.Spec = "by hand" }, "can't be tested", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			app := newApp()
			app.Writer, app.ErrWriter = &out, &out
			args := []string{"tracegen", "verify"}
			if c.name == "another seed" {
				args = append(args, "--regenerate")
			}
			err := app.Run(append(args, falsified(t, c.change)))
			text := out.String()
			if err != nil {
				text = err.Error()
			}
			if (err != nil) != c.refuse || !strings.Contains(text, c.want) {
				t.Errorf("error %v, want %q; it printed\n%s", err, c.want, out.String())
			}
		})
	}
}
