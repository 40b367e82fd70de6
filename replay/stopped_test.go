//go:build unix

package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"pianola/bindings/null"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/traces"
	"pianola/traces/tracetest"
)

// child replays the trace named in the environment on null and prints the
// result; TestMain calls it in a process of its own.
func child() int {
	r, err := traces.Open(os.Getenv("REPLAY_TEST_CHILD"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	driver := null.Driver
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
	run := &replay.Runner{Trace: r, Driver: &driver, Binding: binding, Properties: p}
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

func TestAStoppedGeneratorIsFoundOut(t *testing.T) {
	h, ops := tenSeconds()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REPLAY_TEST_CHILD="+tracetest.File(t, h, ops))
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
	p := &checked(t, &res).Phases[0]
	k := &p.Kinds[0]
	lag, wait := k.Lag.Quantile(measure.P99).Value, k.Wait.Quantile(measure.P99).Value
	t.Logf("lag p99 %v max %v, wait p99 %v, response p99 %v, verdict %s %v", lag, k.Lag.Max(), wait, k.ResponseQuantile(measure.P99).Value, p.Verdict.Word, p.Verdict.Reasons)
	if lag < 800*time.Millisecond || wait > time.Millisecond {
		t.Errorf("lag p99 %v, want about 900 ms; wait p99 %v, want near 0", lag, wait)
	}
	if p.Verdict.Word != measure.GeneratorLimited {
		t.Errorf("verdict %q", p.Verdict.Word)
	}
}
