package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pianola/replay/measure"
)

func TestTextFitsThePage(t *testing.T) {
	for name, r := range results() {
		for i, line := range strings.Split(render(t, "text", r), "\n") {
			if width(line) > pageWidth {
				t.Errorf("%s: line %d is %d characters wide: %s", name, i+1, width(line), line)
			}
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%s: line %d ends in blanks: %q", name, i+1, line)
			}
			if plain(line) != line {
				t.Errorf("%s: line %d holds what does not show: %q", name, i+1, line)
			}
		}
	}
}

// parse reads a duration as FormatDuration prints it.
func parse(t *testing.T, number, unit string) time.Duration {
	t.Helper()
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatal(err)
	}
	size, ok := map[string]time.Duration{"ns": 1, "µs": µs, "ms": ms, "s": time.Second, "min": time.Minute, "h": time.Hour}[unit]
	if !ok {
		t.Fatalf("unknown unit %q", unit)
	}
	return time.Duration(math.Round(x * float64(size)))
}

func TestFormatQuantile(t *testing.T) {
	value := 1230 * µs
	for _, c := range []struct {
		q         measure.Q
		v         measure.Quantile
		completed uint64
		want      string
	}{
		{measure.P99, measure.Quantile{Value: value, Beyond: 10}, 1000, "1.23 ms"},
		{measure.P99, measure.Quantile{Value: value, Beyond: 9}, 900, "~1.23 ms"},
		{measure.P99, measure.Quantile{Value: value, Beyond: 1}, 100, "~1.23 ms"},
		{measure.P99, measure.Quantile{Value: value}, 50, "n/a"},
		{measure.Max, measure.Quantile{Value: value}, 50, "1.23 ms"},
		{measure.P99, measure.Quantile{None: true}, 0, "n/a"},
		{measure.Max, measure.Quantile{None: true}, 0, "n/a"},
		{measure.P99, measure.Quantile{Value: value, Above: "failed", Beyond: 100}, 50, "> 1.23 ms (failed)"},
		{measure.P99, measure.Quantile{Value: value, Above: "censored", Beyond: 1}, 50, "> 1.23 ms (censored)"},
		{measure.P99, measure.Quantile{Value: value, Above: "unsent"}, 50, "> 1.23 ms (unsent)"},
		{measure.Max, measure.Quantile{Value: value, Above: "dropped"}, 50, "> 1.23 ms (dropped)"},
		{measure.Max, measure.Quantile{Above: "failed"}, 0, "> n/a (failed)"},
	} {
		if got := FormatQuantile(c.q, c.v, c.completed); got != c.want {
			t.Errorf("quantile %d, %+v prints as %q, want %q", c.q, c.v, got, c.want)
		}
	}
}

// first returns the first line of the text report.
func first(t *testing.T, r *measure.Result) string {
	line, _, _ := strings.Cut(render(t, "text", r), "\n")
	return line
}

func TestWhatForbidsTheFiguresComesFirst(t *testing.T) {
	if got := first(t, healthy()); got != "verdict on phase run: VALID" {
		t.Errorf("first line %q", got)
	}
	r := healthy()
	r.Partial = true
	if got := first(t, r); !strings.HasPrefix(got, "PARTIAL: the run was interrupted.") {
		t.Errorf("first line %q", got)
	}
	r.Phases[0].Digest.Status = measure.DigestMismatch
	if got := first(t, r); !strings.HasPrefix(got, "DIGEST MISMATCH: the ops replayed in phase run are not those") {
		t.Errorf("first line %q", got)
	}
	r.Void = "it broke"
	if got := first(t, r); got != "VOID: it broke. None of these figures may be used." {
		t.Errorf("first line %q", got)
	}
	if got := first(t, closedLoop()); got != "CLOSED LOOP (--asap): service time and maximum throughput, NOT response under load." {
		t.Errorf("first line %q", got)
	}
}

func TestEveryReportNamesTheLaw(t *testing.T) {
	r := healthy()
	for _, name := range Names() {
		reporter, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(render(t, name, r)+reporter.Notice(r)), " ")
		if !strings.Contains(got, r.Phases[0].KeyLaw) {
			t.Errorf("%s does not name the law %q", name, r.Phases[0].KeyLaw)
		}
	}
}

func TestTheAchievedRateCountsTheCompleted(t *testing.T) {
	got := render(t, "text", failing())
	if !strings.Contains(got, "achieved 980 op/s completed of 1000 op/s offered") {
		t.Errorf("no such rate in\n%s", got)
	}
}

func TestWideTablesGoOnBelow(t *testing.T) {
	var p page
	row := []string{"READ"}
	for i := range 7 {
		row = append(row, fmt.Sprintf("> 12%d ms (censored)", i))
	}
	p.table(2, [][]string{{"response", "a", "b", "c", "d", "e", "f", "g"}, row})
	want := `
  response                    a                    b                    c                    d
  READ      > 120 ms (censored)  > 121 ms (censored)  > 122 ms (censored)  > 123 ms (censored)

  response                    e                    f                    g
  READ      > 124 ms (censored)  > 125 ms (censored)  > 126 ms (censored)
`
	if got := "\n" + p.String(); got != want {
		t.Errorf("got%swant%s", got, want)
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"a µ … b": "a µ … b", "a\nb": `a\nb`, "\x1b[31m": `\x1b[31m`, "a\xffb": `a\xffb`, "": "", `say "x"`: `say "x"`,
	} {
		if got := plain(in); got != want {
			t.Errorf("%q prints as %q, want %q", in, got, want)
		}
	}
}
