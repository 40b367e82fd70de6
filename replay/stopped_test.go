//go:build unix

package replay_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"pianola/replay/measure"
	"pianola/traces/tracetest"
)

func TestAStoppedGeneratorIsFoundOut(t *testing.T) {
	// With more slots than ops come due meanwhile the delay is all lag. With
	// fewer most of it is wait: for slots that late ops held.
	for _, slots := range []int{2000, 1} {
		t.Run(describe(slots), func(t *testing.T) {
			p := replayStopped(t, slots)
			k := &p.Kinds[0]
			lag, wait := k.Lag.Quantile(measure.P99).Value, k.Wait.Quantile(measure.P99).Value
			t.Logf("lag p99 %v max %v, wait p99 %v, response p99 %v, verdict %s %v", lag, k.Lag.Max(), wait, k.ResponseQuantile(measure.P99).Value, p.Verdict.Word, p.Verdict.Reasons)
			if slots > 1 && (lag < 800*time.Millisecond || wait > time.Millisecond) {
				t.Errorf("lag p99 %v, want about 900 ms; wait p99 %v, want near 0", lag, wait)
			}
			if p.Health.Late < 900*time.Millisecond || p.Verdict.Word != measure.GeneratorLimited {
				t.Errorf("late for %v, want about 1 s; verdict %q", p.Health.Late, p.Verdict.Word)
			}
		})
	}
}

// replayStopped replays ten seconds in a process that is stopped for one.
func replayStopped(t *testing.T, slots int) *measure.Phase {
	h, ops := tenSeconds()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REPLAY_TEST_CHILD="+tracetest.File(t, h, ops), "REPLAY_TEST_SLOTS="+strconv.Itoa(slots))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(4 * time.Second)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	var res measure.Result
	if err := json.NewDecoder(out).Decode(&res); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return &checked(t, &res).Phases[0]
}
