package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pianola/bindings"
	"pianola/bindings/all"
	"pianola/cmd/exit"
	"pianola/cmd/output"
	"pianola/cmd/status"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/report"
	"pianola/traces"
)

// defaultDatabase needs nothing but this program.
const defaultDatabase = "pebble"

func replayFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "db", Usage: "`NAME` of the database (default pebble; replay databases lists them)"},
		&cli.StringSliceFlag{Name: "property", Aliases: []string{"p"}, Usage: "`NAME=VALUE` of the database's properties; may repeat"},
		&cli.StringFlag{Name: "phase", Value: replay.AllPhases, Usage: "`WHICH` phases: all, load, or run (includes warmup; on data that is there)"},
		&cli.StringFlag{Name: "speed", Usage: "issue `X` times as fast as the trace says"},
		&cli.StringFlag{Name: "rate", Usage: "issue phase run at a mean of `R` operations per second"},
		&cli.BoolFlag{Name: "asap", Usage: "ignore due times: a closed loop over the slots"},
		&cli.IntFlag{Name: "slots", Usage: "at most `N` operations in flight (default 64 for embedded stores, else 1024)"},
		&cli.DurationFlag{Name: "deadline", Value: bindings.DefaultDeadline, Usage: "give an operation up `D` after its due time"},
		&cli.StringFlag{Name: "allow-errors", Value: "0", Usage: "`N or N%` of a phase's operations may be failed or censored"},
		&cli.StringFlag{Name: "format", Value: "text", Usage: "`FORM` of the report: " + strings.Join(report.Names(), ", ")},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the result to `RESULT.json`"},
		&cli.StringFlag{Name: "log-ops", Usage: "write a line for every operation to `LOG`"},
		&cli.StringSliceFlag{Name: "label", Usage: "`NAME=VALUE` to keep in the result; may repeat"},
		&cli.BoolFlag{Name: "force", Usage: "replace output files that exist"},
	}
}

// settings are the command line, checked.
type settings struct {
	runner *replay.Runner
	report report.Reporter
	result string
	opLog  string
	force  bool
}

func replayAction(stdin io.Reader, stdout, stderr io.Writer) cli.ActionFunc {
	return func(c *cli.Context) error {
		s, err := parseSettings(c)
		if err != nil {
			return err
		}
		path := c.Args().First()
		trace, err := openTrace(path, stdin)
		if err != nil {
			return err
		}
		defer trace.Close()
		s.runner.Trace = trace
		if err := s.scale(c); err != nil {
			return err
		}
		return s.replay(c, stdout, stderr)
	}
}

func openTrace(path string, stdin io.Reader) (*traces.Reader, error) {
	if path == "-" {
		return traces.NewReader(stdin, "standard input")
	}
	return traces.Open(path)
}

// parseSettings checks all that can be checked before anything is touched.
func parseSettings(c *cli.Context) (*settings, error) {
	if err := exit.FlagAfter(c.Args().Slice()); err != nil {
		return nil, err
	}
	if c.NArg() != 1 {
		return nil, exit.With(exit.Usage, fmt.Errorf("want one FILE, got %d", c.NArg()), "tracegen makes traces; replay --help shows an example")
	}
	s := &settings{result: c.String("output"), opLog: c.String("log-ops"), force: c.Bool("force")}
	var err error
	if s.report, err = report.ByName(c.String("format")); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	s.runner = &replay.Runner{
		Phases: c.String("phase"), Asap: c.Bool("asap"), Slots: c.Int("slots"), Deadline: c.Duration("deadline"),
		Chosen: c.IsSet("db"), ToolVersion: version, Labels: map[string]string{},
	}
	switch s.runner.Phases {
	case replay.AllPhases, replay.LoadOnly, replay.RunOnly:
	default:
		return nil, exit.Usagef("--phase %q: want all, load or run", s.runner.Phases)
	}
	if c.IsSet("slots") && (s.runner.Slots < 1 || s.runner.Slots > slotsMax) {
		return nil, exit.Usagef("--slots %d: want 1 to %d", s.runner.Slots, slotsMax)
	}
	if s.runner.Deadline < time.Millisecond {
		return nil, exit.Usagef("--deadline %v: want 1ms or more", s.runner.Deadline)
	}
	if s.runner.AllowErrors, err = measure.ParseAllowance(c.String("allow-errors")); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	for _, label := range c.StringSlice("label") {
		name, value, ok := strings.Cut(label, "=")
		if !ok || name == "" {
			return nil, exit.Usagef("--label %q: want NAME=VALUE", label)
		}
		s.runner.Labels[name] = value
	}
	if err := s.chooseDatabase(c); err != nil {
		return nil, err
	}
	for _, path := range []string{s.result, s.opLog} {
		if path == "" {
			continue
		}
		if path == "-" {
			return nil, exit.Usagef("output file %q: standard output carries the report", path)
		}
		if err := output.Check(path, s.force); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// slotsMax bounds the number of operations in flight.
const slotsMax = 1 << 16

func (s *settings) chooseDatabase(c *cli.Context) error {
	name := c.String("db")
	if !c.IsSet("db") {
		name = defaultDatabase
	}
	drivers := all.Drivers()
	driver, err := bindings.Resolve(drivers, name)
	if err != nil {
		return withHint(err)
	}
	given, err := bindings.ParseProperties(c.StringSlice("property"))
	if err != nil {
		return withHint(err)
	}
	properties, err := driver.Configure(given, drivers)
	if err != nil {
		return withHint(err)
	}
	if s.runner.Phases == replay.RunOnly && driver.Volatile != nil && driver.Volatile(properties) {
		return exit.With(exit.Usage, fmt.Errorf("--phase run: nothing can be in %s before a run", driver.Name),
			"without --phase the trace is loaded first; a store that keeps its data is given a directory: replay databases "+driver.Name)
	}
	binding, err := driver.New(properties)
	if err != nil {
		return withHint(err)
	}
	s.runner.Driver, s.runner.Binding, s.runner.Properties = driver, binding, properties
	return nil
}

// withHint turns the second and further lines of an error into hints.
func withHint(err error) error {
	text, rest, found := strings.Cut(err.Error(), "\n")
	if !found {
		return exit.With(exit.Usage, err)
	}
	return exit.With(exit.Usage, errors.New(text), strings.Split(strings.ReplaceAll(rest, "hint: ", ""), "\n")...)
}

// scale turns --speed and --rate into a ratio.
func (s *settings) scale(c *cli.Context) error {
	speed, rate := c.String("speed"), c.String("rate")
	switch {
	case speed == "" && rate == "":
		return nil
	case speed != "" && rate != "":
		return exit.Usagef("--speed %s and --rate %s: want one of them", speed, rate)
	case s.runner.Asap:
		return exit.Usagef("--asap ignores due times: it excludes --speed and --rate")
	}
	var err error
	if speed != "" {
		s.runner.SpeedNumerator, s.runner.SpeedDenominator, err = replay.ParseSpeed(speed)
	} else {
		s.runner.SpeedNumerator, s.runner.SpeedDenominator, err = replay.SpeedForRate(rate, s.runner.Trace.Header())
	}
	return exit.With(exit.Usage, err)
}

// replay runs and reports.
func (s *settings) replay(c *cli.Context, stdout, stderr io.Writer) error {
	r := s.runner
	chosen := "the default, --db chooses another"
	if r.Chosen {
		chosen = "chosen"
	}
	if _, err := fmt.Fprintf(stderr, "replay: database %s (%s)\n", r.Driver.Name, chosen); err != nil {
		return err
	}
	if s.opLog != "" {
		log, err := output.Create(s.opLog, s.force, nil)
		if err != nil {
			return err
		}
		defer log.Abort()
		r.OpLog = log
		res, err := s.run(c, stderr)
		if res != nil {
			if commitErr := log.Commit(); err == nil {
				err = commitErr
			}
		}
		return s.finish(res, err, stdout, stderr)
	}
	res, err := s.run(c, stderr)
	return s.finish(res, err, stdout, stderr)
}

func (s *settings) run(c *cli.Context, stderr io.Writer) (*measure.Result, error) {
	line := status.Start(stderr, "replay", func() string { return statusText(s.runner) })
	defer line.Stop()
	return s.runner.Run(c.Context)
}

func statusText(r *replay.Runner) string {
	p, ok := r.Progress()
	if !ok {
		return ""
	}
	n := &p.Counts
	text := fmt.Sprintf("phase %s: %v, %d operations offered, %d completed, %.0f per second",
		p.Phase, p.Elapsed.Round(time.Second), n.Offered, n.Completed, float64(n.Completed)/max(p.Elapsed.Seconds(), 1e-9))
	if bad := n.Decided() - n.Completed; bad > 0 {
		text += fmt.Sprintf(", %d failed or given up", bad)
	}
	if p.Ops > 0 {
		text += fmt.Sprintf(", %.0f%% of %d, %s left", 100*float64(n.Offered)/float64(p.Ops), p.Ops, status.Left(n.Offered, p.Ops, p.Elapsed))
	}
	return text
}

// finish writes the result, prints the report and chooses the exit code.
func (s *settings) finish(res *measure.Result, err error, stdout, stderr io.Writer) error {
	if res == nil {
		return err
	}
	if s.result != "" {
		if writeErr := s.writeResult(res); writeErr != nil {
			err = errors.Join(err, writeErr)
		}
	}
	if reportErr := printReport(s.report, res, stdout, stderr); reportErr != nil {
		err = errors.Join(err, reportErr)
	}
	if res.Partial {
		return exit.With(exit.Interrupted, errors.Join(errors.New("interrupted: the report is of what was done"), err))
	}
	if err != nil {
		return err
	}
	return verdictError(res, s.runner.AllowErrors)
}

func (s *settings) writeResult(res *measure.Result) error {
	f, err := output.Create(s.result, s.force, nil)
	if err != nil {
		return err
	}
	defer f.Abort()
	form, err := report.ByName("json")
	if err != nil {
		return err
	}
	if err := form.Write(f, res); err != nil {
		return fmt.Errorf("write %s: %w", s.result, err)
	}
	return f.Commit()
}

func printReport(form report.Reporter, res *measure.Result, stdout, stderr io.Writer) error {
	if err := form.Write(stdout, res); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if notice := form.Notice(res); notice != "" {
		fmt.Fprintf(stderr, "replay: note: %s\n", notice)
	}
	return nil
}

// verdictError says what exit code a complete result asks for.
func verdictError(res *measure.Result, allow measure.Allowance) error {
	switch {
	case res.Void != "":
		return fmt.Errorf("the result is void: %s", res.Void)
	case res.Stopped != "":
		return fmt.Errorf("stopped: %s", res.Stopped)
	}
	for i := range res.Phases {
		if p := &res.Phases[i]; p.Verdict.Word == measure.GeneratorLimited {
			return exit.With(exit.Invalid, fmt.Errorf("phase %s: generator limited: the figures are not the database's", p.Name))
		}
	}
	for i := range res.Phases {
		p := &res.Phases[i]
		all, err := p.Total()
		if err != nil {
			return err
		}
		if bad := all.Counts.Failed + all.Counts.Censored; allow.Exceeded(bad, all.Counts.Offered) {
			return exit.With(exit.Errors, fmt.Errorf("phase %s: %d of %d operations failed or were censored; --allow-errors is %s", p.Name, bad, all.Counts.Offered, allow))
		}
	}
	return nil
}
