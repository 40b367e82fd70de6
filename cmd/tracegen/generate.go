package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
	"pianola/cmd/output"
	"pianola/cmd/status"
	"pianola/tracegen"
	"pianola/tracegen/workloads"
	"pianola/traces"
)

func generateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "workload", Aliases: []string{"w", "P"}, Usage: "ready `NAME` or property file; may repeat, later ones win"},
		&cli.StringSliceFlag{Name: "property", Aliases: []string{"p"}, Usage: "`NAME=VALUE`; wins over every file; may repeat"},
		&cli.StringFlag{Name: "seed", Usage: "`N` that every random choice comes from (default 1)"},
		&cli.StringFlag{Name: "records", Usage: "`N` records to load (recordcount)"},
		&cli.StringFlag{Name: "ops", Usage: "`N` operations of phase run (operationcount)"},
		&cli.StringFlag{Name: "duration", Usage: "end phase run after `D`, as 90s or 2h (maxexecutiontime)"},
		&cli.StringFlag{Name: "rate", Usage: "`R` operations per second (target; default 1000)"},
		&cli.StringFlag{Name: "arrivals", Usage: "`LAW` of the due times: constant or poisson (default constant)"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write; - is standard output"},
		&cli.BoolFlag{Name: "force", Usage: "replace FILE if it exists"},
	}
}

func generateAction(stdin io.Reader, stdout, stderr io.Writer) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() > 0 {
			return exit.With(exit.Usage, fmt.Errorf("unexpected argument %q", c.Args().First()),
				"a workload is given by -w; the commands are info, dump and workloads")
		}
		spec, err := parseSpec(c, stdin, stderr)
		if err != nil {
			return err
		}
		path := c.String("output")
		switch {
		case path == "":
			return exit.With(exit.Usage, errors.New("no output file"), "-o FILE names it; -o - writes to standard output")
		case path == "-" && output.IsTerminal(stdout):
			return exit.With(exit.Usage, errors.New("refusing to write a trace to the terminal"), "-o FILE writes to a file")
		}
		if err := output.Check(path, c.Bool("force")); err != nil {
			return err
		}
		g, err := tracegen.NewGenerator(spec, version)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		return generate(c.Context, g, path, c.Bool("force"), stdout, stderr)
	}
}

// parseSpec reads the spec from what the command line names and prints its notes.
func parseSpec(c *cli.Context, stdin io.Reader, stderr io.Writer) (*tracegen.Spec, error) {
	in := tracegen.Input{Overrides: c.StringSlice("property")}
	for _, name := range c.StringSlice("workload") {
		found, err := workloads.Resolve(name, stdin)
		if err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		if found.Note != "" {
			fmt.Fprintf(stderr, "tracegen: note: %s\n", found.Note)
		}
		in.Sources = append(in.Sources, tracegen.Source{Name: found.Name, Text: found.Text})
	}
	if len(in.Sources) == 0 && len(in.Overrides) == 0 {
		return nil, exit.With(exit.Usage, errors.New("no workload"), "-w workloada, or another one of: tracegen workloads")
	}
	for name, value := range map[string]**string{
		"seed": &in.Flags.Seed, "records": &in.Flags.Records, "ops": &in.Flags.Ops,
		"duration": &in.Flags.Duration, "rate": &in.Flags.Rate, "arrivals": &in.Flags.Arrivals,
	} {
		if c.IsSet(name) {
			text := c.String(name)
			*value = &text
		}
	}
	spec, notes, err := tracegen.Parse(in)
	for _, note := range notes {
		fmt.Fprintf(stderr, "tracegen: note: %v\n", note)
	}
	if err != nil {
		return nil, exit.With(exit.Usage, err, specHints(err)...)
	}
	return spec, nil
}

// specHints returns the hints of a spec's errors, each once.
func specHints(err error) []string {
	var out []string
	seen := map[string]bool{}
	for _, e := range tracegen.SpecErrors(err) {
		if e.Hint != "" && !seen[e.Hint] {
			seen[e.Hint] = true
			out = append(out, e.Hint)
		}
	}
	return out
}

// generate writes the trace and says what it holds.
func generate(ctx context.Context, g *tracegen.Generator, path string, force bool, stdout, stderr io.Writer) error {
	f, err := output.Create(path, force, stdout)
	if err != nil {
		return err
	}
	defer f.Abort()
	buf := bufio.NewWriterSize(f, 1<<20)
	w, err := traces.NewWriter(buf, g.Header())
	if err != nil {
		return err
	}
	begin := time.Now()
	var at atomic.Pointer[tracegen.Progress]
	line := status.Start(stderr, "tracegen", func() string { return progressText(at.Load(), time.Since(begin)) })
	err = g.Write(ctx, w, func(p tracegen.Progress) { at.Store(&p) })
	line.Stop()
	if err != nil {
		return err
	}
	totals, err := w.Close()
	if err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	if err := f.Commit(); err != nil {
		return err
	}
	return summary(stderr, path, g.Header(), totals, w.Offset())
}

func progressText(p *tracegen.Progress, elapsed time.Duration) string {
	if p == nil {
		return ""
	}
	rate := float64(p.Done) / max(elapsed.Seconds(), 1e-9)
	return fmt.Sprintf("phase %s: %d of %d operations (%.0f%%), %.3g per second, %s left",
		p.Phase, p.Done, p.Of, 100*float64(p.Done)/float64(max(p.Of, 1)), rate, status.Left(p.Done, p.Of, elapsed))
}

// summary says on one line what was written, and the digest on another.
func summary(w io.Writer, path string, h *traces.Header, totals *traces.Totals, bytes int64) error {
	ops := uint64(0)
	text := ""
	for i := range totals.Phases {
		n := totals.Phases[i].Count()
		ops += n
		text += fmt.Sprintf("%s %d, ", h.Phases[i].Name, n)
	}
	if path == "-" {
		path = "standard output"
	}
	_, err := fmt.Fprintf(w, "tracegen: %s: %s%d bytes, %.2f bits per operation\ntracegen: digest %x\n",
		path, text, bytes, 8*float64(bytes)/float64(max(ops, 1)), totals.Digest)
	return err
}
