package report

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"pianola/replay/measure"
)

// benchLine is one line of results with the configuration it is read under.
type benchLine struct {
	name   string
	config map[string]string
	values map[string]float64
}

// parseBench reads a report by the letter of golang.org/design/14313 and of the
// documentation of golang.org/x/perf/benchfmt, and takes nothing else but blank
// lines and ones that begin with #.
func parseBench(t *testing.T, text string) []benchLine {
	t.Helper()
	config := map[string]string{}
	var out []benchLine
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		fields := strings.FieldsFunc(line, unicode.IsSpace)
		switch {
		case len(fields) == 0 || line[0] == '#':
		case fields[0] == "Unit":
			for _, f := range fields[2:] {
				if key, value, ok := strings.Cut(f, "="); !ok || key != "better" || value != "higher" {
					t.Errorf("line %q", line)
				}
			}
		case strings.HasPrefix(line, "Benchmark"):
			out = append(out, parseBenchLine(t, line, fields, config))
		default:
			key, value, found := strings.Cut(line, ":")
			first := []rune(line)[0]
			if !found || !unicode.IsLower(first) || strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsUpper(r) }) {
				t.Fatalf("line %q is no configuration", line)
			}
			if value != "" && value[0] != ' ' {
				t.Errorf("line %q: no blank behind the colon", line)
			}
			if delete(config, key); strings.TrimLeft(value, " \t") != "" {
				config[key] = strings.TrimLeft(value, " \t")
			}
		}
	}
	return out
}

func parseBenchLine(t *testing.T, line string, fields []string, config map[string]string) benchLine {
	t.Helper()
	out := benchLine{name: strings.TrimPrefix(fields[0], "Benchmark"), config: map[string]string{}, values: map[string]float64{}}
	if len(fields) < 4 || len(fields)%2 != 0 || !unicode.IsUpper([]rune(out.name)[0]) {
		t.Fatalf("line %q", line)
	}
	if n, err := strconv.Atoi(fields[1]); err != nil || n < 1 {
		t.Errorf("line %q: %d iterations, %v", line, n, err)
	}
	for i := 2; i < len(fields); i += 2 {
		if _, twice := out.values[fields[i+1]]; twice {
			t.Errorf("line %q: %s twice", line, fields[i+1])
		}
		out.values[fields[i+1]] = number(t, fields[i])
	}
	for key, value := range config {
		out.config[key] = value
	}
	return out
}

func TestBenchLines(t *testing.T) {
	lines := parseBench(t, render(t, "bench", failing()))
	if len(lines) != 3 || lines[0].name != "Replay/phase=run/kind=READ" || lines[2].name != "Replay/phase=run/kind=all" {
		t.Fatalf("%+v", lines)
	}
	for unit, want := range map[string]float64{
		"p95-ns": 639487, "ops/s": 980, "offered-ops": 10_000, "completed-ops": 9800, "failed-ops": 200, "expected-ops": 10,
	} {
		if got := lines[2].values[unit]; got != want {
			t.Errorf("%v %s, want %v", got, unit, want)
		}
	}
	// Those that fall on failed ops are no numbers.
	for _, unit := range []string{"p99-ns", "p99.9-ns", "max-ns", "unsent-ops"} {
		if got, ok := lines[2].values[unit]; ok {
			t.Errorf("%v %s", got, unit)
		}
	}
	for key, want := range map[string]string{
		"goos": "linux", "goarch": "amd64", "cpu": "AMD EPYC 9575F", "database": "redis", "slots": "1024", "rate": "1000 op/s", "arrivals": "constant",
		"trace": failing().Trace.Digest, "label-team": "storage", "label-change": "1234", "keys": failing().Phases[0].KeyLaw, "caveats": "",
	} {
		if got := lines[0].config[key]; got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// Figures that are not to be used as they stand are never in one table with
// others.
func TestBenchKeepsCaveatsApart(t *testing.T) {
	for name, want := range map[string]string{
		"healthy": "", "stalled": "", "saturated": "SATURATED", "interrupted": "PARTIAL: interrupted",
		"asap":   "CLOSED LOOP: service time and maximum throughput, not response under load",
		"broken": "VOID: the trace broke at byte 4711: unexpected EOF; DIGEST MISMATCH; GENERATOR LIMITED",
	} {
		for _, line := range parseBench(t, render(t, "bench", results()[name])) {
			if got := line.config["caveats"]; got != want {
				t.Errorf("%s: %s has the caveats %q, want %q", name, line.name, got, want)
			}
		}
	}
}

// What holds for one phase must not be read of the next.
func TestBenchConfigurationIsOfItsPhase(t *testing.T) {
	load, run := closedLoop(), healthy()
	run.Phases = append(load.Phases[:1], run.Phases...)
	lines := parseBench(t, render(t, "bench", run))
	if c := lines[0].config; c["rate"] != "" || c["arrivals"] != "" || c["caveats"] == "" || lines[0].name != "Replay/phase=load/kind=INSERT" {
		t.Errorf("%+v", lines[0])
	}
	if c := lines[1].config; c["rate"] != "1000 op/s" || c["arrivals"] != "constant" || c["caveats"] != "" {
		t.Errorf("%+v", lines[1])
	}
}

func TestBenchOfAnyNames(t *testing.T) {
	r := single()
	r.Phases[0].Name = "warm up/two"
	r.Labels = map[string]string{"Über Größe: B": " x\ny ", "X": ""}
	lines := parseBench(t, render(t, "bench", r))
	if len(lines) != 1 || lines[0].name != "Replay/phase=warm_up_two/kind=READMODIFYWRITE" {
		t.Fatalf("%+v", lines)
	}
	if got := lines[0].config["label-über_größe__b"]; got != `x\ny ` {
		t.Errorf("label %q in %v", got, lines[0].config)
	}
}

func TestBenchOfNothing(t *testing.T) {
	if lines := parseBench(t, render(t, "bench", empty())); len(lines) != 0 {
		t.Errorf("%+v", lines)
	}
	r := single()
	r.Phases[0].Length = 0
	lines := parseBench(t, render(t, "bench", r))
	if _, ok := lines[0].values["ops/s"]; ok || lines[0].values["max-ns"] != float64(460*time.Microsecond) {
		t.Errorf("%+v", lines)
	}
}

func TestTheNoticeSaysWhichQuantilesAreLeftOut(t *testing.T) {
	want := "bench report: left out, as they fall on ops that were not completed, are p99 p99.9 p99.99 max of READ in phase run (100 failed), " +
		"p99 p99.9 p99.99 max of UPDATE in phase run (100 failed), p99 p99.9 p99.99 max of all in phase run (200 failed)"
	if got := noticeBench(failing()); got != want {
		t.Errorf("notice %q, want %q", got, want)
	}
	if got := noticeBench(healthy()); got != "" {
		t.Errorf("notice %q", got)
	}
	if got := noticeBench(&measure.Result{}); got != "" {
		t.Errorf("notice %q", got)
	}
}
