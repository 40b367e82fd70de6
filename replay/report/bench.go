package report

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"pianola/replay/measure"
)

// The form "bench" is Go's benchmark data format (golang.org/design/14313),
// which benchstat compares: configuration lines, and a line for each phase and
// kind, and for all kinds together where there are several:
//
//	BenchmarkReplay/phase=run/kind=READ 1 310016 p50-ns … 980 ops/s …
//
// Quantiles are of response over all ops offered. One is left out if it falls
// on an op that was not completed, or if no op is beyond it, max aside. ops/s
// counts completed ops; N-ops are numbers of ops.
//
// benchstat compares results whose configuration is alike, so only what makes
// figures comparable is configuration: trace, machine, database, slots, pace and
// laws of the phase, labels, and the caveats of figures that are not to be used
// as they stand. A label tells results apart: benchstat -col label-NAME.

// writeBench writes configuration and figures of all phases.
func writeBench(w io.Writer, r *measure.Result) error {
	b := bench{}
	b.config(r)
	for i := range r.Phases {
		if err := b.phase(r, &r.Phases[i]); err != nil {
			return fmt.Errorf("bench report: %w", err)
		}
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write bench report: %w", err)
	}
	return nil
}

// bench is a report in the making.
type bench struct{ bytes.Buffer }

// key writes a configuration line; an empty value takes back an earlier one.
func (b *bench) key(name, value string) {
	fmt.Fprintf(b, "%s:%s\n", name, prefixed(" ", value))
}

// config writes what holds for all phases.
func (b *bench) config(r *measure.Result) {
	b.key("goos", r.Machine.OS)
	b.key("goarch", r.Machine.Arch)
	b.key("cpu", r.Machine.Model)
	b.key("trace", r.Trace.Digest)
	b.key("database", r.Database.Name)
	b.key("slots", strconv.Itoa(r.Settings.Slots))
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		b.key("label-"+benchKey(name), r.Labels[name])
	}
	fmt.Fprintf(b, "Unit ops/s better=higher\nUnit completed-ops better=higher\n")
}

// phase writes the lines of a phase.
func (b *bench) phase(r *measure.Result, phase *measure.Phase) error {
	kinds, err := withTotal(phase)
	if err != nil {
		return err
	}
	if kinds[len(kinds)-1].Counts.Offered == 0 {
		return nil
	}
	fmt.Fprintf(b, "\n# phase %s: verdict %s\n", plain(phase.Name), plain(phase.Verdict.Word))
	rate := ""
	if phase.Paced {
		rate = measure.FormatNumber(phase.Rate) + " op/s"
	}
	b.key("rate", rate)
	b.key("arrivals", phase.Arrivals)
	b.key("keys", phase.KeyLaw)
	b.key("scans", phase.ScanLaw)
	limits := caveats(r, phase)
	if word := phase.Verdict.Word; word == measure.GeneratorLimited || word == measure.Saturated {
		limits = append(limits, strings.ToUpper(word))
	}
	b.key("caveats", strings.Join(limits, "; "))
	for i := range kinds {
		b.kind(phase, &kinds[i])
	}
	return nil
}

// kind writes one benchmark line.
func (b *bench) kind(phase *measure.Phase, k *measure.Kind) {
	fmt.Fprintf(b, "BenchmarkReplay/phase=%s/kind=%s 1", benchWord(phase.Name), benchWord(k.Kind))
	for _, column := range columns {
		if v := k.ResponseQuantile(column.q); benchable(column.q, v) {
			fmt.Fprintf(b, " %d %s-ns", v.Value, column.label)
		}
	}
	if phase.Length > 0 {
		fmt.Fprintf(b, " %s ops/s", strconv.FormatFloat(float64(k.Counts.Completed)/phase.Length.Seconds(), 'f', -1, 64))
	}
	for _, count := range countColumns {
		if n := count.of(&k.Counts); n > 0 || !count.lost && !count.miss {
			fmt.Fprintf(b, " %d %s-ops", n, count.label)
		}
	}
	b.WriteByte('\n')
}

// benchable reports whether a quantile is a number to compare.
func benchable(q measure.Q, v measure.Quantile) bool {
	return !v.None && v.Above == "" && (v.Beyond > 0 || q == measure.Max)
}

// benchWord returns s as part of a benchmark's name, which holds no blank.
func benchWord(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '/' {
			return '_'
		}
		return r
	}, plain(s))
}

// benchKey returns s as part of a configuration key, which holds no blank, no
// colon and no upper case.
func benchKey(s string) string {
	return strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); unicode.IsSpace(r) || r == ':' || unicode.IsUpper(r) {
			return '_'
		}
		return r
	}, plain(s))
}

// noticeBench says which quantiles are left out as they fall on ops that were
// not completed.
func noticeBench(r *measure.Result) string {
	var out []string
	for i := range r.Phases {
		phase := &r.Phases[i]
		kinds, err := withTotal(phase)
		if err != nil {
			return ""
		}
		for j := range kinds {
			var labels []string
			for _, column := range columns {
				if kinds[j].ResponseQuantile(column.q).Above != "" {
					labels = append(labels, column.label)
				}
			}
			if labels != nil {
				out = append(out, fmt.Sprintf("%s of %s in phase %s (%s)",
					strings.Join(labels, " "), plain(kinds[j].Kind), plain(phase.Name), unanswered(&kinds[j].Counts)))
			}
		}
	}
	if out == nil {
		return ""
	}
	return "bench report: left out, as they fall on ops that were not completed, are " + strings.Join(out, ", ")
}
