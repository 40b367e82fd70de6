package replay_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"pianola/replay/measure"
	"pianola/traces/tracetest"
)

// A generator that shares its only core with others is late, and its result
// says so: of a database that does nothing it is the generator's own fault, of
// one in the same process it can't be told whose.
func TestABusyNeighbourIsFoundOut(t *testing.T) {
	for _, c := range []struct {
		database   string
		neighbours int
		words      []string
	}{
		{"null", 3, []string{measure.GeneratorLimited}},
		// Beyond 10 ms of lag the database is no excuse any more.
		{"memory", 1, []string{measure.SharedCPU, measure.GeneratorLimited}},
	} {
		t.Run(c.database, func(t *testing.T) {
			p := replayBeside(t, c.database, c.neighbours)
			all := total(t, p)
			t.Logf("lag p99 %v, run queue %v of %v: %s %q", all.Lag.Quantile(measure.P99).Value, p.Health.RunQueue, p.Length, p.Verdict.Word, p.Verdict.Reasons)
			for _, word := range c.words {
				if p.Verdict.Word == word {
					return
				}
			}
			t.Errorf("verdict %q, want one of %q", p.Verdict.Word, c.words)
		})
	}
}

// replayBeside replays two seconds in a process on one core, beside processes
// that do nothing but keep it busy.
func replayBeside(t *testing.T, database string, neighbours int) *measure.Phase {
	t.Helper()
	for range neighbours {
		busy := exec.Command("taskset", "-c", "0", "sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatalf("%v; taskset is of Debian's package util-linux", err)
		}
		t.Cleanup(func() {
			busy.Process.Kill()
			busy.Wait()
		})
	}
	h, ops := twoSeconds()
	cmd := exec.Command("taskset", "-c", "0", os.Args[0])
	cmd.Env = append(os.Environ(), "REPLAY_TEST_CHILD="+tracetest.File(t, h, ops), "REPLAY_TEST_SLOTS=100", "REPLAY_TEST_DATABASE="+database)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var res measure.Result
	if err := json.Unmarshal(out, &res); err != nil {
		t.Fatal(err)
	}
	return &checked(t, &res).Phases[0]
}
