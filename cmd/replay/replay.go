package main

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"pianola/bindings"
	"pianola/cmd/exit"
	"pianola/cmd/program"
	"pianola/replay"
	"pianola/traces"
)

// lists are the flags that may repeat.
type lists struct {
	properties, labels *program.Repeated
}

func newLists() *lists {
	return &lists{
		properties: &program.Repeated{Name: "property", Short: []string{"p"}, Value: "NAME=VALUE",
			Usage: "set a property of the database; may repeat"},
		labels: &program.Repeated{Name: "label", Value: "NAME=VALUE", Usage: "keep a label in the result; may repeat"},
	}
}

func replayFlags(l *lists) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "db", Usage: "`NAME` of the database; replay databases lists them", DefaultText: defaultDatabase},
		l.properties,
		&cli.StringFlag{Name: "phase", Value: replay.AllPhases, Usage: "`WHICH` phases: all, load, or run (on data that is there; includes warmup)", DefaultText: replay.AllPhases},
		&cli.StringFlag{Name: "spin", Usage: "spend `CORES` of a core at most, 0 to 1, on spinning until due times; default by the place of the database"},
		&cli.StringFlag{Name: "speed", Usage: "issue `X` times as fast as the trace says"},
		&cli.StringFlag{Name: "rate", Usage: "issue phase run at a mean of `R` operations per second, other paced phases alike"},
		&cli.BoolFlag{Name: "asap", Usage: "ignore due times: a closed loop over the slots", DisableDefaultText: true},
		&cli.StringFlag{Name: "slots", Usage: "at most `N` operations in flight", DefaultText: "the database's own, which replay databases NAME prints"},
		&cli.StringFlag{Name: "overload", Usage: "`WHAT` to do when all slots are busy: queue, drop or abort", DefaultText: string(replay.QueueOverload)},
		&cli.StringFlag{Name: "order", Usage: "`WHICH` operations wait for earlier ones: none, or key (those that conflict on a key)", DefaultText: string(replay.NoOrder)},
		&cli.StringFlag{Name: "deadline", Usage: "give an operation up `D` after its due time", DefaultText: bindings.DefaultDeadline.String()},
		&cli.StringFlag{Name: "allow-errors", Usage: "`N` or N% of a phase's operations may be failed or censored, or may have read wrong values", DefaultText: "0"},
		&cli.BoolFlag{Name: "drop", Usage: "drop the table before the load", DisableDefaultText: true},
		&cli.BoolFlag{Name: "resume", Usage: "load what is missing in a table that holds a part of the load", DisableDefaultText: true},
		&cli.StringFlag{Name: "settle", Usage: "between load and run wait for a duration, or run a command: `D|COMMAND`"},
		&cli.BoolFlag{Name: "check", Usage: "verify every value that is read; with --order key its version too", DisableDefaultText: true},
		&cli.StringFlag{Name: "check-sample", Usage: "verify the versions of at most `N` keys", DefaultText: strconv.Itoa(replay.DefaultCheckSample)},
		&cli.BoolFlag{Name: "read-back", Usage: "read all records after the run and report a digest of them", DisableDefaultText: true},
		formatFlag(),
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the result to `RESULT.json`"},
		&cli.StringFlag{Name: "log-ops", Usage: "write a line for every operation to `LOG`"},
		l.labels,
		&cli.BoolFlag{Name: "force", Usage: "replace output files that exist", DisableDefaultText: true},
	}
}

// replayTrace checks all that can be checked, opens the trace, and replays.
func replayTrace(c *cli.Context, l *lists) error {
	s, err := parseSettings(c, l)
	if err != nil {
		return err
	}
	trace, err := traces.Open(s.trace)
	if err != nil {
		return openError(s.trace, err)
	}
	defer trace.Close()
	r := s.runner
	r.Trace = trace
	if c.IsSet("rate") {
		if r.SpeedNumerator, r.SpeedDenominator, err = replay.SpeedForRate(c.String("rate"), trace.Header()); err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	if err := replay.CheckSpeed(r.SpeedNumerator, r.SpeedDenominator, trace.Header()); err != nil {
		return exit.With(exit.Usage, err)
	}
	return s.run(c)
}

// openError says of a word that is no file what else it might be.
func openError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && strings.Trim(path, "abcdefghijklmnopqrstuvwxyz") == "" {
		return exit.With(exit.Failed, err, "the commands are report and databases; anything else is the FILE of a trace")
	}
	return err
}
