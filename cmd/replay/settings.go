package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pianola/bindings"
	"pianola/bindings/all"
	"pianola/cmd/exit"
	"pianola/cmd/output"
	"pianola/cmd/program"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/report"
)

// defaultDatabase needs nothing but this program.
const defaultDatabase = "pebble"

// settings are the command line, checked.
type settings struct {
	// trace is the path of the trace.
	trace  string
	runner *replay.Runner
	report report.Reporter
	// Where result and op log are written, nil if they are not asked for, and
	// the files, once they are open.
	resultTarget, logTarget *output.Target
	result, log             *output.File
	// volatile says that nothing in the database outlives the run.
	volatile bool
}

// parseSettings checks all that can be checked before anything is touched.
func parseSettings(c *cli.Context, l *lists) (*settings, error) {
	path, err := program.OneFile(c, "FILE")
	if err != nil {
		return nil, err
	}
	s := &settings{
		trace: path,
		runner: &replay.Runner{
			Asap: c.Bool("asap"), Chosen: c.IsSet("db"), ToolVersion: version, Labels: map[string]string{},
		},
	}
	for _, step := range []func(*cli.Context, *lists) error{
		s.chooseReport, s.choosePhases, s.choosePreparation, s.chooseCheck, s.chooseLimits, s.chooseLabels, s.choosePace, s.chooseDatabase, s.chooseOutputs,
	} {
		if err := step(c, l); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *settings) chooseReport(c *cli.Context, _ *lists) (err error) {
	s.report, err = report.ByName(c.String("format"))
	return exit.With(exit.Usage, err)
}

func (s *settings) choosePhases(c *cli.Context, _ *lists) error {
	s.runner.Phases = c.String("phase")
	switch s.runner.Phases {
	case replay.AllPhases, replay.LoadOnly, replay.RunOnly:
		return nil
	}
	return exit.Usagef("--phase %q: want all, load or run", s.runner.Phases)
}

const (
	// slotsMax bounds the number of operations in flight.
	slotsMax = 1 << 16
	// deadlineMin is the shortest deadline: below it hardly an answer is in time.
	deadlineMin = time.Millisecond
)

func (s *settings) chooseLimits(c *cli.Context, _ *lists) (err error) {
	r := s.runner
	if c.IsSet("slots") {
		text := c.String("slots")
		if r.Slots, err = strconv.Atoi(text); err != nil || r.Slots < 1 || r.Slots > slotsMax {
			return exit.Usagef("--slots %q: want a whole number from 1 to %d", text, slotsMax)
		}
	}
	if c.IsSet("deadline") {
		text := c.String("deadline")
		if r.Deadline, err = time.ParseDuration(text); err != nil || r.Deadline < deadlineMin {
			return exit.Usagef("--deadline %q: want a duration of %v or more, as 10s", text, deadlineMin)
		}
	}
	if c.IsSet("allow-errors") {
		if r.AllowErrors, err = measure.ParseAllowance(c.String("allow-errors")); err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	if c.IsSet("spin") {
		text := c.String("spin")
		if r.Spin, err = strconv.ParseFloat(text, 64); err != nil || !(r.Spin >= 0 && r.Spin <= 1) {
			return exit.Usagef("--spin %q: want a share of a core from 0 to 1, as 0.25", text)
		}
		if r.Spin == 0 {
			r.Spin = replay.NoSpin
		}
	}
	if c.IsSet("order") {
		if r.Order, err = replay.ParseOrder(c.String("order")); err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	if c.IsSet("overload") {
		r.Overload, err = replay.ParseOverload(c.String("overload"))
	}
	return exit.With(exit.Usage, err)
}

func (s *settings) chooseLabels(_ *cli.Context, l *lists) error {
	for _, label := range l.labels.Given {
		name, value, ok := strings.Cut(label, "=")
		if !ok || name == "" {
			return exit.Usagef("--label %q: want NAME=VALUE", label)
		}
		s.runner.Labels[name] = value
	}
	return nil
}

// choosePace turns --speed into a ratio. That of --rate has to wait for the
// trace.
func (s *settings) choosePace(c *cli.Context, _ *lists) error {
	var given []string
	for _, name := range []string{"speed", "rate"} {
		if c.IsSet(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 1 {
		return exit.Usagef("%s: want one of them", strings.Join(given, " and "))
	}
	if c.IsSet("overload") {
		given = append(given, "--overload")
	}
	if s.runner.Asap && len(given) > 0 {
		return exit.Usagef("--asap ignores due times: it excludes %s", strings.Join(given, " and "))
	}
	if !c.IsSet("speed") {
		return nil
	}
	var err error
	s.runner.SpeedNumerator, s.runner.SpeedDenominator, err = replay.ParseSpeed(c.String("speed"))
	return exit.With(exit.Usage, err)
}

func (s *settings) chooseDatabase(c *cli.Context, l *lists) error {
	name := c.String("db")
	if !c.IsSet("db") {
		name = defaultDatabase
	}
	drivers := all.Drivers()
	driver, err := bindings.Resolve(drivers, name)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	given, err := bindings.ParseProperties(l.properties.Given)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	properties, err := driver.Configure(given, drivers)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	s.volatile = driver.Volatile != nil && driver.Volatile(properties)
	if s.runner.Phases == replay.RunOnly && s.volatile {
		hint := "without --phase the trace is loaded first"
		if len(driver.Properties) > 0 {
			hint += "; a store that keeps its data is given a directory: replay databases " + driver.Name
		}
		return exit.With(exit.Usage, fmt.Errorf("--phase run: nothing can be in %s before a run", driver.Name), hint)
	}
	binding, err := driver.New(properties)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	s.runner.Driver, s.runner.Binding, s.runner.Properties = driver, binding, properties
	return nil
}

// chooseOutputs checks where result and op log are to be written.
func (s *settings) chooseOutputs(c *cli.Context, _ *lists) error {
	for _, out := range []struct {
		flag   string
		target **output.Target
	}{{"output", &s.resultTarget}, {"log-ops", &s.logTarget}} {
		path, ok, err := program.Value(c, out.flag)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if path == "-" {
			return exit.Usagef("--%s -: standard output carries the report", out.flag)
		}
		t, err := output.Check(path, c.Bool("force"))
		if err != nil {
			return err
		}
		if t.Is(s.trace) {
			return exit.Usagef("--%s %s: that is the trace itself", out.flag, path)
		}
		*out.target = &t
	}
	if s.resultTarget != nil && s.logTarget != nil && s.resultTarget.Is(s.logTarget.String()) {
		return exit.Usagef("--output and --log-ops are one file: %s", s.resultTarget)
	}
	return nil
}
