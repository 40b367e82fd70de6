package report

import (
	"fmt"
	"io"
	"strings"

	"pianola/replay/measure"
)

// Reporter is one form of report.
type Reporter struct {
	Name string
	// Summary says in half a line what the form is for.
	Summary string
	// Write writes the whole report, or returns an error if it can't be made
	// of this result or not be written.
	Write func(w io.Writer, r *measure.Result) error
	// notice is set by forms that have to leave out what a reader must know.
	notice func(r *measure.Result) string
}

// Notice returns one line, without its end, that belongs beside the report
// where it does not get mixed up with it: on standard error. It is empty if
// there is nothing to say.
func (r Reporter) Notice(result *measure.Result) string {
	if r.notice == nil {
		return ""
	}
	return r.notice(result)
}

// reporters is the list of all forms, the default first.
func reporters() []Reporter {
	return []Reporter{
		{Name: "text", Summary: "for people: verdict, percentiles, counts and circumstances", Write: writeText},
		{Name: "ycsb", Summary: "the lines that YCSB prints, of one phase", Write: writeYCSB, notice: noticeYCSB},
		{Name: "json", Summary: "the result file itself", Write: writeJSON},
		{Name: "hdr", Summary: "an interval log for the tools of HdrHistogram", Write: writeHDR, notice: noticeHDR},
		{Name: "csv", Summary: "one table of all phases and intervals, times in ns", Write: writeCSV},
		{Name: "bench", Summary: "lines that Go's benchstat compares", Write: writeBench, notice: noticeBench},
	}
}

// Names returns the names of all forms, the default first.
func Names() []string {
	var names []string
	for _, r := range reporters() {
		names = append(names, r.Name)
	}
	return names
}

// ByName returns the form of that name.
func ByName(name string) (Reporter, error) {
	for _, r := range reporters() {
		if r.Name == name {
			return r, nil
		}
	}
	return Reporter{}, fmt.Errorf("unknown report format %q, known are %s", name, strings.Join(Names(), ", "))
}
