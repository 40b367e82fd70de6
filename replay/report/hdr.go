package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"pianola/replay/measure"
)

// The form "hdr" is a histogram log as HdrHistogram's own classes write it,
// version 1.3 (org.HdrHistogram.HistogramLogWriter): a line for each histogram
// with an optional tag, its start in seconds after the base time, its length in
// seconds, its greatest value and its buckets. Values are nanoseconds, and
// Interval_Max is one divided by 1,000,000, the ratio which that format has by
// default.
//
//   - Lines without a tag are the intervals of one phase, all kinds together:
//     what a tool shows that is not told a tag. The phase is the load if that
//     alone was asked for, else the run.
//   - Tag=PHASE.KIND.response are the intervals of one kind. Intervals have two
//     significant figures; one in which nothing was completed is there, empty.
//   - Tag=PHASE.KIND.whole.response, .service, .wait and .lag are one line each
//     over the whole phase, with three significant figures; KIND may be all.
//
// Response and service are of completed ops only, wait and lag of all ops that
// were started. Lines of different tags hold the same ops and must not be added
// up. The lines are written here, since readers want start and base time alike
// in seconds and the library's writer takes whole ones.

// hdrRatio is between a value and Interval_Max: nanoseconds to milliseconds.
const hdrRatio = 1_000_000

// writeHDR writes the log of all phases, in the order of time.
func writeHDR(w io.Writer, r *measure.Result) error {
	log := hdrLog{}
	log.head(r)
	for i := range r.Phases {
		if err := log.phase(&r.Phases[i], r.Phases[i].Name == headline(r)); err != nil {
			return fmt.Errorf("hdr report: %w", err)
		}
	}
	if _, err := w.Write(log.Bytes()); err != nil {
		return fmt.Errorf("write hdr report: %w", err)
	}
	return nil
}

// hdrLog is a histogram log in the making.
type hdrLog struct{ bytes.Buffer }

// head writes the comments. All times count from the start of the run, which
// is both the log's start and its base time.
func (l *hdrLog) head(r *measure.Result) {
	start := max(r.Started.UnixMilli(), 0)
	l.comment("Histogram log format version 1.3")
	l.comment("StartTime: %d.%03d (seconds since epoch), %s", start/1000, start%1000, time.UnixMilli(start).UTC().Format(time.RFC3339Nano))
	l.comment("BaseTime: %d.%03d (seconds since epoch)", start/1000, start%1000)
	l.comment("Logged by replay %s; database %s%s", plain(r.Tool), plain(r.Database.Name), prefixed("; trace digest ", r.Trace.Digest))
	l.comment("Units: values ns, StartTimestamp and Interval_Length s, Interval_Max ms (value / %d)", hdrRatio)
	l.comment("Lines: no tag = phase %s, intervals of all kinds; PHASE.KIND.response = intervals; PHASE.KIND.whole.* = one line over the phase", headline(r))
	for i := range r.Phases {
		phase := &r.Phases[i]
		text := []string{"Phase " + plain(phase.Name), "verdict " + plain(phase.Verdict.Word), "keys " + plain(phase.KeyLaw)}
		if left, all, why := leftOut(phase); left > 0 {
			text = append(text, fmt.Sprintf("%d of %d ops are not in response and service: %s", left, all, why))
		}
		l.comment("%s", strings.Join(append(text, caveats(r, phase)...), "; "))
	}
	l.WriteString(`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"` + "\n")
}

func (l *hdrLog) comment(format string, args ...any) {
	fmt.Fprintf(l, "#["+format+"]\n", args...)
}

// phase writes the lines of a phase; untagged says that its intervals get lines
// without a tag too.
func (l *hdrLog) phase(phase *measure.Phase, untagged bool) error {
	if len(phase.Kinds) == 0 {
		return nil
	}
	kinds, err := withTotal(phase)
	if err != nil {
		return err
	}
	for i := range kinds {
		k := &kinds[i]
		for _, part := range []struct {
			name string
			of   *measure.Histogram
		}{{"response", k.Response}, {"service", k.Service}, {"wait", k.Wait}, {"lag", k.Lag}} {
			if part.of.Count() == 0 {
				continue
			}
			if err := l.line(hdrTag(phase.Name, k.Kind, "whole", part.name), phase.Start, phase.Length, part.of); err != nil {
				return err
			}
		}
	}
	for i := range phase.Intervals {
		if err := l.interval(phase, &phase.Intervals[i], untagged); err != nil {
			return err
		}
	}
	return nil
}

func (l *hdrLog) interval(phase *measure.Phase, iv *measure.Interval, untagged bool) error {
	kinds, err := intervalKinds(phase, iv)
	if err != nil {
		return err
	}
	for i, k := range kinds {
		tag := hdrTag(phase.Name, k.Kind, "response")
		if i == len(kinds)-1 { // all kinds
			if tag = ""; !untagged {
				continue
			}
		}
		if err := l.line(tag, phase.Start+iv.Start, iv.Length, k.Response); err != nil {
			return err
		}
	}
	return nil
}

// line writes one histogram.
func (l *hdrLog) line(tag string, start, length time.Duration, h *measure.Histogram) error {
	encoded, err := h.HDR()
	if err != nil {
		return fmt.Errorf("encode histogram %s: %w", tag, err)
	}
	if tag != "" {
		fmt.Fprintf(l, "Tag=%s,", tag)
	}
	fmt.Fprintf(l, "%s,%s,%s,%s\n", hdrDecimal(start, time.Second), hdrDecimal(length, time.Second), hdrDecimal(h.Max(), hdrRatio), encoded)
	return nil
}

// hdrDecimal prints d in the given unit with six decimals; negative ones are 0.
// It cuts, so that equal distances stay equal.
func hdrDecimal(d, unit time.Duration) string {
	d = max(d, 0)
	return fmt.Sprintf("%d.%06d", d/unit, d%unit*1_000_000/unit)
}

// hdrTag joins the parts of a tag, which may hold no comma and no blank.
func hdrTag(parts ...string) string {
	return strings.Map(func(r rune) rune {
		if r == ',' || unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, plain(strings.Join(parts, ".")))
}

// noticeHDR says in one line which ops have no response in the log.
func noticeHDR(r *measure.Result) string {
	var out []string
	for i := range r.Phases {
		if left, all, why := leftOut(&r.Phases[i]); left > 0 {
			out = append(out, fmt.Sprintf("%d of %d ops of phase %s (%s)", left, all, plain(r.Phases[i].Name), why))
		}
	}
	if out == nil {
		return ""
	}
	return "hdr report: not in its response times, as they were not completed, are " + strings.Join(out, ", ")
}
