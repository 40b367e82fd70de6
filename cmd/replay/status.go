package main

import (
	"fmt"
	"strings"
	"time"

	"pianola/cmd/status"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/report"
)

// statusText says in one line how a run fares; nothing before its first phase.
func statusText(r *replay.Runner) string {
	p, ok := r.Progress()
	if !ok {
		return ""
	}
	return progressText(p)
}

// progressText puts first what a narrow terminal should show: how far the phase
// has come, and the times of the last interval. Totals of the phase follow.
func progressText(p replay.Progress) string {
	l := p.Live
	var parts []string
	if p.Ops > 0 {
		parts = append(parts, fmt.Sprintf("%d%%", 100*min(p.Counts.Offered, p.Ops)/p.Ops))
		if left := status.Left(p.Counts.Offered, p.Ops, p.Elapsed); left != "" {
			parts = append(parts, left+" left")
		}
	}
	parts = append(parts, windowText(l)...)
	if l.Started > 0 {
		parts = append(parts, fmt.Sprintf("%d in flight", l.InFlight))
	}
	n := &p.Counts
	for _, lost := range []struct {
		ops  uint64
		name string
	}{{n.Failed, "failed"}, {n.Censored, "censored"}, {n.Dropped, "dropped"}, {n.Unsent, "unsent"}} {
		if lost.ops > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", lost.ops, lost.name))
		}
	}
	parts = append(parts, fmt.Sprintf("%d offered", n.Offered))
	if l.Started > 0 {
		parts = append(parts, fmt.Sprintf("%d started", l.Started))
	}
	done, during := n.Completed, p.Elapsed
	if l.Window > 0 {
		done, during = l.Completed, l.Window
	}
	parts = append(parts, fmt.Sprintf("%d completed", n.Completed), status.Pace(done, during))
	return fmt.Sprintf("phase %s, %v: %s", p.Phase, p.Elapsed.Round(time.Second), strings.Join(parts, ", "))
}

// windowText prints the times of the last interval. Without due times there is
// no response under load, and none is claimed.
func windowText(l measure.Live) []string {
	if l.Window <= 0 {
		return nil
	}
	name := "response"
	if !l.Paced {
		name = "closed loop"
	}
	out := []string{fmt.Sprintf("%s p50 %s p99 %s", name,
		report.FormatQuantile(measure.P50, l.P50, l.Completed), report.FormatQuantile(measure.P99, l.P99, l.Completed))}
	if l.Paced {
		out = append(out, "wait p99 "+measure.FormatDuration(l.WaitP99))
	}
	return append(out, "lag p99 "+measure.FormatDuration(l.LagP99))
}
