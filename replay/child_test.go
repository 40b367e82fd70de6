package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

	"pianola/bindings/memory"
	"pianola/bindings/null"
	"pianola/replay"
	"pianola/traces"
)

// children are what the test's program does instead where the variable is set.
var children = map[string]func() int{"REPLAY_TEST_CHILD": child}

func TestMain(m *testing.M) {
	for variable, run := range children {
		if os.Getenv(variable) != "" {
			os.Exit(run())
		}
	}
	os.Exit(m.Run())
}

// child replays the trace named in the environment on null, or on memory if that
// is named there too, and prints the result; TestMain calls it in a process of its own.
func child() int {
	r, err := traces.Open(os.Getenv("REPLAY_TEST_CHILD"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	driver := null.Driver
	if os.Getenv("REPLAY_TEST_DATABASE") == memory.Driver.Name {
		driver = memory.Driver
	}
	p, err := driver.Configure(nil, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binding, err := driver.New(p)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	slots, err := strconv.Atoi(os.Getenv("REPLAY_TEST_SLOTS"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	run := &replay.Runner{Trace: r, Driver: &driver, Binding: binding, Properties: p, Slots: slots}
	res, err := run.Run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(res); err != nil {
		return 1
	}
	return 0
}
