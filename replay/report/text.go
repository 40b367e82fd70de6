package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"pianola/bindings"
	"pianola/replay/measure"
)

// writeText writes the report for people: what forbids the use of the figures,
// the verdicts, the circumstances, then each phase.
func writeText(w io.Writer, r *measure.Result) error {
	var p page
	p.alarms(r)
	p.verdicts(r)
	p.line("")
	p.circumstances(r)
	for i := range r.Phases {
		p.line("")
		if err := p.phase(r, &r.Phases[i]); err != nil {
			return fmt.Errorf("text report of phase %q: %w", r.Phases[i].Name, err)
		}
	}
	if len(r.Phases) > 0 {
		p.line("")
		p.legend()
	}
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("write text report: %w", err)
	}
	return nil
}

// alarms says what a reader must know before any figure.
func (p *page) alarms(r *measure.Result) {
	if r.Void != "" {
		p.paragraph("VOID: ", 2, sentence(r.Void)+" None of these figures may be used.")
	}
	for i := range r.Phases {
		phase := &r.Phases[i]
		switch phase.Digest.Status {
		case measure.DigestMismatch:
			p.paragraph("DIGEST MISMATCH: ", 2, fmt.Sprintf(
				"the ops replayed in phase %s are not those that the trace states. None of these figures may be used.", plain(phase.Name)))
		case measure.DigestPartial:
			p.paragraph("DIGEST PARTIAL: ", 2, fmt.Sprintf(
				"of phase %s %d of %d chunks of ops were replayed in full and are confirmed.", plain(phase.Name), phase.Digest.Chunks, phase.Digest.Of))
		}
	}
	if r.Stopped != "" {
		p.paragraph("STOPPED: ", 2, sentence(r.Stopped))
	}
	if r.Partial {
		missing := "what was due until then"
		var notReached uint64
		for i := range r.Phases {
			notReached += r.Phases[i].NotReached
		}
		if notReached > 0 {
			missing += fmt.Sprintf("; %d ops of the phases below were not reached", notReached)
		}
		p.paragraph("PARTIAL: ", 2, "the run was interrupted. The figures cover "+missing+".")
	}
	p.errors(r)
}

// errors says which phases have more errors than the run allowed.
func (p *page) errors(r *measure.Result) {
	allowed, err := measure.ParseAllowance(r.Settings.AllowErrors)
	if err != nil {
		return
	}
	for i := range r.Phases {
		var c measure.Counts
		for j := range r.Phases[i].Kinds {
			c.Add(r.Phases[i].Kinds[j].Counts)
		}
		if allowed.Exceeded(c.Failed+c.Censored, c.Offered) {
			p.paragraph("ERRORS: ", 2, fmt.Sprintf("of phase %s %d of %d ops failed and %d were censored; allowed are %s.",
				plain(r.Phases[i].Name), c.Failed, c.Offered, c.Censored, plain(r.Settings.AllowErrors)))
		}
		if check := r.Phases[i].Check; check != nil && allowed.Exceeded(check.Mismatched+check.Stale, c.Offered) {
			p.paragraph("WRONG VALUES: ", 2, fmt.Sprintf("of phase %s %d of %d ops read what was never written and %d what had been replaced; allowed are %s.",
				plain(r.Phases[i].Name), check.Mismatched, c.Offered, check.Stale, plain(r.Settings.AllowErrors)))
		}
	}
}

// verdicts prints the verdict on each paced phase, and on others where it
// limits what the figures say.
func (p *page) verdicts(r *measure.Result) {
	if r.Settings.Asap {
		p.closedLoop()
	}
	for i := range r.Phases {
		phase := &r.Phases[i]
		word := phase.Verdict.Word
		if !phase.Paced && (word == measure.Valid || word == measure.Unjudged || word == "") {
			continue
		}
		if word == "" {
			word = measure.Unjudged
		}
		p.line("verdict on phase %s: %s", plain(phase.Name), strings.ToUpper(plain(word)))
		for _, reason := range phase.Verdict.Reasons {
			p.paragraph("  ", 2, plain(reason))
		}
	}
	if len(r.Phases) == 0 {
		p.line("verdict: none, no phase was replayed")
	}
}

// closedLoop labels what was measured without due times, and says why.
func (p *page) closedLoop() {
	p.line("CLOSED LOOP (--asap): service time and maximum throughput, NOT response under load.")
	p.paragraph("  ", 2, "Each slot starts its next op only when its last one has ended. So while the database stalls, nothing new is sent, "+
		"and ops that users would have sent meanwhile are never counted: the percentiles hide the stall (coordinated omission). "+
		"Replay without --asap to learn about response under load.")
}

// circumstances prints what was run on what.
func (p *page) circumstances(r *measure.Result) {
	p.entry(0, "run", "replay "+plain(r.Tool), "started "+r.Started.UTC().Format(time.RFC3339))
	p.trace(r)
	p.database(r)
	p.entry(0, "settings", settings(&r.Settings)...)
	p.entry(0, "prepared", preparation(&r.Settings)...)
	m := &r.Machine
	p.entry(0, "machine", plain(m.OS)+"/"+plain(m.Arch), fmt.Sprintf("%d CPUs", m.CPUs), plain(m.Model), prefixed("kernel ", m.Kernel), plain(m.Go))
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		labels = append(labels, plain(name)+"="+plain(r.Labels[name]))
	}
	p.entry(0, "labels", labels...)
}

func (p *page) trace(r *measure.Result) {
	t := &r.Trace
	p.entry(0, "trace", plain(t.Path), fmt.Sprintf("format %d", t.FormatVersion), prefixed("made by tracegen ", t.ToolVersion), fmt.Sprintf("seed %d", t.Seed),
		fmt.Sprintf("table %s of %d records with %d fields", plain(t.Table), t.Records, t.FieldCount), prefixed("field length ", t.FieldLength))
	digest := plain(t.Digest)
	if digest == "" {
		digest = "not stated: the end of the trace was not reached"
	}
	if t.Confirmed {
		p.entry(0, "", "digest "+digest, "confirmed: every op of the trace came due")
		return
	}
	state := []string{"digest " + digest, "not confirmed as a whole"}
	for i := range r.Phases {
		d := &r.Phases[i].Digest
		text := plain(r.Phases[i].Name) + " " + plain(d.Status)
		if d.Status == measure.DigestPartial {
			text += fmt.Sprintf(" (%d of %d chunks)", d.Chunks, d.Of)
		}
		state = append(state, text)
	}
	p.entry(0, "", state...)
}

func (p *page) database(r *measure.Result) {
	d := &r.Database
	how := "the default"
	if d.Chosen {
		how = "chosen by --db"
	}
	place := plain(d.Place)
	switch d.Place {
	case "nowhere":
		place = "does nothing: these figures are the generator's own"
	case "embedded":
		place = "embedded in this process"
	}
	p.entry(0, "database", plain(d.Name), how, place)
	p.entry(0, "", facts(d.Properties)...)
	p.entry(0, "", facts(d.Facts)...)
	if c := r.Contents; c != nil {
		p.entry(0, "contents", fmt.Sprintf("%d records read back", c.Records), "digest "+plain(c.Digest))
	}
}

func facts(list []bindings.Fact) []string {
	var out []string
	for _, f := range list {
		out = append(out, plain(f.Name)+"="+plain(f.Value))
	}
	return out
}

func settings(s *measure.Settings) []string {
	pace := ""
	switch {
	case s.Asap:
		pace = "--asap"
	case s.SpeedNumerator != s.SpeedDenominator:
		pace = fmt.Sprintf("due times of the trace × %d/%d", s.SpeedDenominator, s.SpeedNumerator)
	}
	return []string{
		"phases " + plain(s.Phase), pace, fmt.Sprintf("%d slots", s.Slots), "overload " + plain(s.Overload), "order " + plain(s.Order),
		"deadline " + measure.FormatDuration(s.Deadline), "grace " + measure.FormatDuration(s.Grace),
		"errors allowed " + plain(s.AllowErrors), plain(s.Executor) + " sessions",
	}
}

// preparation says what was done about the table, and what is checked.
func preparation(s *measure.Settings) []string {
	var out []string
	if s.Drop {
		out = append(out, "dropped the table before the load")
	}
	if s.Resume {
		out = append(out, "resumed the load")
	}
	if s.Settle != "" {
		out = append(out, "settled behind it for "+measure.FormatDuration(s.Settled)+": "+plain(s.Settle))
	}
	if s.CheckSample > 0 {
		out = append(out, "values are checked, which service includes")
	}
	return out
}

// prefixed returns prefix and s, or nothing if s is empty.
func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + plain(s)
}

// legend explains the words and marks of the tables.
func (p *page) legend() {
	p.line("response = end − due = wait (for a slot, or key) + lag (the generator's delay) + service (start to answer)")
	p.paragraph("", 0, "Response ranks over all ops offered; those without an answer rank above the completed: > X (why). "+
		"~ fewer than 10 ops beyond, n/a none beyond. Wait and lag are of every op started, service of the completed.")
}

// sentence returns s with a full stop.
func sentence(s string) string { return strings.TrimRight(plain(s), ". ") + "." }
