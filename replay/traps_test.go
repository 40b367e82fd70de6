package replay_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pianola/replay/measure"
	"pianola/replay/report"
	"pianola/traces/tracetest"
)

// traps are ways in which load generators have misled their users, each with
// the tests that show that we don't.
var traps = []struct {
	trap  string
	tests []string
}{
	{"a log writer puts milliseconds for seconds, and the end of an interval for its length", []string{"TestLogLinesHaveTheirStartsAndLengths", "TestLogsAreReadByTheLibrary", "TestAJavaLogIsReadByTheSameReader"}},
	{"a library takes quantiles from 0 to 100 and is asked for 0.9", []string{"TestEveryFormRanksARamp", "TestAtRankIsTheRankthSmallest", "TestNobodyAsksTheLibraryForAQuantile"}},
	{"a log begins in 1970, or mixes base and start times, and is read as empty", []string{"TestLogLinesHaveTheirStartsAndLengths", "TestLogLinesAddUp"}},
	{"one log mixes seconds, milliseconds and nanoseconds without saying so", []string{"TestLogLinesHaveTheirStartsAndLengths"}},
	{"a response beyond the histogram's range counts as an error, or ends the run", []string{"TestAResponseOfHoursStaysCompletedAndExact", "TestTheLongestResponseIsExact"}},
	{"the end of the range is printed as if it had been measured", []string{"TestTheEndOfTheRangeIsNeverAValue", "TestFailuresRankAboveEveryCompletedOp"}},
	{"values outside the range are taken in silence, and figures are NaN or absurd", []string{"TestExtremesAreExact", "TestNegativeDurationsCountAsZero", "TestNoFigureStandsForNone"}},
	{"the totals hold no figures though their parts do", []string{"TestTotalIsTheMergeOfTheKinds", "TestLogLinesAddUp", "TestTableRowsAddUp"}},
	{"a counter of bytes passes 32 bits", []string{"TestCountersPass32Bits"}},
	{"the wall clock is set in the middle of a run", []string{"TestTheClockIsMonotonic", "TestNobodyReadsTheWallClock"}},
	{"a table of percentiles falls, or repeats a share with another value", []string{"TestQuantilesRise", "TestQuantilesNeverFall"}},
	{"samples of several recorders are pooled without their weights", []string{"TestStripesDoNotShow", "TestMergeDoesNotDependOnTheNumberOfRecorders"}},
	{"a percentile is the greatest of the windows' percentiles, or of six samples", []string{"TestABadWindowIsNotTheWholeRun", "TestFormatQuantile"}},
	{"a column holds another figure than its label says", []string{"TestEveryFormRanksARamp"}},
	{"the figures are those of the generator's own machine", []string{"TestABusyNeighbourIsFoundOut", "TestAStoppedGeneratorIsFoundOut"}},
	{"one slot can't issue the rate that was asked for, and nobody says so", []string{"TestOneSlotThatCantKeepTheRateSaysSo", "TestSimulations"}},
	{"the first interval is what a warm-up has left of it", []string{"TestIntervalsBeginWithTheirPhase", "TestTheLastIntervalHasItsTrueLength"}},
	{"failures count as throughput, and a server that died passes for a run", []string{"TestFailuresAreNoThroughput", "TestTheAchievedRateCountsTheCompleted", "Kill"}},
}

// The tests named are there.
func TestEveryTrapHasItsTests(t *testing.T) {
	known := map[string]bool{}
	eachFile(t, "..", func(name string, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				known[f.Name.Name] = true
			}
		}
	})
	for _, trap := range traps {
		for _, name := range trap.tests {
			if !known[name] {
				t.Errorf("%s: there is no test %s", trap.trap, name)
			}
		}
	}
}

// eachFile parses every Go file below dir.
func eachFile(t *testing.T, dir string, f func(name string, file *ast.File)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		f(filepath.ToSlash(path), file)
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files below %s: %v", files, dir, err)
	}
}

// uses counts by file how often the code, tests aside, names one of the given
// functions or methods.
func uses(t *testing.T, names ...string) map[string]int {
	t.Helper()
	out := map[string]int{}
	eachFile(t, ".", func(path string, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			for _, name := range names {
				if ok && s.Sel.Name == name {
					out[path]++
				}
			}
			return true
		})
	})
	return out
}

// Quantiles are taken in one place, by rank: the library's own are not used.
func TestNobodyAsksTheLibraryForAQuantile(t *testing.T) {
	for path, n := range uses(t, "ValueAtQuantile", "ValueAtPercentile", "ValueAtPercentiles", "ValueAtPercentilesSlice", "CumulativeDistribution") {
		t.Errorf("%s asks %d times", path, n)
	}
}

// The wall clock is read once, to say when a run began; what counts time does
// so from the clock's start.
func TestNobodyReadsTheWallClock(t *testing.T) {
	reads := map[string]int{}
	eachFile(t, ".", func(path string, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Now" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
					reads[path]++
				}
			}
			return true
		})
	})
	want := map[string]int{"clock.go": 1, "run_phase.go": 1}
	for path, n := range reads {
		if want[path] != n {
			t.Errorf("%s reads the wall clock %d times, want %d", path, n, want[path])
		}
	}
	if len(reads) != len(want) {
		t.Errorf("the wall clock is read in %v, want %v", reads, want)
	}
}

// 100 ops a second are asked of one slot that takes 33 ms for each.
func TestOneSlotThatCantKeepTheRateSaysSo(t *testing.T) {
	h := tracetest.Header(tracetest.Run(100))
	r := nullRunner(t, h, tracetest.Reads(0, 300, 10*time.Millisecond, 100), "service=33ms")
	r.Slots = 1
	res := stepped(t, r)
	p := &res.Phases[0]
	if p.Verdict.Word != measure.Saturated {
		t.Errorf("verdict %q", p.Verdict.Word)
	}
	page := textOf(t, res)
	for _, want := range []string{"verdict on phase run: SATURATED", "Ops waited for one of 1 slots", "achieved 30.3 op/s completed of 100 op/s offered"} {
		if !strings.Contains(strings.Join(strings.Fields(page), " "), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

func textOf(t *testing.T, res *measure.Result) string {
	t.Helper()
	form, err := report.ByName("text")
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := form.Write(&page, res); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// In one of 60 windows of a second nothing is answered: its p95 is 950 ms, that
// of the run is not.
func TestABadWindowIsNotTheWholeRun(t *testing.T) {
	h := tracetest.Header(tracetest.Run(100))
	p := &stepped(t, nullRunner(t, h, tracetest.Reads(0, 6000, 10*time.Millisecond, 100), "stall=30s:1s")).Phases[0]
	k := &p.Kinds[0]
	if q := k.ResponseQuantile(measure.P95).Value; q != 0 {
		t.Errorf("p95 of the run is %v", q)
	}
	// 60 of 6000 ops are above p99; the stall held 100, the shortest 10 ms.
	if q := k.ResponseQuantile(measure.P99).Value; !within(q, 400*time.Millisecond, 0) {
		t.Errorf("p99 of the run is %v, want 400 ms", q)
	}
	if len(p.Intervals) != 60 {
		t.Fatalf("%d intervals", len(p.Intervals))
	}
	if q := p.Intervals[31].Kinds[0].Response.Quantile(measure.P95).Value; q < 450*time.Millisecond {
		t.Errorf("p95 of the window behind the stall is %v", q)
	}
}

// A warm-up of 2.5 s leaves no half interval to the run.
func TestIntervalsBeginWithTheirPhase(t *testing.T) {
	warmup := tracetest.Run(1000)
	warmup.Name = "warmup"
	h := tracetest.Header(warmup, tracetest.Run(1000))
	ops := append(tracetest.Reads(0, 2500, time.Millisecond, 100), tracetest.Reads(1, 3300, time.Millisecond, 100)...)
	res := stepped(t, nullRunner(t, h, ops))
	for i, want := range [][]measure.Interval{
		{{Start: 0, Length: time.Second, Due: 1000}, {Start: time.Second, Length: time.Second, Due: 1000}, {Start: 2 * time.Second, Length: 499 * time.Millisecond, Due: 500}},
		{{Start: 0, Length: time.Second, Due: 1000}, {Start: time.Second, Length: time.Second, Due: 1000}, {Start: 2 * time.Second, Length: time.Second, Due: 1000},
			{Start: 3 * time.Second, Length: 299 * time.Millisecond, Due: 300}},
	} {
		got := res.Phases[i].Intervals
		if len(got) != len(want) {
			t.Fatalf("phase %d has %d intervals", i, len(got))
		}
		for j, iv := range got {
			if iv.Start != want[j].Start || iv.Length != want[j].Length || iv.Due != want[j].Due {
				t.Errorf("phase %d, interval %d: from %v, %v long, %d due", i, j, iv.Start, iv.Length, iv.Due)
			}
		}
	}
}

// Half the ops fail at once: the throughput is that of the others.
func TestFailuresAreNoThroughput(t *testing.T) {
	h := tracetest.Header(tracetest.Run(1000))
	res := stepped(t, nullRunner(t, h, tracetest.Reads(0, 10_001, time.Millisecond, 100), "fail=0.5"))
	c := total(t, &res.Phases[0]).Counts
	if c.Completed+c.Failed != 10_001 || c.Completed < 4700 || c.Completed > 5300 {
		t.Fatalf("%+v", c)
	}
	page := textOf(t, res)
	want := "achieved " + measure.FormatNumber(float64(c.Completed)/10) + " op/s completed of 1000 op/s offered"
	if !strings.Contains(page, want) {
		t.Errorf("no %q in\n%s", want, page)
	}
	if !strings.Contains(page, "ERRORS: of phase run") {
		t.Errorf("no errors in\n%s", page)
	}
}
