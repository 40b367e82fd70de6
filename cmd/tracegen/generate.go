package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
	"pianola/cmd/output"
	"pianola/cmd/program"
	"pianola/cmd/status"
	"pianola/tracegen"
	"pianola/traces"
)

// generation is what tracegen does without a command: generate a trace.
type generation struct {
	workloads, properties *program.Repeated
}

func newGeneration() *generation {
	return &generation{
		workloads: &program.Repeated{Name: "workload", Short: []string{"w", "P"}, Value: "NAME",
			Usage: "ready workload, property file, or - for standard input; may repeat, later ones win"},
		properties: &program.Repeated{Name: "property", Short: []string{"p"}, Value: "NAME=VALUE",
			Usage: "set a property; wins over every file; may repeat"},
	}
}

func (g *generation) flags() []cli.Flag {
	return []cli.Flag{
		g.workloads,
		g.properties,
		&cli.StringFlag{Name: "seed", Usage: "number `N` that every random choice comes from", DefaultText: "1"},
		&cli.StringFlag{Name: "records", Usage: "load `N` records (recordcount)"},
		&cli.StringFlag{Name: "ops", Usage: "generate `N` operations of phase run (operationcount)"},
		&cli.StringFlag{Name: "duration", Usage: "end phase run after `D`, as 90s or 2h (maxexecutiontime)"},
		&cli.StringFlag{Name: "rate", Usage: "`R` operations are due per second (target)", DefaultText: "1000"},
		&cli.StringFlag{Name: "arrivals", Usage: "`LAW` of the due times: constant, poisson, or a profile (step:…, ramp:…, sine:…, burst:…; see above)", DefaultText: "constant"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the trace to `FILE`; - is standard output"},
		&cli.BoolFlag{Name: "force", Usage: "replace FILE if it exists", DisableDefaultText: true},
	}
}

func (g *generation) run(c *cli.Context) error {
	if c.NArg() > 0 {
		return exit.With(exit.Usage, fmt.Errorf("unexpected argument %q", c.Args().First()),
			"workloads are given by -w, the trace by -o; the commands are info, dump, verify and workloads")
	}
	spec, err := g.spec(c)
	if err != nil {
		return err
	}
	target, err := outputTarget(c)
	if err != nil {
		return err
	}
	gen, err := tracegen.NewGenerator(spec, version)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	ctx := c.Context
	if !target.Direct() { // nothing has to be removed of what is written directly
		var release func()
		ctx, release = exit.CatchSignals(ctx, func() {}, output.AbortAll)
		defer release()
	}
	err = generate(ctx, gen, target, c.App.Writer, c.App.ErrWriter)
	if err != nil && ctx.Err() != nil {
		return exit.With(exit.Interrupted, errors.New("interrupted; nothing was written"))
	}
	return err
}

func outputTarget(c *cli.Context) (output.Target, error) {
	path := c.String("output")
	if path == "" {
		return output.Target{}, exit.With(exit.Usage, errors.New("no output file"), "-o FILE names it; -o - writes to standard output")
	}
	if _, ok := output.Terminal(c.App.Writer); ok && path == "-" {
		return output.Target{}, exit.With(exit.Usage, errors.New("a trace is not for a terminal"), "-o FILE writes it to a file")
	}
	return output.Check(path, c.Bool("force"))
}

// generate writes the trace and says what it holds.
func generate(ctx context.Context, g *tracegen.Generator, target output.Target, stdout, stderr io.Writer) error {
	f, err := target.Create(stdout)
	if err != nil {
		return err
	}
	defer f.Abort()
	buf := bufio.NewWriterSize(f, 1<<20)
	w, err := traces.NewWriter(buf, g.Header())
	if err != nil {
		return err
	}
	var at position
	line := status.Start(stderr, "tracegen", at.text)
	err = g.Write(ctx, w, at.set)
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
	summary(stderr, target, g.Header(), totals, w.Offset())
	return nil
}

// summary says on one line what was written, and the digest on another.
func summary(w io.Writer, target output.Target, h *traces.Header, totals *traces.Totals, bytes int64) {
	ops := uint64(0)
	text := ""
	for i := range totals.Phases {
		n := totals.Phases[i].Count()
		ops += n
		text += fmt.Sprintf("%s %d, ", h.Phases[i].Name, n)
	}
	fmt.Fprintf(w, "tracegen: %s: %s%d bytes, %.2f bits per operation\ntracegen: digest %x\n",
		target, text, bytes, 8*float64(bytes)/float64(max(ops, 1)), totals.Digest)
}
