package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
	"pianola/cmd/program"
	"pianola/replay"
)

// choosePreparation checks what is to be done about the table before the load
// and between load and run.
func (s *settings) choosePreparation(c *cli.Context, _ *lists) error {
	r := s.runner
	r.Drop, r.Resume = c.Bool("drop"), c.Bool("resume")
	switch {
	case r.Drop && r.Resume:
		return exit.Usagef("--drop and --resume: want one of them")
	case r.Drop && r.Phases == replay.RunOnly:
		return exit.Usagef("--drop leaves nothing for --phase run")
	case r.Resume && r.Phases == replay.RunOnly:
		return exit.Usagef("--resume is about the load, which --phase run leaves out")
	}
	text, ok, err := program.Value(c, "settle")
	if err != nil || !ok {
		return err
	}
	if r.Phases != replay.AllPhases {
		return exit.Usagef("--settle stands between load and run, and --phase %s has one of them only", r.Phases)
	}
	r.SettleText = text
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 {
			return exit.Usagef("--settle %q: want a duration, as 30s, or a command", text)
		}
		r.Settle = func(ctx context.Context) error { return rest(ctx, d) }
		return nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return exit.Usagef("--settle %q: a duration has a unit, as 30s", text)
	}
	stderr := c.App.ErrWriter
	r.Settle = func(ctx context.Context) error { return command(ctx, text, stderr) }
	return nil
}

// rest returns after the given time, or once ctx is done.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// command runs a line of the system's shell. What it prints goes to output, for
// standard output carries the report alone.
func command(ctx context.Context, line string, output io.Writer) error {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1], line)
	cmd.Stdout, cmd.Stderr = output, output
	// What it has started may hold on to its output.
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %q: %w", line, err)
	}
	return nil
}

// checkSampleMax bounds --check-sample.
const checkSampleMax = 1 << 22

// chooseCheck checks what is to be verified.
func (s *settings) chooseCheck(c *cli.Context, _ *lists) (err error) {
	r := s.runner
	r.Check, r.ReadBack = c.Bool("check"), c.Bool("read-back")
	if r.ReadBack && r.Phases == replay.RunOnly {
		return exit.Usagef("--read-back tells of the contents that a trace makes, and --phase run starts with others")
	}
	var against []string
	if r.Phases != replay.AllPhases {
		against = append(against, "--phase "+r.Phases)
	}
	if r.Resume {
		against = append(against, "--resume")
	}
	if r.Check && len(against) > 0 {
		return exit.With(exit.Usage, fmt.Errorf("--check excludes %s", strings.Join(against, " and ")),
			"what is read can be checked where all of it was written by this run")
	}
	if !c.IsSet("check-sample") {
		return nil
	}
	if !r.Check {
		return exit.Usagef("--check-sample has no effect without --check")
	}
	text := c.String("check-sample")
	if r.CheckSample, err = strconv.Atoi(text); err != nil || r.CheckSample < 1 || r.CheckSample > checkSampleMax {
		return exit.Usagef("--check-sample %q: want a whole number of keys from 1 to %d", text, checkSampleMax)
	}
	return nil
}
