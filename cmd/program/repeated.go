package program

import (
	"flag"
	"strings"

	"github.com/urfave/cli/v2"
)

// Repeated is a flag that may be given more than once, each time under any of
// its names. The values keep their order; they are not split.
type Repeated struct {
	// Name is the long name, Short the ones of one letter.
	Name  string
	Short []string
	// Value stands for the value in the help.
	Value, Usage string
	// Given holds the values.
	Given []string
}

var _ cli.VisibleFlag = (*Repeated)(nil)

// Apply adds the flag under all its names.
func (f *Repeated) Apply(set *flag.FlagSet) error {
	for _, name := range append([]string{f.Name}, f.Short...) {
		set.Func(name, f.Usage, func(value string) error {
			f.Given = append(f.Given, value)
			return nil
		})
	}
	return nil
}

// String returns the flag's line in the help, a tab before its usage.
func (f *Repeated) String() string {
	names := []string{dashed(f.Name) + " " + f.Value}
	for _, short := range f.Short {
		names = append(names, dashed(short)+" "+f.Value)
	}
	return strings.Join(names, ", ") + "\t" + f.Usage
}

// Names returns the long name alone: cli takes two names of one flag on a
// command line for a mistake.
func (f *Repeated) Names() []string { return []string{f.Name} }

// IsSet reports whether the flag was given.
func (f *Repeated) IsSet() bool { return len(f.Given) > 0 }

// IsVisible says that the help lists the flag.
func (f *Repeated) IsVisible() bool { return true }
