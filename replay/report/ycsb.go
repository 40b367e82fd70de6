package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"pianola/bindings"
	"pianola/replay/measure"
	"pianola/traces"
)

// The form "ycsb" is what YCSB's source behind release 0.17.0 prints as text
// with measurement.interval=both, for one phase: the load if that alone was
// asked for, else the run. It differs where YCSB misleads or measures itself:
//
//   - [READ] and its like hold the service times of completed ops,
//     [Intended-READ] their response times. Values are microseconds, cut to
//     whole ones where YCSB does so; percentiles keep three digits and rank
//     over the completed ops only.
//   - Throughput counts completed ops. YCSB also counts failed ones.
//   - [READ-FAILED] counts the failed ops. Only their response times are
//     measured, which stand under [Intended-READ-FAILED].
//   - Return= lines count answers by YCSB's statuses, misses that count as
//     completed among NOT_FOUND. Ops without an answer (censored, dropped,
//     unsent) have none.
//   - The parts of READ-MODIFY-WRITE are also in READ and UPDATE, as in YCSB,
//     where the database runs one behind the other. Where it does both at once
//     there are no parts; then READ-MODIFY-WRITE stands alone.
//   - [CLEANUP] and the lines about the JVM are left out.

// statuses are YCSB's words for the classes of answers, in the order of the
// Return= lines.
var statuses = []struct {
	name    string
	classes []bindings.Class
}{
	{"OK", nil},
	{"NOT_FOUND", []bindings.Class{bindings.NotFound}},
	{"ERROR", []bindings.Class{bindings.Timeout, bindings.Duplicate, bindings.Other}},
	{"BAD_REQUEST", []bindings.Class{bindings.Invalid}},
	{"FORBIDDEN", []bindings.Class{bindings.Unauthorised}},
	{"SERVICE_UNAVAILABLE", []bindings.Class{bindings.Overloaded, bindings.Unavailable}},
}

// writeYCSB writes the lines of one phase.
func writeYCSB(w io.Writer, r *measure.Result) error {
	phase, err := ycsbPhase(r)
	if err != nil {
		return err
	}
	all, err := phase.Total()
	if err != nil {
		return fmt.Errorf("ycsb report: %w", err)
	}
	var out bytes.Buffer
	milliseconds := phase.Length.Milliseconds()
	fmt.Fprintf(&out, "[OVERALL], RunTime(ms), %d\n", milliseconds)
	fmt.Fprintf(&out, "[OVERALL], Throughput(ops/sec), %s\n", javaDouble(ycsbThroughput(all.Counts.Completed, phase)))
	kinds, err := ycsbKinds(phase)
	if err != nil {
		return fmt.Errorf("ycsb report: %w", err)
	}
	for i := range kinds {
		k := &kinds[i]
		name := ycsbName(k.Kind)
		ycsbTimes(&out, name, k.Service)
		returns(&out, name, k)
		if k.Counts.Failed > 0 {
			fmt.Fprintf(&out, "[%s-FAILED], Operations, %d\n", name, k.Counts.Failed)
		}
	}
	for i := range kinds {
		k := &kinds[i]
		name := "Intended-" + ycsbName(k.Kind)
		ycsbTimes(&out, name, k.Response)
		if k.Counts.Failed > 0 {
			failed, err := allFailed(k)
			if err != nil {
				return err
			}
			ycsbTimes(&out, name+"-FAILED", failed)
		}
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write ycsb report: %w", err)
	}
	return nil
}

// ycsbKinds returns the kinds of a phase, with the parts of READMODIFYWRITEs
// added to READ and UPDATE.
func ycsbKinds(phase *measure.Phase) ([]measure.Kind, error) {
	kinds := slices.Clone(phase.Kinds)
	for i := range phase.Kinds {
		for _, part := range phase.Kinds[i].Parts {
			at := slices.IndexFunc(kinds, func(k measure.Kind) bool { return k.Kind == part.Kind })
			if at < 0 {
				at = len(kinds)
				kinds = append(kinds, measure.Kind{Kind: part.Kind, Response: measure.NewHistogram(), Service: measure.NewHistogram()})
			}
			k := &kinds[at]
			k.Counts.Completed += part.Service.Count()
			for _, pair := range []struct {
				to   **measure.Histogram
				from *measure.Histogram
			}{{&k.Response, part.Response}, {&k.Service, part.Service}} {
				sum := measure.NewHistogram()
				if err := errors.Join(sum.Merge(*pair.to), sum.Merge(pair.from)); err != nil {
					return nil, err
				}
				*pair.to = sum
			}
		}
	}
	slices.SortStableFunc(kinds, func(a, b measure.Kind) int { return kindOrder(a.Kind) - kindOrder(b.Kind) })
	return kinds, nil
}

// kindOrder is the place of a kind among all.
func kindOrder(name string) int {
	for k := range traces.KindLimit {
		if k.String() == name {
			return int(k)
		}
	}
	return int(traces.KindLimit)
}

// noticeYCSB says in one line what the report has no lines for.
func noticeYCSB(r *measure.Result) string {
	phase, err := ycsbPhase(r)
	if err != nil {
		return ""
	}
	left, all, why := leftOut(phase)
	out := fmt.Sprintf("ycsb report of phase %s: %d of %d ops are left out of its percentiles", plain(phase.Name), left, all)
	if why != "" {
		out += " (" + why + ")"
	}
	if phase.Verdict.Word != "" {
		out += "; verdict " + plain(phase.Verdict.Word)
	}
	if phase.KeyLaw != "" {
		out += "; keys " + plain(phase.KeyLaw)
	}
	return strings.Join(append([]string{out}, caveats(r, phase)...), "; ")
}

// ycsbPhase returns the phase to report.
func ycsbPhase(r *measure.Result) (*measure.Phase, error) {
	name := headline(r)
	var known []string
	for i := range r.Phases {
		if r.Phases[i].Name == name {
			return &r.Phases[i], nil
		}
		known = append(known, strconv.Quote(r.Phases[i].Name))
	}
	return nil, fmt.Errorf("ycsb report of phase %q: the result has phases [%s] only", name, strings.Join(known, ", "))
}

// ycsbName returns YCSB's name of a kind.
func ycsbName(kind string) string {
	if kind == traces.ReadModifyWrite.String() {
		return "READ-MODIFY-WRITE"
	}
	return plain(kind)
}

// ycsbThroughput returns completed ops per second of the run time as printed;
// a run time that prints as 0 counts in full.
func ycsbThroughput(completed uint64, phase *measure.Phase) float64 {
	if ms := phase.Length.Milliseconds(); ms > 0 {
		return float64(completed) * 1000 / float64(ms)
	}
	if phase.Length > 0 {
		return float64(completed) / phase.Length.Seconds()
	}
	return 0
}

// ycsbTimes writes the lines of one metric.
func ycsbTimes(out *bytes.Buffer, name string, h *measure.Histogram) {
	const µs = 1000
	fmt.Fprintf(out, "[%s], Operations, %d\n", name, h.Count())
	fmt.Fprintf(out, "[%s], AverageLatency(us), %s\n", name, javaDouble(h.Mean()/µs))
	fmt.Fprintf(out, "[%s], MinLatency(us), %d\n", name, h.Min().Microseconds())
	fmt.Fprintf(out, "[%s], MaxLatency(us), %d\n", name, h.Max().Microseconds())
	for _, column := range columns {
		if column.ycsb != "" {
			fmt.Fprintf(out, "[%s], %sPercentileLatency(us), %d\n", name, column.ycsb, h.Quantile(column.q).Value.Microseconds())
		}
	}
}

// returns writes how often each status was answered.
func returns(out *bytes.Buffer, name string, k *measure.Kind) {
	missed := k.Counts.Expected + k.Counts.Raced + k.Counts.Orphaned
	counts := map[string]uint64{"OK": k.Counts.Completed - min(missed, k.Counts.Completed), "NOT_FOUND": missed}
	if len(k.Parts) > 0 {
		counts["OK"] = 0 // the parts have theirs
	}
	for i := range k.Failed {
		counts[statusOf(k.Failed[i].Class)] += k.Failed[i].Response.Count()
	}
	for _, status := range statuses {
		if n := counts[status.name]; n > 0 {
			fmt.Fprintf(out, "[%s], Return=%s, %d\n", name, status.name, n)
		}
	}
}

// statusOf returns YCSB's status for the name of a class.
func statusOf(class string) string {
	for _, status := range statuses {
		for _, c := range status.classes {
			if c.String() == class {
				return status.name
			}
		}
	}
	return "ERROR"
}

// allFailed returns the response times of all failed ops of a kind.
func allFailed(k *measure.Kind) (*measure.Histogram, error) {
	all := measure.NewHistogram()
	for i := range k.Failed {
		if err := all.Merge(k.Failed[i].Response); err != nil {
			return nil, fmt.Errorf("ycsb report of failed %s: %w", k.Kind, err)
		}
	}
	return all, nil
}
