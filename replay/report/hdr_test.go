package report

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pianola/replay/measure"
)

// logLine is one histogram of a log. Times are in seconds, buckets count by
// their least value.
type logLine struct {
	tag                string
	start, length, max float64
	figures            int64
	buckets            map[int64]int64
}

func (l *logLine) count() int64 {
	var n int64
	for _, c := range l.buckets {
		n += c
	}
	return n
}

// histogramLog is what a log holds.
type histogramLog struct {
	start, base float64
	comments    []string
	lines       []logLine
}

var (
	logStart = regexp.MustCompile(`^#\[StartTime: (\d+\.\d{3}) \(seconds since epoch\), [^\]]+\]$`)
	logBase  = regexp.MustCompile(`^#\[BaseTime: (\d+\.\d{3}) \(seconds since epoch\)\]$`)
	logData  = regexp.MustCompile(`^(?:Tag=([^, ]+),)?(\d+\.\d{3,6}),(\d+\.\d{3,6}),(\d+\.\d{3,6}),(HISTF[A-Za-z0-9+/]+=*)$`)
)

const logLegend = `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`

// parseLog reads a log by the letter of the format, version 1.3: comments with
// version, start and base time, then the legend, then lines of data only.
func parseLog(t *testing.T, text string) histogramLog {
	t.Helper()
	head, data, found := strings.Cut(text, logLegend+"\n")
	if !found || !strings.HasSuffix(text, "\n") {
		t.Fatalf("no legend, or no end, in\n%.500s", text)
	}
	var out histogramLog
	seen := map[string]int{}
	for line := range strings.Lines(head) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case !strings.HasPrefix(line, "#["):
			t.Fatalf("line %q before the legend", line)
		case line == "#[Histogram log format version 1.3]":
			seen["version"]++
		case logStart.MatchString(line):
			seen["start"]++
			out.start = number(t, logStart.FindStringSubmatch(line)[1])
		case logBase.MatchString(line):
			seen["base"]++
			out.base = number(t, logBase.FindStringSubmatch(line)[1])
		default:
			out.comments = append(out.comments, line)
		}
	}
	if want := map[string]int{"version": 1, "start": 1, "base": 1}; !maps.Equal(seen, want) {
		t.Errorf("comments %v, want %v", seen, want)
	}
	for line := range strings.Lines(data) {
		m := logData.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("line %q", line)
		}
		h, err := hdrhistogram.DecodePacked([]byte(m[5]))
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		l := logLine{tag: m[1], start: number(t, m[2]), length: number(t, m[3]), max: number(t, m[4]), figures: h.SignificantFigures(), buckets: map[int64]int64{}}
		for value, count := range h.ForEachBucket {
			l.buckets[value] = count
		}
		out.lines = append(out.lines, l)
	}
	return out
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// byTag adds up the buckets of all lines of each tag.
func (l histogramLog) byTag() map[string]map[int64]int64 {
	out := map[string]map[int64]int64{}
	for i := range l.lines {
		line := &l.lines[i]
		if out[line.tag] == nil {
			out[line.tag] = map[int64]int64{}
		}
		for value, n := range line.buckets {
			out[line.tag][value] += n
		}
	}
	return out
}

// javaLog is a log that HdrHistogram's own classes wrote.
func javaLog(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "hdrhistogram", "java.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The reader of these tests agrees with the format's origin.
func TestAJavaLogIsReadByTheSameReader(t *testing.T) {
	log := parseLog(t, javaLog(t))
	if log.start != 1772600767.8 || log.base != log.start || len(log.comments) != 1 {
		t.Errorf("start %v, base %v, comments %q", log.start, log.base, log.comments)
	}
	want := []logLine{
		{start: 2, length: 1, max: 60.031}, {start: 3, length: 0.25, max: 100.008}, {start: 3.25, length: 1, max: 0},
	}
	counts := []int64{60_000, 40_000, 0}
	if len(log.lines) != 2*len(want) {
		t.Fatalf("%d lines", len(log.lines))
	}
	for i, got := range log.lines {
		w := want[i%3]
		tag := ""
		if i >= 3 {
			tag = "run.READ.response"
		}
		if got.tag != tag || got.start != w.start || got.length != w.length || got.max != w.max || got.count() != counts[i%3] || got.figures != 3 {
			t.Errorf("line %d: %+v with %d values, want %+v with %d", i, got, got.count(), w, counts[i%3])
		}
	}
	// What we make of the same ramp has the same buckets.
	ours := parseLog(t, render(t, "hdr", ramp()))
	if got, want := ours.byTag()["run.READ.response"], log.byTag()[""]; !maps.Equal(got, want) {
		t.Errorf("%d buckets of ours differ from the %d of Java's", len(got), len(want))
	}
	libraryReads(t, javaLog(t))
}

// libraryReads reads a log with the library's reader and compares with ours.
func libraryReads(t *testing.T, text string) {
	t.Helper()
	want := parseLog(t, text)
	reader := hdrhistogram.NewHistogramLogReader(strings.NewReader(text))
	for i := range want.lines {
		w := &want.lines[i]
		h, err := reader.NextIntervalHistogram()
		if err != nil || h == nil {
			t.Fatalf("line %d: %v, %v", i, h, err)
		}
		if h.Tag() != w.tag {
			t.Errorf("line %d: tag %q, want %q", i, h.Tag(), w.tag)
		}
		if h.TotalCount() != w.count() {
			t.Errorf("line %d: %d values, want %d", i, h.TotalCount(), w.count())
		}
		start, end := (want.base+w.start)*1000, (want.base+w.start+w.length)*1000
		if math.Abs(float64(h.StartTimeMs())-start) > 1 || math.Abs(float64(h.EndTimeMs())-end) > 1 {
			t.Errorf("line %d: from %d to %d ms, want %v to %v", i, h.StartTimeMs(), h.EndTimeMs(), start, end)
		}
	}
	if h, err := reader.NextIntervalHistogram(); h != nil || err != nil {
		t.Errorf("behind the last line: %v, %v", h, err)
	}
}

func TestLogsAreReadByTheLibrary(t *testing.T) {
	for name, r := range results() {
		t.Run(name, func(t *testing.T) { libraryReads(t, render(t, "hdr", r)) })
	}
}

// Count by length is the rate, whatever the time since the start.
func TestLogLinesHaveTheirStartsAndLengths(t *testing.T) {
	r := ramp()
	log := parseLog(t, render(t, "hdr", r))
	if wall := float64(r.Started.UnixMilli()) / 1000; log.start != wall || log.base != wall {
		t.Errorf("start %v, base %v, want %v", log.start, log.base, wall)
	}
	if !slices.ContainsFunc(log.comments, func(s string) bool {
		return s == "#[Units: values ns, StartTimestamp and Interval_Length s, Interval_Max ms (value / 1000000)]"
	}) {
		t.Errorf("no units in %q", log.comments)
	}
	n := 0
	for _, l := range log.lines {
		if l.tag != "" {
			continue
		}
		iv := &r.Phases[0].Intervals[n]
		if l.start != 2+float64(n) || l.length != 1 {
			t.Errorf("interval %d starts at %v and has %v s", n, l.start, l.length)
		}
		if rate := float64(l.count()) / l.length; rate != float64(iv.Kinds[0].Counts.Completed) {
			t.Errorf("interval %d: %v per second, want %d", n, rate, iv.Kinds[0].Counts.Completed)
		}
		if want := float64(iv.Kinds[0].Response.Max()) / 1e6; l.max != want {
			t.Errorf("interval %d: Interval_Max %v, want %v ms", n, l.max, want)
		}
		n++
	}
	if n != 100 {
		t.Errorf("%d intervals", n)
	}
}

func TestTheLastIntervalHasItsTrueLength(t *testing.T) {
	r := saturated() // of 10.999 s
	last := parseLog(t, render(t, "hdr", r)).lines
	if l := last[len(last)-1]; l.start != 12 || l.length != 0.999 || l.tag != "" {
		t.Errorf("%+v", l)
	}
}

// Lines without a tag are all kinds of the headline phase; those with one add
// up to the kinds' totals, and all kinds to all, bucket by bucket.
func TestLogLinesAddUp(t *testing.T) {
	for name, r := range results() {
		tags := parseLog(t, render(t, "hdr", r)).byTag()
		for i := range r.Phases {
			phase := &r.Phases[i]
			sum, all := map[int64]int64{}, map[int64]int64{}
			for _, k := range phase.Kinds {
				whole := tags[fmt.Sprintf("%s.%s.whole.response", phase.Name, k.Kind)]
				for value, n := range whole {
					all[value] += n
				}
				intervals := tags[fmt.Sprintf("%s.%s.response", phase.Name, k.Kind)]
				for value, n := range intervals {
					sum[value] += n
				}
				if !maps.Equal(whole, intervals) {
					t.Errorf("%s: the intervals of %s in phase %s don't add up to the whole", name, k.Kind, phase.Name)
				}
			}
			if phase.Name == headline(r) && !maps.Equal(tags[""], sum) {
				t.Errorf("%s: lines without a tag are not all kinds of phase %s", name, phase.Name)
			}
			if got := tags[phase.Name+".all.whole.response"]; len(phase.Kinds) > 1 && !maps.Equal(got, all) {
				t.Errorf("%s: all of phase %s is not the sum of its kinds", name, phase.Name)
			}
		}
	}
}

// An interval without an answer has its line: a stall must not be a gap.
func TestEmptyIntervalsAreInTheLog(t *testing.T) {
	r := single()
	p := &r.Phases[0]
	p.Length = 3 * time.Second
	p.Intervals = []measure.Interval{{Length: time.Second, Due: 1}, {Start: time.Second, Length: 2 * time.Second, Kinds: p.Intervals[0].Kinds}}
	var untagged []logLine
	for _, l := range parseLog(t, render(t, "hdr", r)).lines {
		if l.tag == "" {
			untagged = append(untagged, l)
		}
	}
	if len(untagged) != 2 || untagged[0].count() != 0 || untagged[0].max != 0 || untagged[1].count() != 1 || untagged[1].length != 2 {
		t.Errorf("%+v", untagged)
	}
}

func TestTagsHoldNoSeparator(t *testing.T) {
	for name, want := range map[string]string{
		"run": "run.READ", "warm up, twice": "warm_up__twice.READ", "a\nb": `a\nb.READ`, "a\u00a0b": `a\u00a0b.READ`,
	} {
		if got := hdrTag(name, "READ"); got != want {
			t.Errorf("phase %q has the tag %q, want %q", name, got, want)
		}
	}
}

// sameLog compares two logs but for the way histograms are compressed.
func sameLog(t *testing.T, got, want string) {
	t.Helper()
	strip := func(s string) string { return regexp.MustCompile(`HISTF\S+`).ReplaceAllString(s, "") }
	if strip(got) != strip(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
		return
	}
	g, w := parseLog(t, got), parseLog(t, want)
	for i := range w.lines {
		if !maps.Equal(g.lines[i].buckets, w.lines[i].buckets) || g.lines[i].figures != w.lines[i].figures {
			t.Errorf("line %d differs: got buckets %v, want %v", i, g.lines[i].buckets, w.lines[i].buckets)
		}
	}
}
