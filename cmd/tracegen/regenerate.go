package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"pianola/cmd/status"
	"pianola/tracegen"
	"pianola/tracegen/fit"
	"pianola/traces"
)

// generatorOf returns the generator of a trace, by the spec in its header and
// the given seed.
func generatorOf(h *traces.Header, seed uint64) (*tracegen.Generator, error) {
	spec, _, err := tracegen.Parse(tracegen.Input{Sources: []tracegen.Source{{Name: "the spec in the header", Text: []byte(h.Spec)}}})
	if err != nil {
		return nil, err
	}
	spec.Seed = seed
	return tracegen.NewGenerator(spec, version)
}

// regenerate makes a trace again, to nowhere, and compares the digests.
func regenerate(c *cli.Context, r *traces.Reader, totals *traces.Totals) error {
	h, out := r.Header(), c.App.Writer
	g, err := generatorOf(h, h.Seed)
	if err != nil {
		return fmt.Errorf("generate %s again: %w", r.Path(), err)
	}
	if h.Generator != tracegen.Version {
		fmt.Fprintf(out, "%s: made by %s, this is %s: another digest would be no fault of the trace\n", r.Path(), h.Generator, tracegen.Version)
	}
	w, err := traces.NewWriter(io.Discard, g.Header())
	if err == nil {
		at := position{doing: "making again "}
		line := status.Start(c.App.ErrWriter, "tracegen", at.text)
		err = g.Write(c.Context, w, at.set)
		line.Stop()
	}
	var again *traces.Totals
	if err == nil {
		again, err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("generate %s again: %w", r.Path(), err)
	}
	if again.Digest != totals.Digest {
		return fmt.Errorf("%s: its spec and seed make another stream, of digest %x", r.Path(), again.Digest)
	}
	_, err = fmt.Fprintf(out, "%s: its spec and seed make the same digest again\n", r.Path())
	return err
}

const (
	// fitOps is how many operations of a phase are counted for the test of its
	// laws: with more it would not be sharper for any use.
	fitOps = 1 << 24
	// refusedP is the probability below which a law is taken for another one.
	refusedP = 1e-9
)

// fitSamples counts the operations of the phases behind the load.
type fitSamples struct {
	header  *traces.Header
	samples []*fit.Sample
	counted []int
	// drawn says whether the spec leaves due times to chance.
	drawn bool
}

func newFitSamples(h *traces.Header) (*fitSamples, error) {
	f := &fitSamples{header: h, samples: make([]*fit.Sample, len(h.Phases)), counted: make([]int, len(h.Phases))}
	for i := range h.Phases {
		if h.Phases[i].Name == traces.LoadPhase {
			continue
		}
		var err error
		if f.samples[i], err = fit.NewSample(h, i); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *fitSamples) add(b *traces.Block) {
	if s := f.samples[b.Phase]; s != nil && f.counted[b.Phase] < fitOps {
		s.Add(b)
		f.counted[b.Phase] += b.Len()
	}
}

// full reports whether every phase has all that is counted of it.
func (f *fitSamples) full(like *fitSamples) bool {
	for i := range f.counted {
		if f.counted[i] < like.counted[i] {
			return false
		}
	}
	return true
}

// otherSeed is that of the stream which a trace's laws are compared with.
func otherSeed(seed uint64) uint64 { return seed ^ 0x9E3779B97F4A7C15 }

// sampleOf counts a stream of the same spec and another seed, as far as got was
// counted, and sets how far that has come.
func sampleOf(ctx context.Context, h *traces.Header, got *fitSamples, at *position) (*fitSamples, error) {
	g, err := generatorOf(h, otherSeed(h.Seed))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, out := io.Pipe()
	go func() {
		w, err := traces.NewWriter(out, g.Header())
		if err == nil {
			err = g.Write(ctx, w, at.set)
		}
		if err == nil {
			_, err = w.Close()
		}
		out.CloseWithError(err)
	}()
	defer in.Close()
	r, err := traces.NewReader(in, "a stream of another seed")
	if err != nil {
		return nil, err
	}
	r.LeaveDigests()
	other, err := newFitSamples(r.Header())
	if err != nil {
		return nil, err
	}
	other.drawn = g.DrawsDue()
	if len(other.counted) != len(got.counted) {
		return nil, errors.New("the spec makes other phases")
	}
	var b traces.Block
	for !other.full(got) {
		if err := r.NextBlock(&b); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		other.add(&b)
	}
	return other, nil
}

// testLaws compares what was counted with what the spec makes of another seed.
// A trace whose spec is none of this program's can't be tested, which is no
// fault.
func testLaws(c *cli.Context, r *traces.Reader, got *fitSamples) error {
	h, out := r.Header(), c.App.Writer
	at := position{doing: "making another seed's "}
	line := status.Start(c.App.ErrWriter, "tracegen", at.text)
	other, err := sampleOf(c.Context, h, got, &at)
	line.Stop()
	if err != nil {
		_, err = fmt.Fprintf(out, "%s: its laws can't be tested: %v\n", r.Path(), err)
		return err
	}
	var refused error
	for i, s := range got.samples {
		if s == nil || got.counted[i] == 0 {
			continue
		}
		results, err := fit.Compare(s, other.samples[i], other.drawn)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Path(), err)
		}
		for _, res := range results {
			if _, err := fmt.Fprintf(out, "%s: phase %s, %s: %s\n", r.Path(), h.Phases[i].Name, res.Law, resultText(res)); err != nil {
				return err
			}
			if res.Untested == "" && !(res.P >= refusedP) {
				refused = errors.Join(refused, fmt.Errorf("%s: the %s of phase %s don't follow the stated law: p = %.2g",
					r.Path(), res.Law, h.Phases[i].Name, res.P))
			}
		}
	}
	return refused
}

// resultText says what the test of a law gave.
func resultText(res fit.Result) string {
	switch {
	case res.Untested != "":
		return "not tested: " + res.Untested
	case res.Exact && res.P == 1:
		return "each as the spec has it"
	case res.Exact:
		return "not those of the spec"
	}
	return fmt.Sprintf("chi-square %.1f on %d, p = %.2g", res.Statistic, res.Freedom, res.P)
}

// decoders is how many goroutines decode a trace ahead.
func decoders() int { return runtime.GOMAXPROCS(0) }
