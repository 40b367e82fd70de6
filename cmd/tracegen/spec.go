package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
	"pianola/cmd/program"
	"pianola/tracegen"
	"pianola/tracegen/workloads"
)

// spec reads the spec from what the command line names and prints its notes.
func (g *generation) spec(c *cli.Context) (*tracegen.Spec, error) {
	in := tracegen.Input{Overrides: g.properties.Given, Flags: specFlags(c)}
	dirs := map[string]string{}
	in.ReadFile = func(source, name string) ([]byte, error) { return workloads.ReadFile(dirs[source], name) }
	for _, name := range g.workloads.Given {
		found, err := workloads.Resolve(name, c.App.Reader)
		if err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		if found.Note != "" {
			program.Note(c, found.Note)
		}
		dirs[found.Name] = found.Dir
		in.Sources = append(in.Sources, tracegen.Source{Name: found.Name, Text: found.Text})
	}
	if len(in.Sources) == 0 && len(in.Overrides) == 0 {
		return nil, exit.With(exit.Usage, errors.New("no workload"), "-w workloada, or another one of: tracegen workloads")
	}
	spec, notes, err := tracegen.Parse(in)
	for _, n := range notes {
		program.Note(c, n.String())
	}
	return spec, specErrors(err)
}

// specFlags are the flags that stand for properties.
func specFlags(c *cli.Context) tracegen.Flags {
	value := func(name string) *string {
		if !c.IsSet(name) {
			return nil
		}
		text := c.String(name)
		return &text
	}
	return tracegen.Flags{
		Seed: value("seed"), Records: value("records"), Ops: value("ops"),
		Duration: value("duration"), Rate: value("rate"), Arrivals: value("arrivals"),
	}
}

// specErrors gives each fault of a spec its hint.
func specErrors(err error) error {
	var all []error
	for _, e := range tracegen.SpecErrors(err) {
		var hints []string
		if e.Hint != "" {
			hints = []string{e.Hint}
		}
		all = append(all, exit.With(exit.Usage, e, hints...))
	}
	return errors.Join(all...)
}
