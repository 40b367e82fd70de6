package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pianola/bindings"
	"pianola/cmd/exit"
	"pianola/cmd/output"
	"pianola/cmd/program"
	"pianola/cmd/status"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/report"
)

// run replays and reports.
func (s *settings) run(c *cli.Context) error {
	stderr, r := c.App.ErrWriter, s.runner
	chosen := "the default, --db chooses another"
	if r.Chosen {
		chosen = "chosen"
	}
	fmt.Fprintf(stderr, "replay: database %s (%s)\n", r.Driver.Name, chosen)
	if s.volatile && r.Phases == replay.LoadOnly {
		program.Note(c, "what is loaded is gone after the run: replay databases "+r.Driver.Name)
	}
	res, err := s.record(c.Context, stderr)
	if res == nil {
		return err
	}
	defer s.discard()
	return errors.Join(err, printReport(c, s.report, res), outcome(res, err, r.AllowErrors))
}

// record runs and writes what was asked for of it: the op log and the result.
// The outputs are opened first: no run begins that can't be recorded.
func (s *settings) record(ctx context.Context, stderr io.Writer) (*measure.Result, error) {
	// The opening of a pipe waits for its reader, and must end at a signal.
	if err := s.open(true); err != nil {
		return nil, err
	}
	ctx, release := exit.CatchSignals(ctx, func() {
		fmt.Fprintln(stderr, "replay: interrupted: waiting for operations in flight; again ends at once")
	}, func() {
		output.AbortAll()
		s.discard()
	})
	defer release()
	defer output.AbortAll()
	if err := s.open(false); err != nil {
		return nil, err
	}
	line := status.Start(stderr, "replay", func() string { return statusText(s.runner) })
	res, err := s.runner.Run(ctx)
	line.Stop()
	switch {
	case res == nil && ctx.Err() != nil:
		return nil, exit.With(exit.Interrupted, errors.New("interrupted before the first operation"))
	case res == nil:
		return nil, err
	}
	if s.log != nil {
		err = errors.Join(err, s.log.Commit())
	}
	if s.result != nil {
		err = errors.Join(err, writeResult(s.result, res))
	}
	return res, err
}

// discard removes what the database would leave behind where it can't be
// closed: at the second signal, or under operations that never ended.
func (s *settings) discard() {
	if d, ok := s.runner.Binding.(bindings.Discarder); ok {
		d.Discard()
	}
}

// open opens the outputs that are written directly, or the others.
func (s *settings) open(direct bool) error {
	for _, out := range []struct {
		target *output.Target
		file   **output.File
	}{{s.logTarget, &s.log}, {s.resultTarget, &s.result}} {
		if out.target == nil || out.target.Direct() != direct {
			continue
		}
		f, err := out.target.Create(nil)
		if err != nil {
			return err
		}
		*out.file = f
	}
	if s.log != nil {
		s.runner.OpLog = s.log
	}
	return nil
}

func writeResult(f *output.File, res *measure.Result) error {
	form, err := report.ByName("json")
	if err != nil {
		return err
	}
	if err := form.Write(f, res); err != nil {
		return err
	}
	return f.Commit()
}

func printReport(c *cli.Context, form report.Reporter, res *measure.Result) error {
	if err := form.Write(c.App.Writer, res); err != nil {
		return err
	}
	if notice := form.Notice(res); notice != "" {
		program.Note(c, notice)
	}
	return nil
}

// outcome is the error that a result is: what the exit code has to say of it,
// beside err, the error of the run.
func outcome(res *measure.Result, err error, allow measure.Allowance) error {
	switch {
	case res.Partial:
		return exit.With(exit.Interrupted, errors.New("interrupted: the report is of what was done"))
	case res.Void != "" && err != nil:
		return nil // that is what err says
	case res.Void != "":
		return fmt.Errorf("the result is void: %s", res.Void)
	case res.Stopped != "":
		return fmt.Errorf("stopped: %s", res.Stopped)
	}
	var limited, failed []error
	for i := range res.Phases {
		p := &res.Phases[i]
		if p.Verdict.Word == measure.GeneratorLimited {
			limited = append(limited, exit.With(exit.Invalid, fmt.Errorf("phase %s: generator limited: these figures are not the database's", p.Name)))
		}
		var n measure.Counts
		for j := range p.Kinds {
			n.Add(p.Kinds[j].Counts)
		}
		if check := p.Check; check != nil && allow.Exceeded(check.Mismatched+check.Stale, n.Offered) {
			failed = append(failed, exit.With(exit.Errors, fmt.Errorf("phase %s: of %d operations %d read what was never written and %d what had been replaced; allowed are %s",
				p.Name, n.Offered, check.Mismatched, check.Stale, allow)))
		}
		if bad := n.Failed + n.Censored; allow.Exceeded(bad, n.Offered) {
			failed = append(failed, exit.With(exit.Errors, fmt.Errorf("phase %s: %d of %d operations failed or were censored; allowed are %s", p.Name, bad, n.Offered, allow)))
		}
	}
	return errors.Join(append(limited, failed...)...)
}
