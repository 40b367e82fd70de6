package report

import (
	"fmt"
	"strconv"
	"time"

	"pianola/replay/measure"
)

// phaseIndent indents what belongs to a phase.
const phaseIndent = 2

// phase prints one phase.
func (p *page) phase(r *measure.Result, phase *measure.Phase) error {
	kinds, err := withTotal(phase)
	if err != nil {
		return err
	}
	p.phaseHead(r, phase, &kinds[len(kinds)-1].Counts)
	if kinds[len(kinds)-1].Counts.Offered == 0 {
		p.entry(phaseIndent, "empty", "no op was offered")
		return nil
	}
	p.line("")
	p.table(phaseIndent, countRows(kinds))
	p.line("")
	p.quantiles(phase, kinds)
	p.parts(phase)
	p.line("")
	p.failures(phase)
	p.check(r, phase)
	if b := &phase.Backlog; phase.Paced {
		p.entry(phaseIndent, "backlog", fmt.Sprintf("%d at half the schedule", b.Half), fmt.Sprintf("%d at its end", b.End), fmt.Sprintf("%d at most (ops due and not ended)", b.Max))
	}
	p.health(r, phase, &kinds[len(kinds)-1])
	return nil
}

// withTotal returns the kinds of a phase, and their total where there is more
// than one.
func withTotal(phase *measure.Phase) ([]measure.Kind, error) {
	all, err := phase.Total()
	if err != nil {
		return nil, err
	}
	if len(phase.Kinds) == 1 {
		return phase.Kinds, nil
	}
	return append(append([]measure.Kind(nil), phase.Kinds...), all), nil
}

// phaseHead prints name, laws and rates of a phase.
func (p *page) phaseHead(r *measure.Result, phase *measure.Phase, all *measure.Counts) {
	pace := "paced"
	if !phase.Paced {
		pace = "unpaced"
	}
	p.paragraph("phase "+plain(phase.Name)+": ", phaseIndent, fmt.Sprintf("%s, %d ops offered in %s", pace, all.Offered, measure.FormatDuration(phase.Length)))
	if !phase.Paced {
		p.paragraph("  ", phaseIndent, fmt.Sprintf("closed loop over %d slots: service time and maximum throughput, NOT response under load", r.Settings.Slots))
	}
	arrivals := prefixed("arrivals ", phase.Arrivals)
	if arrivals != "" && !phase.Paced {
		arrivals += " (not kept to)"
	}
	p.entry(phaseIndent, "laws", prefixed("keys ", phase.KeyLaw), prefixed("scans ", phase.ScanLaw), arrivals)
	achieved := "n/a"
	if phase.Length > 0 {
		achieved = measure.FormatNumber(float64(all.Completed)/phase.Length.Seconds()) + " op/s"
	}
	if phase.Paced {
		p.entry(phaseIndent, "rate", "achieved "+achieved+" completed of "+measure.FormatNumber(phase.Rate)+" op/s offered")
	} else {
		p.entry(phaseIndent, "rate", "maximum throughput "+achieved+" completed")
	}
	if phase.NotReached > 0 {
		p.entry(phaseIndent, "unreached", fmt.Sprintf("%d of %d ops: the run ended before they were due", phase.NotReached, phase.Ops))
	}
}

// countRows is the table of what became of the ops. Misses have columns only
// where there are some.
func countRows(kinds []measure.Kind) [][]string {
	rows := [][]string{{"ops"}}
	for i := range kinds {
		rows = append(rows, []string{plain(kinds[i].Kind)})
	}
	for _, column := range countColumns {
		if column.miss && column.of(&kinds[len(kinds)-1].Counts) == 0 {
			continue
		}
		rows[0] = append(rows[0], column.label)
		for i := range kinds {
			rows[i+1] = append(rows[i+1], fmt.Sprint(column.of(&kinds[i].Counts)))
		}
	}
	return rows
}

// quantiles prints response by kind, and below it what it is made of.
func (p *page) quantiles(phase *measure.Phase, kinds []measure.Kind) {
	if phase.Verdict.Word == measure.Saturated {
		p.line("  SATURATED: these percentiles depend on how long the run lasted.")
	}
	rows := [][]string{quantileHead("response")}
	for i := range kinds {
		rows = append(rows, responseRow(&kinds[i]))
	}
	p.table(phaseIndent, rows)
	p.line("")
	rows = nil
	for _, part := range []struct {
		name string
		of   func(k *measure.Kind) *measure.Histogram
	}{
		{"wait", func(k *measure.Kind) *measure.Histogram { return k.Wait }},
		{"lag", func(k *measure.Kind) *measure.Histogram { return k.Lag }},
		{"service", func(k *measure.Kind) *measure.Histogram { return k.Service }},
	} {
		rows = append(rows, quantileHead(part.name))
		for i := range kinds {
			rows = append(rows, histogramRow(kinds[i].Kind, part.of(&kinds[i])))
		}
	}
	p.table(phaseIndent, rows)
}

// parts prints the service times of the parts of ops.
func (p *page) parts(phase *measure.Phase) {
	for i := range phase.Kinds {
		if k := &phase.Kinds[i]; len(k.Parts) > 0 {
			rows := [][]string{quantileHead("parts of " + k.Kind)}
			for _, part := range k.Parts {
				rows = append(rows, histogramRow(part.Kind, part.Service))
			}
			p.line("")
			p.table(phaseIndent, rows)
		}
	}
}

// check prints what checking the values gave, and what a resumed load found.
func (p *page) check(r *measure.Result, phase *measure.Phase) {
	if phase.Present > 0 {
		p.entry(phaseIndent, "present", fmt.Sprintf("%d records were there already", phase.Present))
	}
	c := phase.Check
	if c == nil {
		return
	}
	unchecked := ""
	if c.Unchecked > 0 {
		unchecked = fmt.Sprintf("%d values could not be checked", c.Unchecked)
	}
	p.entry(phaseIndent, "check", fmt.Sprintf("%d values right", c.Values), fmt.Sprintf("%d ops mismatched", c.Mismatched),
		fmt.Sprintf("%d ops stale", c.Stale), unchecked, fmt.Sprintf("versions of up to %d keys", r.Settings.CheckSample))
	for _, first := range c.First {
		p.entry(phaseIndent, "wrong", message(first))
	}
}

// failures prints each class of error with its first message.
func (p *page) failures(phase *measure.Phase) {
	first := map[[2]string]string{}
	for _, e := range phase.Errors {
		first[[2]string{e.Kind, e.Class}] = e.Message
	}
	for i := range phase.Kinds {
		k := &phase.Kinds[i]
		for _, f := range k.Failed {
			key := [2]string{k.Kind, f.Class}
			text := ""
			if msg, ok := first[key]; ok {
				text = "first: " + message(msg)
				delete(first, key)
			}
			p.entry(phaseIndent, "failed", plain(k.Kind)+" "+plain(f.Class)+": "+fmt.Sprint(f.Response.Count()),
				"response p50 "+measure.FormatDuration(f.Response.Quantile(measure.P50).Value), "max "+measure.FormatDuration(f.Response.Max()), text)
		}
	}
	for _, e := range phase.Errors {
		if msg, ok := first[[2]string{e.Kind, e.Class}]; ok && msg == e.Message {
			p.entry(phaseIndent, "error", plain(e.Kind)+" "+plain(e.Class), "first: "+message(e.Message))
		}
	}
}

// health prints how the generator itself fared.
func (p *page) health(r *measure.Result, phase *measure.Phase, all *measure.Kind) {
	h, pacer := &phase.Health, &r.Settings.Pacer
	var pacing []string
	if phase.Paced {
		spin := "no spin"
		if phase.Margin > 0 {
			spin = "spin over the last " + measure.FormatDuration(phase.Margin)
		}
		pacing = []string{
			"pacer " + plain(pacer.Method), scheduled(pacer), spin, "spin budget " + measure.FormatNumber(pacer.Budget) + " core",
			"lag p99 " + measure.FormatDuration(all.Lag.Quantile(measure.P99).Value), "max " + measure.FormatDuration(all.Lag.Max()),
		}
	}
	p.entry(phaseIndent, "generator", append(pacing,
		"run queue "+measure.FormatDuration(h.RunQueue)+" (all threads "+measure.FormatDuration(h.RunQueueAll)+")",
		"scheduler p99 "+measure.FormatDuration(h.SchedulerP99), "max "+measure.FormatDuration(h.SchedulerMax),
		"starved by the decoder "+measure.FormatDuration(h.Starved),
		fmt.Sprintf("GC %d cycles", h.GCCycles), "stopped by it "+measure.FormatDuration(h.GCPause),
		"CPU "+cores(h.CPUUser, phase.Length)+" user + "+cores(h.CPUSystem, phase.Length)+" system")...)
	var platform []string
	if h.Gaps > 0 || h.Spun > 0 {
		platform = append(platform, fmt.Sprintf("%d clock gaps over 5 µs within %s of spinning", h.Gaps, measure.FormatDuration(h.Spun)),
			"p99 "+measure.FormatDuration(h.GapP99), "max "+measure.FormatDuration(h.GapMax), "sum "+measure.FormatDuration(h.GapSum))
	}
	if len(h.CPUBusy) > 0 {
		platform = append(platform, busyCPUs(h.CPUBusy))
	}
	if len(platform) > 0 {
		p.entry(phaseIndent, "platform", platform...)
	}
}

// busyListed bounds the CPUs that are named one by one.
const busyListed = 8

// busyCPUs says how busy the machine's CPUs were, with everything on it.
func busyCPUs(busy []float64) string {
	if len(busy) > busyListed {
		least, greatest, sum := busy[0], busy[0], 0.0
		for _, b := range busy {
			least, greatest, sum = min(least, b), max(greatest, b), sum+b
		}
		return fmt.Sprintf("%d CPUs busy %.0f %% on average, %.0f %% to %.0f %%", len(busy), 100*sum/float64(len(busy)), 100*least, 100*greatest)
	}
	text := "CPUs busy"
	for _, b := range busy {
		text += fmt.Sprintf(" %.0f %%", 100*b)
	}
	return text
}

// scheduled says how the kernel treated the pacer's thread.
func scheduled(p *measure.Pacer) string {
	if p.Scheduling == "" {
		return ""
	}
	return plain(p.Scheduling) + ", timer slack " + measure.FormatDuration(p.TimerSlack)
}

// cores prints CPU time, and to two digits the number of cores it kept busy.
func cores(cpu, length time.Duration) string {
	if length <= 0 {
		return measure.FormatDuration(cpu)
	}
	busy := float64(cpu) / float64(length)
	if rounded, err := strconv.ParseFloat(strconv.FormatFloat(busy, 'e', 1, 64), 64); err == nil {
		busy = rounded
	}
	return measure.FormatDuration(cpu) + " (" + measure.FormatNumber(busy) + " cores)"
}
