package report

import (
	"fmt"
	"strings"

	"pianola/replay/measure"
	"pianola/traces"
)

// caveats says in a few words each what forbids or limits the use of a phase's
// figures, apart from the verdict on it. Forms that are read by programs carry
// them, since their figures are soon seen without the report around them.
func caveats(r *measure.Result, phase *measure.Phase) []string {
	var out []string
	for _, caveat := range []struct {
		is   bool
		text string
	}{
		{r.Void != "", "VOID: " + plain(r.Void)},
		{phase.Digest.Status == measure.DigestMismatch, "DIGEST MISMATCH"},
		{r.Partial, "PARTIAL: interrupted"},
		{!phase.Paced, "CLOSED LOOP: service time and maximum throughput, not response under load"},
	} {
		if caveat.is {
			out = append(out, caveat.text)
		}
	}
	return out
}

// leftOut returns how many ops of a phase have no answer to rank by, how many
// were offered, and what became of the former.
func leftOut(phase *measure.Phase) (left, offered uint64, why string) {
	all := measure.Counts{}
	for i := range phase.Kinds {
		all.Add(phase.Kinds[i].Counts)
	}
	return all.Offered - all.Completed, all.Offered, unanswered(&all)
}

// unanswered counts the ops that were not completed, by what became of them.
func unanswered(c *measure.Counts) string {
	var why []string
	for _, column := range countColumns {
		if n := column.of(c); column.lost && n > 0 {
			why = append(why, fmt.Sprintf("%d %s", n, column.label))
		}
	}
	return strings.Join(why, ", ")
}

// headline is the name of the phase that a report is of where it is of one:
// the load if that alone was asked for, else the run.
func headline(r *measure.Result) string {
	if r.Settings.Phase == traces.LoadPhase {
		return traces.LoadPhase
	}
	return "run"
}
