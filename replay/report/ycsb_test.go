package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pianola/bindings"
	"pianola/replay/measure"
	"pianola/traces"
)

// figures parses a report into metric, measurement and value.
func figures(t *testing.T, r *measure.Result) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, line := range strings.Split(strings.TrimSuffix(render(t, "ycsb", r), "\n"), "\n") {
		parts := strings.Split(line, ", ")
		if len(parts) != 3 || !strings.HasPrefix(parts[0], "[") || !strings.HasSuffix(parts[0], "]") {
			t.Fatalf("line %q", line)
		}
		x, err := strconv.ParseFloat(parts[2], 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatalf("line %q: %v", line, err)
		}
		key := parts[0] + " " + parts[1]
		if _, twice := out[key]; twice {
			t.Errorf("%s stands twice", key)
		}
		out[key] = x
	}
	return out
}

func TestYCSBPercentilesOfARamp(t *testing.T) {
	got := figures(t, ramp())
	for _, name := range []string{"[READ] ", "[Intended-READ] "} {
		for measurement, want := range map[string]float64{
			"Operations": 100_000, "AverageLatency(us)": 50_000.5, "MinLatency(us)": 1, "MaxLatency(us)": 100_000,
			"50thPercentileLatency(us)": 50_000, "95thPercentileLatency(us)": 95_000, "99thPercentileLatency(us)": 99_000,
		} {
			x, ok := got[name+measurement]
			if !ok || math.Abs(x-want)/want > 0.001 {
				t.Errorf("%s%s is %v, want %v", name, measurement, x, want)
			}
		}
	}
	if got["[OVERALL] Throughput(ops/sec)"] != 1000 || got["[OVERALL] RunTime(ms)"] != 100_000 {
		t.Errorf("overall %v op/s in %v ms", got["[OVERALL] Throughput(ops/sec)"], got["[OVERALL] RunTime(ms)"])
	}
}

// Every op that was answered is in exactly one Return line.
func TestReturnLinesCountEveryAnswer(t *testing.T) {
	for name, r := range results() {
		got := figures(t, r)
		for i := range r.Phases {
			if r.Phases[i].Name != "run" {
				continue
			}
			for _, k := range r.Phases[i].Kinds {
				var returned float64
				for _, status := range statuses {
					returned += got["["+ycsbName(k.Kind)+"] Return="+status.name]
				}
				if want := float64(k.Counts.Completed + k.Counts.Failed); returned != want {
					t.Errorf("%s: %v answers of %s, want %v", name, returned, k.Kind, want)
				}
				if got := got["["+ycsbName(k.Kind)+"] Operations"]; got != float64(k.Counts.Completed) {
					t.Errorf("%s: %v operations of %s, want the %d completed", name, got, k.Kind, k.Counts.Completed)
				}
			}
		}
	}
}

func TestEveryClassHasAStatus(t *testing.T) {
	want := map[bindings.Class]string{
		bindings.NotFound: "NOT_FOUND", bindings.Duplicate: "ERROR", bindings.Timeout: "ERROR", bindings.Overloaded: "SERVICE_UNAVAILABLE",
		bindings.Unavailable: "SERVICE_UNAVAILABLE", bindings.Unauthorised: "FORBIDDEN", bindings.Invalid: "BAD_REQUEST", bindings.Other: "ERROR",
	}
	for class := bindings.OK + 1; class < bindings.ClassLimit; class++ {
		listed := false
		for _, status := range statuses {
			for _, c := range status.classes {
				listed = listed || c == class
			}
		}
		if got := statusOf(class.String()); !listed || got != want[class] {
			t.Errorf("%v: status %s, listed %v, want %s", class, got, listed, want[class])
		}
	}
	if got := statusOf("of a later version"); got != "ERROR" {
		t.Errorf("an unknown class: %s", got)
	}
}

func TestYCSBReportsOnePhase(t *testing.T) {
	r := closedLoop()
	if got := render(t, "ycsb", r); !strings.Contains(got, "[READ], ") || strings.Contains(got, "[INSERT], ") {
		t.Errorf("of a whole run:\n%s", got)
	}
	r.Settings.Phase = traces.LoadPhase
	if got := render(t, "ycsb", r); !strings.Contains(got, "[INSERT], ") || strings.Contains(got, "[READ], ") {
		t.Errorf("of the load:\n%s", got)
	}
	r.Phases = r.Phases[1:]
	err := writeYCSB(&brokenWriter{}, r)
	if want := `ycsb report of phase "load": the result has phases ["run"] only`; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestTheNoticeSaysWhatIsLeftOut(t *testing.T) {
	r := broken()
	got := noticeYCSB(r)
	for _, want := range []string{
		"834 of 1000 ops are left out of its percentiles (333 failed, 167 censored, 167 dropped, 167 unsent)",
		"verdict generator limited", "keys zipfian", "VOID: the trace broke", "DIGEST MISMATCH",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("notice %q lacks %q", got, want)
		}
	}
	if got := noticeYCSB(interrupted()); !strings.Contains(got, "PARTIAL: interrupted") {
		t.Errorf("notice %q", got)
	}
}

func TestJavaDouble(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 98.91196834817013: "98.91196834817013", 1.22e7: "1.22E7", 1e7: "1.0E7", 9999999: "9999999.0",
		12345678.9: "1.23456789E7", 0.001: "0.001", 0.00099: "9.9E-4", 1e-10: "1.0E-10", 123456.789: "123456.789", 1e23: "1.0E23",
		1.7976931348623157e308: "1.7976931348623157E308", -2e-7: "-2.0E-7", 100: "100.0", 1e100: "1.0E100",
	} {
		if got := javaDouble(x); got != want {
			t.Errorf("%v prints as %s, want %s", x, got, want)
		}
	}
}
