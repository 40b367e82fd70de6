package replay

import (
	"math"
	"testing"
	"time"
)

// TestDeadlinesInTheStateWord: the watch sees an op's deadline from its
// announcement on, never gives it up before, and does so within one unit behind.
func TestDeadlinesInTheStateWord(t *testing.T) {
	for _, deadline := range []time.Duration{0, 1, deadlineUnit - 1, deadlineUnit, 10 * time.Second, 1000*time.Hour + 1, math.MaxInt64} {
		s := &slot{deadline: deadline}
		s.announce()
		if word := s.state.Load(); stateOf(word) != idle || deadlineOf(word) < deadline || deadlineOf(word)-deadline >= deadlineUnit {
			t.Errorf("%v: announced as %v, state %d", deadline, deadlineOf(word), stateOf(word))
		}
		counted := 0
		count := func(*slot) { counted++ }
		s.expire(math.MaxInt64, count)
		s.begin()
		s.expire(deadline-1, count)
		if counted > 0 || stateOf(s.state.Load()) != inFlight {
			t.Errorf("%v: given up before", deadline)
		}
		s.expire(saturatingAdd(deadline, deadlineUnit), count)
		s.expire(math.MaxInt64, count)
		if counted != 1 || s.end() || stateOf(s.state.Load()) != idle {
			t.Errorf("%v: counted %d times", deadline, counted)
		}
		s.begin()
		if !s.end() {
			t.Errorf("%v: the next op has no end", deadline)
		}
		s.forgetDeadline()
		if got := deadlineOf(s.state.Load()); got >= deadlineUnit {
			t.Errorf("%v: %v is left behind the phase", deadline, got)
		}
	}
}
