package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pianola/traces"
)

func infoCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:         "info",
		Usage:        "say what a trace holds and which laws made it",
		UsageText:    "tracegen info FILE",
		Description:  "Example:\n\n  tracegen info b.trace.zst\n\nEvery byte of the file is read and checked. - is standard input.",
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			path, err := oneFile(c)
			if err != nil {
				return err
			}
			r, err := traces.Open(path)
			if err != nil {
				return err
			}
			defer r.Close()
			var b traces.Block
			var bounds phaseBounds
			for err = r.NextBlock(&b); err == nil; err = r.NextBlock(&b) {
				bounds.add(&b)
			}
			if err != io.EOF {
				return err
			}
			return info(stdout, r, &bounds)
		},
	}
}

// phaseBounds are the key numbers that a trace touches.
type phaseBounds struct{ keys map[int][2]uint64 }

func (p *phaseBounds) add(b *traces.Block) {
	if p.keys == nil {
		p.keys = map[int][2]uint64{}
	}
	span, seen := p.keys[b.Phase]
	for _, k := range b.Keys {
		if !seen {
			span, seen = [2]uint64{k, k}, true
		}
		span[0], span[1] = min(span[0], k), max(span[1], k)
	}
	p.keys[b.Phase] = span
}

// lines prints aligned names and values and keeps the first error.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) add(name, format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
}

func info(w io.Writer, r *traces.Reader, bounds *phaseBounds) error {
	h := r.Header()
	totals, _ := r.Totals()
	l := &lines{w: w}
	l.add("trace", "%s", r.Path())
	l.add("digest", "%x", totals.Digest)
	l.add("format", "%d, written by tracegen %s (%s), ticks of %v", h.FormatVersion, h.ToolVersion, h.Generator, h.Tick)
	l.add("seed", "%d", h.Seed)
	l.add("table", "%s", h.Table)
	l.add("keys", "prefix %q, %s, at least %d digits; first free key number %d", h.Keys.Prefix, h.Keys.Order, h.Keys.Padding, totals.FirstFreeKey)
	record := uint64(h.Fields.Count) * uint64(h.Fields.Length.Max())
	l.add("records", "%d of %d fields (%s0…), %s bytes each: %d bytes of values", h.Records, h.Fields.Count, h.Fields.Prefix, h.Fields.Length, h.Records*record)
	for i := range h.Phases {
		phaseInfo(l, &h.Phases[i], &totals.Phases[i], bounds.keys[i], h.Tick)
	}
	for _, hint := range h.Hints {
		l.add("hint", "%s=%s", hint.Name, hint.Value)
	}
	l.add("spec", "%s", strings.ReplaceAll(strings.TrimSuffix(h.Spec, "\n"), "\n", "\n             "))
	return l.err
}

func phaseInfo(l *lines, p *traces.Phase, t *traces.PhaseTotal, keys [2]uint64, tick time.Duration) {
	pace := "unpaced"
	if p.Paced {
		length := time.Duration(t.LastDue) * tick
		pace = fmt.Sprintf("%s, over %v", p.Arrivals, length)
	}
	l.add("phase "+p.Name, "%d operations, %s", t.Count(), pace)
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
	l.add("", "keys: %s; key numbers %d to %d", p.KeyLaw, keys[0], keys[1])
	if p.ScanLaw != "" {
		l.add("", "scan lengths: %s", p.ScanLaw)
	}
	if t.Ops[traces.Insert] > 0 && p.VisibilityOps > 0 {
		l.add("", "an insert is read by operations more than %d behind it", p.VisibilityOps)
	}
}
