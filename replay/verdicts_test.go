//go:build quiet

package replay_test

import (
	"testing"
	"time"

	"pianola/replay"
	"pianola/replay/measure"
	"pianola/traces"
	"pianola/traces/tracetest"
)

// Each verdict on what it is a verdict on, in real time and on a quiet machine:
// on a busy one the verdict is that the generator was limited. The files of
// TestSimulations have the same verdicts on a stepped clock; stopped_test.go and
// neighbour_linux_test.go have the ones that a busy machine doesn't hide.

// verdictOf demands a verdict on phase run.
func verdictOf(t *testing.T, want string, attempt func() *measure.Phase) {
	t.Helper()
	untilQuiet(t, func() []string {
		p := attempt()
		if p.Verdict.Word != want {
			return append([]string{"verdict " + p.Verdict.Word + ", want " + want}, p.Verdict.Reasons...)
		}
		return nil
	})
}

func TestQuietDatabaseTooSlowIsSaturated(t *testing.T) {
	h, ops := twoSeconds()
	verdictOf(t, measure.Saturated, func() *measure.Phase {
		r := nullRunner(t, h, ops, "service=20ms") // 16 slots serve 800 of 1000 a second
		r.Slots = 16
		return &realTime(t, r).Phases[0]
	})
}

func TestQuietSlotIsFull(t *testing.T) {
	h, ops := twoSeconds()
	verdictOf(t, measure.SlotsFull, func() *measure.Phase {
		r := nullRunner(t, h, ops, "stall=500ms:200ms")
		r.Slots = 1
		return &realTime(t, r).Phases[0]
	})
}

// Ten writes of one key come at a time and take turns, 3 ms each; every tenth
// of a second there are reads of other keys between.
func TestQuietHotKeyIsOrderingLimited(t *testing.T) {
	h := tracetest.Header(tracetest.Run(100))
	var ops []traces.Op
	for i := range uint64(200) {
		ops = append(ops, traces.Op{Kind: traces.Update, Due: i / 10 * 100e6})
	}
	verdictOf(t, measure.OrderingLimited, func() *measure.Phase {
		r := nullRunner(t, h, ops, "service=3ms")
		r.Order = replay.KeyOrder
		p := &realTime(t, r).Phases[0]
		// The waits are those worked out on paper: 0, 3, … 27 ms for each ten.
		if got, want := orderWaits(p), 20*135*time.Millisecond; got < want {
			t.Errorf("the order waits sum to %v, want %v and what the machine adds", got, want)
		}
		return p
	})
}
