package status

import (
	"strings"
	"testing"
	"time"
)

// shown returns what is written while the given texts are shown in turn.
func shown(terminal bool, width int, texts ...string) string {
	var out strings.Builder
	tick := make(chan time.Time)
	next := make(chan string, 1)
	l := start(&out, terminal, width, "replay", func() string { return <-next }, tick)
	for _, text := range texts {
		next <- text
		tick <- time.Time{}
	}
	l.Stop()
	return out.String()
}

// screen is the line that a terminal shows after s, up to where text was.
func screen(s string) string {
	var line []rune
	at := 0
	for _, r := range s {
		if r == '\r' {
			at = 0
			continue
		}
		if at == len(line) {
			line = append(line, r)
		} else {
			line[at] = r
		}
		at++
	}
	return strings.TrimRight(string(line), " ")
}

func TestATerminalHasOneLine(t *testing.T) {
	out := shown(true, 80, "a long first text", "short", "µs")
	if strings.Contains(out, "\n") {
		t.Errorf("a line ends in %q", out)
	}
	redrawn := strings.Split(out, "\r")
	if len(redrawn) != 6 { // nothing, three texts, blanks, nothing
		t.Fatalf("%q", redrawn)
	}
	for i, want := range []string{"", "a long first text", "short", "µs", ""} {
		if got := screen(strings.Join(redrawn[:i+1], "\r")); got != want {
			t.Errorf("redrawn %d times it shows %q, want %q", i, got, want)
		}
	}
}

// A longer line would wrap, and each redrawing leave one behind.
func TestALineFitsTheTerminal(t *testing.T) {
	out := shown(true, 10, strings.Repeat("µ", 30))
	for piece := range strings.SplitSeq(out, "\r") {
		if n := len([]rune(piece)); n > 9 {
			t.Errorf("%d characters in a terminal of 10: %q", n, piece)
		}
	}
	if !strings.Contains(out, strings.Repeat("µ", 9)) {
		t.Errorf("%q", out)
	}
	if out := shown(true, 0, strings.Repeat("x", 300)); !strings.Contains(out, strings.Repeat("x", 300)) {
		t.Errorf("a terminal of unknown width shows %q", out)
	}
}

func TestElsewhereLinesFollowEachOther(t *testing.T) {
	if got, want := shown(false, 0, "one", "", "two"), "replay: one\nreplay: two\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNothingIsShownOfNothing(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		if got := shown(terminal, 80, "", ""); got != "" {
			t.Errorf("%q", got)
		}
	}
}

func TestWorkThatEndsAtOnceShowsNothing(t *testing.T) {
	var out strings.Builder
	Start(&out, "replay", func() string { return "text" }).Stop()
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
}

func TestFar(t *testing.T) {
	for _, c := range []struct {
		done, of uint64
		elapsed  time.Duration
		want     string
	}{
		{250, 1000, 10 * time.Second, "250 of 1000 operations (25%), 25 per second, 30s left"},
		{0, 1000, time.Second, "0 of 1000 operations (0%), 0 per second"},
		{1000, 1000, time.Second, "1000 of 1000 operations (100%), 1000 per second, 0s left"},
		{5_000_000, 0, 2 * time.Second, "5000000 operations, 2.5 million per second"},
		{20_000, 40_000, time.Second, "20000 of 40000 operations (50%), 20 thousand per second, 1s left"},
		{7, 0, 0, "7 operations, 0 per second"},
	} {
		if got := Far(c.done, c.of, c.elapsed); got != c.want {
			t.Errorf("%d of %d in %v: %q, want %q", c.done, c.of, c.elapsed, got, c.want)
		}
	}
}

func TestLeft(t *testing.T) {
	for _, c := range []struct {
		done, of uint64
		elapsed  time.Duration
		want     string
	}{
		{1, 4, time.Minute, "3m0s"}, {0, 4, time.Minute, ""}, {5, 4, time.Minute, ""}, {4, 4, time.Minute, "0s"},
		{1, 1 << 62, time.Millisecond, ""},
	} {
		if got := Left(c.done, c.of, c.elapsed); got != c.want {
			t.Errorf("%d of %d in %v: %q, want %q", c.done, c.of, c.elapsed, got, c.want)
		}
	}
}
