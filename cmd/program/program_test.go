package program

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// testApp records what its action was given.
type testApp struct {
	app            *cli.App
	stdout, stderr strings.Builder
	repeated       *Repeated
	file           string
}

func newTestApp() *testApp {
	a := &testApp{repeated: &Repeated{Name: "word", Short: []string{"w", "W"}, Value: "TEXT", Usage: "a word; may repeat"}}
	a.app = &cli.App{
		Name:    "program",
		Version: "1",
		Writer:  &a.stdout, ErrWriter: &a.stderr,
		Flags: []cli.Flag{a.repeated, &cli.StringFlag{Name: "output", Aliases: []string{"o"}}},
		Action: func(c *cli.Context) (err error) {
			if _, _, err := Value(c, "output"); err != nil {
				return err
			}
			a.file, err = OneFile(c, "FILE")
			return err
		},
		Commands: []*cli.Command{{
			Name:  "list",
			Flags: []cli.Flag{&cli.BoolFlag{Name: "json"}},
			Action: func(c *cli.Context) (err error) {
				a.file, err = AtMostOne(c, "NAME")
				return err
			},
		}},
	}
	return a
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, args string
		code       int
		file       string
		words      string
		stderr     string
	}{
		{"a file", "f", 0, "f", "", ""},
		{"standard input", "-", 0, "-", "", ""},
		{"words under all names, in order", "-w a --word b -W c,d --word=e f", 0, "f", "a b c,d e", ""},
		{"a file that begins with a dash", "-- -f", 0, "-f", "", ""},
		{"no file", "-w a", 2, "", "a", "error: no FILE\nhint: program --help shows an example\n"},
		{"two files", "f g", 2, "", "", "error: one FILE wanted, got [\"f\" \"g\"]\nhint: program --help shows an example\n"},
		{"a flag behind the file", "f -w a", 2, "", "", "error: flag -w after \"f\"\nhint: flags come before it\n"},
		{"an unknown flag", "--wrod a f", 2, "", "", "error: unknown flag --wrod\nhint: program --help lists the flags\n"},
		{"an unknown short flag", "-x f", 2, "", "", "error: unknown flag -x\nhint: program --help lists the flags\n"},
		{"a flag without its value", "-o", 2, "", "", "error: flag -o needs a value\nhint: program --help lists the flags\n"},
		{"an empty value", "-o= f", 2, "", "", "error: flag --output is empty\nhint: program --help lists the flags\n"},
		{"one flag by two names", "-o a --output b f", 2, "", "", "error: flags -o and --output are the same one: want it once\nhint: program --help lists the flags\n"},
		{"a command", "list n", 0, "n", "", ""},
		{"a command without its argument", "list", 0, "", "", ""},
		{"an argument called as the command's help would be", "list help", 0, "help", "", ""},
		{"a flag before a command", "-o a list", 2, "", "", "error: flag --output before \"list\" has no effect\nhint: program list --help lists the flags\n"},
		{"a repeated flag before a command", "-w a list", 2, "", "a", "error: flag --word before \"list\" has no effect\nhint: program list --help lists the flags\n"},
		{"a flag behind a command's argument", "list n --json", 2, "", "", "error: flag --json after \"n\"\nhint: flags come before it\n"},
		{"an unknown flag of a command", "list --jsno n", 2, "", "", "error: unknown flag --jsno\nhint: program list --help lists the flags\n"},
	} {
		a := newTestApp()
		code := Run(a.app, append([]string{"program"}, strings.Fields(c.args)...))
		want := ""
		for line := range strings.Lines(c.stderr) {
			want += "program: " + line
		}
		if code != c.code || a.file != c.file || !slices.Equal(a.repeated.Given, strings.Fields(c.words)) || a.stderr.String() != want || a.stdout.Len() > 0 {
			t.Errorf("%s: code %d, file %q, words %q, stderr\n%swant code %d, file %q, words %q, stderr\n%s",
				c.name, code, a.file, a.repeated.Given, a.stderr.String(), c.code, c.file, c.words, want)
		}
	}
}

func TestHelp(t *testing.T) {
	a := newTestApp()
	if code := Run(a.app, []string{"program", "--help"}); code != 0 || a.stderr.Len() > 0 {
		t.Fatalf("code %d, %s", code, a.stderr.String())
	}
	help := a.stdout.String()
	if !strings.Contains(help, "--word TEXT, -w TEXT, -W TEXT  a word; may repeat\n") {
		t.Errorf("a repeated flag is not explained:\n%s", help)
	}
	for _, bad := range []string{"VERSION", "GLOBAL", "help, h"} {
		if strings.Contains(help, bad) {
			t.Errorf("%q is in the help:\n%s", bad, help)
		}
	}
	a = newTestApp()
	if code := Run(a.app, []string{"program", "--version"}); code != 0 || a.stdout.String() != "program version 1\n" {
		t.Errorf("code %d, %q", code, a.stdout.String())
	}
}

func TestNote(t *testing.T) {
	a := newTestApp()
	a.app.Action = func(c *cli.Context) error {
		Note(c, "this")
		return errors.New("that")
	}
	if code := Run(a.app, []string{"program"}); code != 1 || a.stderr.String() != "program: note: this\nprogram: error: that\n" {
		t.Errorf("code %d, %q", code, a.stderr.String())
	}
}
