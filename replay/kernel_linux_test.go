package replay

import (
	"slices"
	"testing"
	"time"
)

func TestCPUBusyLeavesOutWaiting(t *testing.T) {
	const stat = "cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 2 3 1000 2000 4 5 6 7 8\ncpu1 10 0 0 5 5 0 0 0 0 0\nintr 12 3\n"
	want := []time.Duration{21 * clockTick, 10 * clockTick}
	if got := parseCPUBusy(stat); !slices.Equal(got, want) {
		t.Errorf("busy %v, want %v", got, want)
	}
	for _, text := range []string{"", "cpu0 1 2\n", "cpu0 1 2 3 4 5 6 7 x\n"} {
		if got := parseCPUBusy(text); got != nil {
			t.Errorf("%q: busy %v", text, got)
		}
	}
}

func TestTheKernelTells(t *testing.T) {
	if got := cpuBusy(); len(got) == 0 {
		t.Error("no CPU is known")
	}
	policy, slack := scheduling()
	if policy == "" || slack != timerSlack {
		t.Errorf("scheduling %q, slack %v", policy, slack)
	}
	if clockSource() == "" {
		t.Error("the clock source is not known")
	}
}
