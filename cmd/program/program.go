// Package program runs a command line, more strictly than urfave/cli does:
// nothing that was given is ignored, and every complaint has a form.
package program

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
)

// Run runs app, reports its error and returns its exit code. It sets what all
// programs and their commands have in common.
func Run(app *cli.App, args []string) int {
	app.HideHelpCommand = true
	app.DisableSliceFlagSeparator = true
	app.ExitErrHandler = func(*cli.Context, error) {}
	app.OnUsageError = usageError
	app.CustomAppHelpTemplate = helpOf(cli.AppHelpTemplate)
	for _, c := range app.Commands {
		c.HideHelpCommand = true // else a file called help could not be read
		c.OnUsageError = usageError
		c.CustomHelpTemplate = helpOf(cli.CommandHelpTemplate)
		c.Before = flagsBefore
	}
	app.Setup()
	return exit.Report(app.ErrWriter, app.Name, app.RunContext(context.Background(), args))
}

// helpOf puts the version where --version has it, and not among the help.
func helpOf(template string) string {
	return strings.Replace(strings.Replace(template, "GLOBAL OPTIONS", "OPTIONS", -1), "{{if .Version}}", "{{if false}}", 1)
}

// flagsBefore refuses flags of the program before one of its commands, which
// would do nothing.
func flagsBefore(c *cli.Context) error {
	parents := c.Lineage()[1:]
	for _, p := range parents {
		if p.Command == nil || p.NumFlags() == 0 {
			continue
		}
		name := longest(p.LocalFlagNames())
		return exit.With(exit.Usage, fmt.Errorf("flag %s before %q has no effect", dashed(name), c.Command.Name), seeHelp(c))
	}
	return nil
}

func longest(names []string) string {
	best := ""
	for _, name := range names {
		if len(name) > len(best) || len(name) == len(best) && name < best {
			best = name
		}
	}
	return best
}

// dashed returns the name of a flag as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func seeHelp(c *cli.Context) string { return c.Command.HelpName + " --help lists the flags" }

// usageError words the errors of package flag, which knows one dash only.
func usageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		err = fmt.Errorf("unknown flag %s", dashed(name))
	} else if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		err = fmt.Errorf("flag %s needs a value", dashed(name))
	} else if names, ok := strings.CutPrefix(text, "Cannot use two forms of the same flag: "); ok {
		one, other, _ := strings.Cut(names, " ")
		err = fmt.Errorf("flags %s and %s are the same one: want it once", dashed(one), dashed(other))
	}
	return exit.With(exit.Usage, err, seeHelp(c))
}

// OneFile returns the only argument of a command, which word stands for in its
// usage.
func OneFile(c *cli.Context, word string) (string, error) {
	if err := flagBehind(c); err != nil {
		return "", err
	}
	switch n := c.NArg(); {
	case n == 0:
		return "", exit.With(exit.Usage, fmt.Errorf("no %s", word), c.Command.HelpName+" --help shows an example")
	case n > 1:
		return "", exit.With(exit.Usage, fmt.Errorf("one %s wanted, got %q", word, c.Args().Slice()), c.Command.HelpName+" --help shows an example")
	}
	return c.Args().First(), nil
}

// AtMostOne is OneFile for an argument that may be left out: then it is empty.
func AtMostOne(c *cli.Context, word string) (string, error) {
	if c.NArg() == 0 {
		return "", nil
	}
	return OneFile(c, word)
}

// flagBehind refuses what looks like a flag behind the first argument, where
// flags are not read.
func flagBehind(c *cli.Context) error {
	args := c.Args().Slice()
	for _, arg := range args[min(1, len(args)):] {
		if len(arg) > 1 && arg[0] == '-' {
			return exit.With(exit.Usage, fmt.Errorf("flag %s after %q", arg, args[0]), "flags come before it")
		}
	}
	return nil
}

// Value returns the value of a flag that was given, which must not be empty;
// ok is false if it was not given.
func Value(c *cli.Context, name string) (value string, ok bool, err error) {
	if !c.IsSet(name) {
		return "", false, nil
	}
	if value = c.String(name); value == "" {
		return "", false, exit.With(exit.Usage, fmt.Errorf("flag %s is empty", dashed(name)), seeHelp(c))
	}
	return value, true, nil
}

// Note tells something that is no error, on standard error.
func Note(c *cli.Context, text string) {
	fmt.Fprintf(c.App.ErrWriter, "%s: note: %s\n", c.App.Name, text)
}
