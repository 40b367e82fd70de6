package main

import (
	"errors"
	"strings"
	"testing"

	"pianola/cmd/exit"
	"pianola/replay/measure"
)

// Wrong values count against --allow-errors like failures.
func TestWrongValuesAreErrors(t *testing.T) {
	for _, c := range []struct {
		mismatched, stale uint64
		allow             string
		ok                bool
	}{{0, 0, "0", true}, {1, 0, "0", false}, {0, 1, "0", false}, {3, 2, "5", true}, {3, 3, "5", false}, {1, 0, "1%", true}, {1, 1, "1%", false}} {
		allow, err := measure.ParseAllowance(c.allow)
		if err != nil {
			t.Fatal(err)
		}
		res := &measure.Result{Phases: []measure.Phase{{
			Name: "run", Kinds: []measure.Kind{{Kind: "READ", Counts: measure.Counts{Offered: 100, Completed: 100}}},
			Check: &measure.Check{Values: 1000, Mismatched: c.mismatched, Stale: c.stale},
		}}}
		err = outcome(res, nil, allow)
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
		var coded *exit.Error
		if !c.ok && (!errors.As(err, &coded) || coded.Code != exit.Errors || !strings.Contains(err.Error(), "phase run: of 100 operations")) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}
