package main

import (
	"fmt"
	"io"
	"math/bits"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pianola/cmd/exit"
	"pianola/tracegen"
	"pianola/traces"
	"pianola/traces/payload"
)

func infoCommand() *cli.Command {
	return &cli.Command{
		Name:      "info",
		Usage:     "say what a trace holds and which laws made it",
		UsageText: "tracegen info [--json] [--stated] FILE",
		Description: `Example:

  tracegen info b.trace.zst
  tracegen info --stated b.trace.zst

Every byte of the file is read and checked. Shares of the hottest keys are counted over
16,777,216 operations of a phase at most. The bound is the entropy of an operation by
the laws of the spec: no file of single operations takes fewer bits. --stated tells at
once, however large the trace, what header and footer state: all but keys drawn and
skew, and the rate from block to block. FILE may be -, standard input, whose footer
isn't known until its end.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "one JSON object", DisableDefaultText: true},
			&cli.BoolFlag{Name: "stated", Usage: "what header and footer state, without reading operations", DisableDefaultText: true},
		},
		Action: func(c *cli.Context) error {
			r, err := openTrace(c)
			if err != nil {
				return err
			}
			defer r.Close()
			totals, m, err := facts(r, c.Bool("stated"), c.App.ErrWriter)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return infoJSON(c.App.Writer, r, totals, m)
			}
			return info(c.App.Writer, r, totals, m)
		},
	}
}

// facts returns totals and measures of a trace: of what its footer states, or
// of a pass over its operations.
func facts(r *traces.Reader, stated bool, stderr io.Writer) (*traces.Totals, *measured, error) {
	m := newMeasured(r)
	totals, known := r.Totals()
	switch {
	case !stated:
		r.DecodeAhead(decoders())
		var err error
		if totals, err = readAll(r, m.add, stderr); err != nil {
			return nil, nil, err
		}
		m.read = true
	case !known:
		return nil, nil, exit.With(exit.Failed, fmt.Errorf("tell what the footer of %s states: it is a stream, which is read in order", r.Path()),
			"without --stated it is read to its end")
	default:
		m.pace(r, totals)
	}
	m.weigh(r)
	return totals, m, nil
}

// measured is what the operations themselves tell, by phase; without a pass over
// them it is what their index tells.
type measured struct {
	phases []measuredPhase
	read   bool
}

type measuredPhase struct {
	// keys are the least and the greatest key number.
	keys  [2]uint64
	any   bool
	skew  skew
	chart *rateChart
	// bytes of the phase's blocks; bound is nil where the laws are not known.
	bytes uint64
	bound *tracegen.Bound
}

// newMeasured prepares for the phases of a trace.
func newMeasured(r *traces.Reader) *measured {
	h := r.Header()
	m := &measured{phases: make([]measuredPhase, len(h.Phases))}
	for i := range h.Phases {
		if h.Phases[i].Paced {
			m.phases[i].chart = new(rateChart)
		}
	}
	if g, err := generatorOf(h, h.Seed); err == nil {
		for i, b := range g.Bounds() {
			if i < len(m.phases) && b.Phase == h.Phases[i].Name {
				m.phases[i].bound = &b
			}
		}
	}
	return m
}

func (m *measured) add(b *traces.Block) {
	p := &m.phases[b.Phase]
	for _, key := range b.Keys {
		if !p.any {
			p.keys, p.any = [2]uint64{key, key}, true
		}
		p.keys[0], p.keys[1] = min(p.keys[0], key), max(p.keys[1], key)
	}
	p.skew.add(b)
	if p.chart != nil {
		p.chart.add(b)
	}
}

// pace draws the rate of what the index says: how many operations are due from
// the first of a block to the first of the next one.
func (m *measured) pace(r *traces.Reader, totals *traces.Totals) {
	places, _ := r.Places()
	end := uint64(0)
	for i := range totals.Phases {
		end += totals.Phases[i].Count()
	}
	for i, b := range places {
		chart := m.phases[b.Phase].chart
		if chart == nil {
			continue
		}
		next := traces.BlockPlace{First: end, Due: totals.Phases[b.Phase].LastDue + 1}
		if i+1 < len(places) {
			next.First = places[i+1].First
			if places[i+1].Phase == b.Phase {
				next.Due = places[i+1].Due
			}
		}
		chart.spread(b.Due, next.Due, next.First-b.First)
	}
}

// weigh adds up the bytes of each phase's blocks, once the index is known.
func (m *measured) weigh(r *traces.Reader) {
	places, _ := r.Places()
	for _, b := range places {
		m.phases[b.Phase].bytes += uint64(b.Bytes)
	}
}

// lines prints aligned names and values and keeps the first error.
type lines struct {
	w   io.Writer
	err error
}

// nameWidth is the width of the names at the left.
const nameWidth = 12

func (l *lines) add(name, format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, "%-*s %s\n", nameWidth, name, fmt.Sprintf(format, args...))
	}
}

func info(w io.Writer, r *traces.Reader, totals *traces.Totals, m *measured) error {
	h := r.Header()
	l := &lines{w: w}
	l.add("trace", "%s", r.Path())
	l.add("digest", "%x", totals.Digest)
	if !m.read {
		l.add("", "as header and footer state; no operation was read")
	}
	l.add("format", "%d, written by tracegen %s (%s), ticks of %v", h.FormatVersion, h.ToolVersion, h.Generator, h.Tick)
	l.add("seed", "%d", h.Seed)
	l.add("table", "%s", h.Table)
	l.add("keys", "prefix %q, %s, at least %s; first free key number %d",
		h.Keys.Prefix, h.Keys.Order, counted(uint64(h.Keys.Padding), "digit"), totals.FirstFreeKey)
	l.add("records", "%d of %s (%s), %s bytes each%s", h.Records, counted(uint64(h.Fields.Count), "field"), fieldNames(h), h.Fields.Length, valueBytes(h))
	for i := range h.Phases {
		phaseInfo(l, h, i, &totals.Phases[i], &m.phases[i])
	}
	for _, hint := range h.Hints {
		l.add("hint", "%s=%s", hint.Name, hint.Value)
	}
	l.add("spec", "%s", strings.ReplaceAll(strings.TrimSuffix(h.Spec, "\n"), "\n", "\n"+strings.Repeat(" ", nameWidth+1)))
	return l.err
}

func fieldNames(h *traces.Header) string {
	first, last := h.Fields.Name(0), h.Fields.Name(h.Fields.Count-1)
	if first == last {
		return first
	}
	return first + " to " + last
}

// valueBytes says how large the values of all records are, unless no 64 bits
// hold that, and how they are built if not as they are without a word.
func valueBytes(h *traces.Header) string {
	text := ""
	if over, bytes := bits.Mul64(h.Records, uint64(h.Fields.Count)*uint64(h.Fields.Length.Max())); over == 0 {
		most := ""
		if h.Fields.Length.Min() < h.Fields.Length.Max() {
			most = "at most "
		}
		text = fmt.Sprintf(": %s%d bytes of values", most, bytes)
	}
	if h.Fields.Values.Scheme != payload.Printable {
		text += ", " + h.Fields.Values.String()
	}
	return text
}

func phaseInfo(l *lines, h *traces.Header, phase int, t *traces.PhaseTotal, m *measuredPhase) {
	p := &h.Phases[phase]
	pace := "unpaced"
	if p.Paced {
		pace = fmt.Sprintf("%s, the last one due at %v", p.Arrivals, time.Duration(t.LastDue)*h.Tick)
	}
	l.add("phase "+p.Name, "%s, %s", counted(t.Count(), "operation"), pace)
	if t.Count() == 0 {
		return
	}
	stated := map[traces.Kind]string{}
	for _, s := range p.Mix {
		stated[s.Kind] = s.Share
	}
	for k := range traces.KindLimit {
		if n := t.Ops[k]; n > 0 {
			l.add("", "%-16s %d, a share of %.4f (stated %s)", k, n, float64(n)/float64(t.Count()), stated[k])
		}
	}
	l.add("", "keys: %s", p.KeyLaw)
	if m.any {
		l.add("", "key numbers drawn: %d to %d", m.keys[0], m.keys[1])
	}
	if text := skewText(&m.skew, h.Records); text != "" {
		l.add("", "%s", text)
	}
	if p.ScanLaw != "" {
		l.add("", "scan lengths: %s", p.ScanLaw)
	}
	if t.Ops[traces.Insert] > 0 && p.VisibilityOps > 0 {
		l.add("", "an insert is read only by operations more than %d behind it", p.VisibilityOps)
	}
	l.add("", "%s", bitsText(t.Count(), m))
	if m.chart != nil {
		for _, line := range m.chart.lines(h.Tick) {
			l.add("", "%s", line)
		}
	}
}

// skewText says how the operations of a phase are shared among keys.
func skewText(s *skew, records uint64) string {
	shares, exact := s.shares(records)
	if s.total == 0 || len(shares) == 0 {
		return ""
	}
	text := "measured skew, in shares of the operations: "
	if !exact {
		text += "at least "
	}
	for i, h := range shares {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.3g %% on the %s", 100*h.Share, h.Keys)
	}
	return text
}

// bitsText sets the size of a phase beside its bound.
func bitsText(ops uint64, m *measuredPhase) string {
	text := fmt.Sprintf("%.4g bits per operation in the file", m.bits(ops))
	if m.bound == nil {
		return text + "; the bound is not known, as the spec is not this program's"
	}
	var parts []string
	for _, part := range []struct {
		name string
		bits float64
	}{{"kinds", m.bound.Kinds}, {"keys", m.bound.Keys}, {"gaps", m.bound.Gaps}, {"scan lengths", m.bound.ScanLengths}, {"fields", m.bound.Fields}} {
		if part.bits > 0 {
			parts = append(parts, fmt.Sprintf("%s %.4g", part.name, part.bits))
		}
	}
	if text += fmt.Sprintf(", the bound by its laws is %.4g", m.bound.Total()); len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

func (m *measuredPhase) bits(ops uint64) float64 { return 8 * float64(m.bytes) / float64(ops) }

// counted returns a number and the noun of what is counted.
func counted(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
