package main

import (
	"fmt"
	"io"
	"math/bits"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pianola/traces"
	"pianola/traces/payload"
)

func infoCommand() *cli.Command {
	return &cli.Command{
		Name:      "info",
		Usage:     "say what a trace holds and which laws made it",
		UsageText: "tracegen info FILE",
		Description: `Example:

  tracegen info b.trace.zst

Every byte of the file is read and checked. FILE may be -, standard input.`,
		Action: func(c *cli.Context) error {
			r, err := openTrace(c)
			if err != nil {
				return err
			}
			defer r.Close()
			keys := keyRanges{}
			totals, err := readAll(r, keys.add)
			if err != nil {
				return err
			}
			return info(c.App.Writer, r, totals, keys)
		},
	}
}

// keyRanges holds the least and the greatest key number of each phase.
type keyRanges map[int][2]uint64

func (k keyRanges) add(b *traces.Block) {
	span, seen := k[b.Phase]
	for _, key := range b.Keys {
		if !seen {
			span, seen = [2]uint64{key, key}, true
		}
		span[0], span[1] = min(span[0], key), max(span[1], key)
	}
	k[b.Phase] = span
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

func info(w io.Writer, r *traces.Reader, totals *traces.Totals, keys keyRanges) error {
	h := r.Header()
	l := &lines{w: w}
	l.add("trace", "%s", r.Path())
	l.add("digest", "%x", totals.Digest)
	l.add("format", "%d, written by tracegen %s (%s), ticks of %v", h.FormatVersion, h.ToolVersion, h.Generator, h.Tick)
	l.add("seed", "%d", h.Seed)
	l.add("table", "%s", h.Table)
	l.add("keys", "prefix %q, %s, at least %s; first free key number %d",
		h.Keys.Prefix, h.Keys.Order, counted(uint64(h.Keys.Padding), "digit"), totals.FirstFreeKey)
	l.add("records", "%d of %s (%s), %s bytes each%s", h.Records, counted(uint64(h.Fields.Count), "field"), fieldNames(h), h.Fields.Length, valueBytes(h))
	for i := range h.Phases {
		phaseInfo(l, &h.Phases[i], &totals.Phases[i], keys[i], h.Tick)
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

func phaseInfo(l *lines, p *traces.Phase, t *traces.PhaseTotal, keys [2]uint64, tick time.Duration) {
	pace := "unpaced"
	if p.Paced {
		pace = fmt.Sprintf("%s, the last one due at %v", p.Arrivals, time.Duration(t.LastDue)*tick)
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
	l.add("", "key numbers drawn: %d to %d", keys[0], keys[1])
	if p.ScanLaw != "" {
		l.add("", "scan lengths: %s", p.ScanLaw)
	}
	if t.Ops[traces.Insert] > 0 && p.VisibilityOps > 0 {
		l.add("", "an insert is read only by operations more than %d behind it", p.VisibilityOps)
	}
}

// counted returns a number and the noun of what is counted.
func counted(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
