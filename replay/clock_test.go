package replay

import (
	"strings"
	"testing"
)

// The clock counts from a reading of the monotonic clock, which setting the
// wall clock doesn't change. Go's time prints that reading as m=.
func TestTheClockIsMonotonic(t *testing.T) {
	c := NewClock().(*realClock)
	if !strings.Contains(c.start.String(), " m=") {
		t.Errorf("the clock starts at %v", c.start)
	}
	if c.start.Round(0) == c.start {
		t.Error("the start has no monotonic reading")
	}
}
