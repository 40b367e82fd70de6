//go:build quiet

package replay_test

import (
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/null"
	"pianola/bindings/pebble"
	"pianola/replay/measure"
	"pianola/traces"
	"pianola/traces/tracetest"
)

// On a quiet machine no verdict but valid falls on a healthy run, in 20
// repetitions on each database. It is no part of the usual tests, since the
// machines that those run on are not quiet.
func TestQuietRunsAreValid(t *testing.T) {
	const repetitions = 20
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	ops := append(tracetest.Inserts(1000), tracetest.Reads(1, 3000, time.Millisecond, 1000)...)
	path := tracetest.File(t, h, ops)
	for _, driver := range []*bindings.Driver{&null.Driver, &pebble.Driver} {
		t.Run(driver.Name, func(t *testing.T) {
			for i := range repetitions {
				p := quietRun(t, path, driver)
				all := total(t, p)
				t.Logf("%2d: %s, lag p99 %v, response p99 %v", i+1, p.Verdict.Word, all.Lag.Quantile(measure.P99).Value, all.ResponseQuantile(measure.P99).Value)
				if p.Verdict.Word != measure.Valid {
					t.Errorf("run %d of %d: %s %q", i+1, repetitions, p.Verdict.Word, p.Verdict.Reasons)
				}
			}
		})
	}
}

func quietRun(t *testing.T, path string, driver *bindings.Driver) *measure.Phase {
	t.Helper()
	trace, err := traces.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	r := runnerOn(t, driver)
	r.Trace = trace
	res := realTime(t, r)
	return &res.Phases[1]
}
