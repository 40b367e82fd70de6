package report

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pianola/bindings"
	"pianola/replay/measure"
	"pianola/traces"
)

// series are the quantiles that a report gives under one name: ns by label.
type series map[string]float64

// The readers below take all quantiles from a report, each by what stands
// written there and without the code that wrote it.
var quantileReaders = map[string]func(t *testing.T, r *measure.Result) map[string]series{
	"text": textSeries, "ycsb": ycsbSeries, "json": jsonSeries, "hdr": hdrSeries, "csv": csvSeries, "bench": benchSeries,
}

var (
	textHead = regexp.MustCompile(`^  (response|wait|lag|service) .*p\d`)
	textCell = regexp.MustCompile(`> n/a \(\w+\)|n/a|(?:> |~)?([\d.]+) (ns|µs|ms|s|min|h)\b(?: \(\w+\))?`)
)

func textSeries(t *testing.T, r *measure.Result) map[string]series {
	out := map[string]series{}
	var phase, part string
	var labels []string
	for _, line := range strings.Split(render(t, "text", r), "\n") {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "phase "):
			phase, _, _ = strings.Cut(fields[1], ":")
		case textHead.MatchString(line):
			part, labels = fields[0], fields[1:]
		case len(fields) < 2 || !strings.HasPrefix(line, "  "):
			labels = nil
		case labels != nil:
			cells := textCell.FindAllStringSubmatch(strings.TrimPrefix(line, "  "+fields[0]), -1)
			if len(cells) != len(labels) {
				t.Fatalf("%d cells under %d labels: %s", len(cells), len(labels), line)
			}
			name := phase + " " + part + " " + fields[0]
			if out[name] == nil {
				out[name] = series{}
			}
			for i, cell := range cells {
				if cell[1] != "" {
					out[name][labels[i]] = float64(parse(t, cell[1], cell[2]))
				}
			}
		}
	}
	return out
}

func ycsbSeries(t *testing.T, r *measure.Result) map[string]series {
	out := map[string]series{}
	for key, x := range figures(t, r) {
		name, measurement, _ := strings.Cut(key, "] ")
		label, ok := map[string]string{
			"50thPercentileLatency(us)": "p50", "95thPercentileLatency(us)": "p95", "99thPercentileLatency(us)": "p99", "MaxLatency(us)": "max",
		}[measurement]
		if !ok {
			continue
		}
		if out[name] == nil {
			out[name] = series{}
		}
		out[name][label] = x * 1000
	}
	return out
}

func csvSeries(t *testing.T, r *measure.Result) map[string]series {
	out := map[string]series{}
	for _, row := range table(t, r) {
		name := strings.Join([]string{row["span"], row["phase"], row["kind"], row["start_ns"]}, " ")
		out[name] = series{}
		for label, cell := range row {
			label, isTime := strings.CutSuffix(label, "_ns")
			if cell = strings.TrimPrefix(cell, ">"); isTime && cell != "" && (label[0] == 'p' || label == "max") {
				out[name][label] = number(t, cell)
			}
		}
	}
	return out
}

func benchSeries(t *testing.T, r *measure.Result) map[string]series {
	out := map[string]series{}
	for _, line := range parseBench(t, render(t, "bench", r)) {
		out[line.name] = series{}
		for unit, x := range line.values {
			if label, isTime := strings.CutSuffix(unit, "-ns"); isTime {
				out[line.name][label] = x
			}
		}
	}
	return out
}

// percentOf are the percentages behind the labels, as the library takes them.
var percentOf = map[string]float64{"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p99.9": 99.9, "p99.99": 99.99, "max": 100}

func librarySeries(h *hdrhistogram.Histogram) series {
	out := series{}
	for label, percent := range percentOf {
		if h.TotalCount() > 0 {
			out[label] = float64(h.ValueAtQuantile(percent))
		}
	}
	return out
}

func hdrSeries(t *testing.T, r *measure.Result) map[string]series {
	sums := map[string]*hdrhistogram.Histogram{}
	reader := hdrhistogram.NewHistogramLogReader(strings.NewReader(render(t, "hdr", r)))
	for {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		if sums[h.Tag()] == nil {
			sums[h.Tag()] = hdrhistogram.New(1, 1e15, 3)
		}
		if dropped := sums[h.Tag()].Merge(h); dropped > 0 {
			t.Fatalf("tag %q: %d values dropped", h.Tag(), dropped)
		}
	}
	out := map[string]series{}
	for tag, h := range sums {
		out[tag] = librarySeries(h)
	}
	return out
}

func jsonSeries(t *testing.T, r *measure.Result) map[string]series {
	type histogram struct {
		HDR   string `json:"hdr"`
		Count int64  `json:"count"`
	}
	var result struct {
		Phases []struct {
			Name  string
			Kinds []struct {
				Kind                         string
				Response, Service, Wait, Lag histogram
			}
		}
	}
	if err := json.Unmarshal([]byte(render(t, "json", r)), &result); err != nil {
		t.Fatal(err)
	}
	out := map[string]series{}
	for _, phase := range result.Phases {
		for _, k := range phase.Kinds {
			for part, h := range map[string]histogram{"response": k.Response, "service": k.Service, "wait": k.Wait, "lag": k.Lag} {
				if h.Count == 0 {
					continue
				}
				decoded, err := hdrhistogram.Decode([]byte(h.HDR))
				if err != nil {
					t.Fatal(err)
				}
				out[phase.Name+" "+part+" "+k.Kind] = librarySeries(decoded)
			}
		}
	}
	return out
}

// In every form each percentile of 1 µs … 100000 µs is its exact rank within
// 0.1 %, and stands under its own label.
func TestEveryFormRanksARamp(t *testing.T) {
	labels := map[string][]string{"ycsb": {"p50", "p95", "p99", "max"}}
	// How many series are of the whole ramp: response and service, or response.
	want := map[string]int{"text": 2, "ycsb": 2, "json": 2, "hdr": 4, "csv": 2, "bench": 1}
	r := ramp()
	for _, form := range Names() {
		read := quantileReaders[form]
		if read == nil {
			t.Errorf("form %s is not tested", form)
			continue
		}
		ranked := 0
		for name, got := range read(t, r) {
			if strings.Contains(name, "wait") || strings.Contains(name, "lag") || strings.HasPrefix(name, "interval") {
				continue
			}
			ranked++
			of := labels[form]
			if of == nil {
				of = []string{"p50", "p90", "p95", "p99", "p99.9", "p99.99", "max"}
			}
			if len(got) != len(of) {
				t.Errorf("%s, %s: %v, want %v", form, name, got, of)
			}
			for _, label := range of {
				exact := percentOf[label] / 100 * float64(100_000*µs)
				if x, ok := got[label]; !ok || math.Abs(x-exact)/exact > 0.001 {
					t.Errorf("%s, %s: %s is %v ns, want %v", form, name, label, x, exact)
				}
			}
		}
		if ranked != want[form] {
			t.Errorf("%s: %d series of the ramp, want %d", form, ranked, want[form])
		}
	}
}

// Intervals have two significant figures, in every form that has intervals.
func TestIntervalsOfARun(t *testing.T) {
	rows := csvSeries(t, recorded(t, 2))
	got := rows["interval run READ 3000000000"] // 1000 ops of 1001 µs to 2000 µs
	for label, want := range map[string]float64{"p50": 1500_000, "p90": 1900_000, "p95": 1950_000, "p99": 1990_000, "p99.9": 1999_000, "max": 2000_000} {
		if math.Abs(got[label]-want)/want > 0.01 {
			t.Errorf("%s is %v, want %v", label, got[label], want)
		}
	}
	if _, ok := got["p99.99"]; ok {
		t.Errorf("p99.99 of 1000 ops is %v", got["p99.99"])
	}
	log := parseLog(t, render(t, "hdr", recorded(t, 2)))
	for _, l := range log.lines {
		if whole := strings.Contains(l.tag, "whole"); l.count() > 0 && (l.figures == 3) != whole || l.figures < 2 {
			t.Errorf("line %q has %d figures", l.tag, l.figures)
		}
	}
}

func TestQuantilesRise(t *testing.T) {
	order := []string{"p50", "p90", "p95", "p99", "p99.9", "p99.99", "max"}
	all := results()
	all["extreme"], all["recorded"] = extreme(), recorded(t, 2)
	for name, r := range all {
		for form, read := range quantileReaders {
			for of, got := range read(t, r) {
				last := 0.0
				for _, label := range order {
					x, ok := got[label]
					if ok && x < last {
						t.Errorf("%s, %s, %s: %s is %v, below %v", name, form, of, label, x, last)
					}
					if ok {
						last = x
					}
				}
			}
		}
	}
}

// recorded is a result whose figures a recorder of so many stripes made: 3 s of
// reads and inserts, of which some failed and one in a hundred is recorded on
// another stripe.
func recorded(t *testing.T, stripes int) *measure.Result {
	t.Helper()
	recorder := measure.NewRecorder(stripes)
	for i := range 3000 {
		due := time.Duration(i) * ms
		s := measure.Sample{Index: uint64(i), Kind: traces.Read, Due: due, Ready: due, Start: due + 500, Decided: due + time.Duration(i+1)*µs}
		if i >= 2000 {
			s.Kind = traces.Insert
		}
		if i%50 == 49 && i >= 2000 {
			s.Outcome, s.Class = measure.Failed, bindings.Timeout
		}
		at := 0
		if i%100 == 0 {
			at = i / 100
		}
		recorder.Offer(0, s.Kind, due)
		recorder.Record(at, &s)
	}
	p := pacedPhase(3)
	p.Length, p.Schedule, p.Backlog = 0, 0, measure.Backlog{}
	if err := recorder.Finish(&p); err != nil {
		t.Fatal(err)
	}
	r := newResult()
	r.Phases = []measure.Phase{p}
	judge(r)
	return r
}

func TestStripesDoNotShow(t *testing.T) {
	for _, form := range Names() {
		want := render(t, form, recorded(t, 1))
		for _, stripes := range []int{2, 64} {
			if got := render(t, form, recorded(t, stripes)); got != want {
				t.Errorf("the %s report of %d stripes:\n%s\nof one:\n%s", form, stripes, got, want)
			}
		}
	}
}

// extreme has responses at and beyond both ends of what a histogram tells apart.
func extreme() *measure.Result {
	p := pacedPhase(10)
	for _, service := range []time.Duration{0, 1, 2 * time.Hour, 20 * 24 * time.Hour, 1 << 62} {
		record(&p, fate{kind: "READ", service: service})
	}
	return newResult(p)
}

// A response longer than any bucket is completed, and the longest is exact.
func TestTheLongestResponseIsExact(t *testing.T) {
	const longest = 1 << 62
	r := extreme()
	for form, want := range map[string]string{
		"text":  measure.FormatDuration(longest),
		"ycsb":  fmt.Sprintf("[Intended-READ], MaxLatency(us), %d\n", longest/1000),
		"json":  fmt.Sprintf("\"max_ns\": %d,", longest),
		"hdr":   fmt.Sprintf(",%d.%06d,HISTF", longest/1_000_000, longest%1_000_000),
		"csv":   fmt.Sprintf(",%d,true,", longest),
		"bench": fmt.Sprintf(" %d max-ns ", longest),
	} {
		if got := render(t, form, r); !strings.Contains(got, want) {
			t.Errorf("the %s report lacks %q:\n%s", form, want, got)
		}
	}
	if row := table(t, r)[0]; row["completed"] != "5" || row["min_ns"] != "0" || row["failed"] != "0" {
		t.Errorf("%v", row)
	}
	if n := figures(t, r)["[READ] Operations"]; n != 5 {
		t.Errorf("%v operations", n)
	}
}

// Nothing to report is reported as nothing.
func TestNoFigureStandsForNone(t *testing.T) {
	wrong := regexp.MustCompile(`NaN|[+-]?Inf\b|9223372036854775807|9\.2e\+?18|(^|[ ,:])-\d`)
	encoded := regexp.MustCompile(`HISTF[A-Za-z0-9+/=]+`)
	all := results()
	all["nothing"] = &measure.Result{Schema: measure.SchemaVersion}
	stuck := single()
	stuck.Phases[0].Intervals = slices.Insert(stuck.Phases[0].Intervals, 0, measure.Interval{Due: 3})
	all["stuck"] = stuck
	lost := pacedPhase(1)
	for range 100 {
		record(&lost, fate{kind: "READ", outcome: "unsent"})
	}
	all["lost"] = newResult(lost)
	for name, r := range all {
		for _, form := range Names() {
			if name == "nothing" && form == "ycsb" {
				continue // of no phase
			}
			for line := range strings.Lines(encoded.ReplaceAllString(render(t, form, r), "")) {
				if found := wrong.FindString(line); found != "" {
					t.Errorf("%s, %s: %q in %s", name, form, found, line)
				}
			}
		}
	}
}
