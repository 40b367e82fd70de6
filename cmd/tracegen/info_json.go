package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"pianola/traces"
)

// traceInfo is what info prints as JSON.
type traceInfo struct {
	Trace     string        `json:"trace"`
	Digest    string        `json:"digest"`
	Format    int           `json:"format"`
	Tool      string        `json:"tool"`
	Generator string        `json:"generator"`
	Seed      uint64        `json:"seed"`
	TickNs    int64         `json:"tick_ns"`
	Table     string        `json:"table"`
	FirstKey  uint64        `json:"first_key"`
	Records   uint64        `json:"records"`
	FreeKey   uint64        `json:"first_free_key"`
	Fields    int           `json:"fields"`
	Length    string        `json:"field_length"`
	Phases    []phaseReport `json:"phases"`
	Spec      string        `json:"spec"`
	// Stated says that no operation was read.
	Stated bool `json:"stated_only,omitempty"`
}

// phaseReport is that of one phase; what is not known is left out.
type phaseReport struct {
	Name      string            `json:"name"`
	Ops       uint64            `json:"ops"`
	Kinds     map[string]uint64 `json:"kinds"`
	Mix       map[string]string `json:"stated_mix,omitempty"`
	KeyLaw    string            `json:"key_law"`
	ScanLaw   string            `json:"scan_law,omitempty"`
	Arrivals  string            `json:"arrivals,omitempty"`
	Rate      float64           `json:"rate,omitempty"`
	LastDueNs int64             `json:"last_due_ns"`
	Keys      *[2]uint64        `json:"key_numbers,omitempty"`
	Skew      []hotShare        `json:"skew,omitempty"`
	SkewExact *bool             `json:"skew_exact,omitempty"`
	Bits      float64           `json:"bits_per_op"`
	Bound     float64           `json:"bound_bits_per_op,omitempty"`
	// RateOverTime counts the operations in equal slices of the phase.
	RateOverTime []float64 `json:"rate_over_time,omitempty"`
}

func infoJSON(w io.Writer, r *traces.Reader, totals *traces.Totals, m *measured) error {
	h := r.Header()
	out := traceInfo{
		Trace: r.Path(), Digest: hex.EncodeToString(totals.Digest[:]), Format: h.FormatVersion, Tool: h.ToolVersion, Generator: h.Generator,
		Seed: h.Seed, TickNs: int64(h.Tick), Table: h.Table, FirstKey: h.FirstKey, Records: h.Records, FreeKey: totals.FirstFreeKey,
		Fields: h.Fields.Count, Length: h.Fields.Length.String(), Spec: h.Spec, Stated: !m.read,
	}
	for i := range h.Phases {
		out.Phases = append(out.Phases, reportOf(h, i, &totals.Phases[i], &m.phases[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(&out); err != nil {
		return fmt.Errorf("print the facts of a trace: %w", err)
	}
	return nil
}

func reportOf(h *traces.Header, phase int, t *traces.PhaseTotal, m *measuredPhase) phaseReport {
	p := &h.Phases[phase]
	out := phaseReport{
		Name: p.Name, Ops: t.Count(), Kinds: map[string]uint64{}, Mix: map[string]string{}, KeyLaw: p.KeyLaw, ScanLaw: p.ScanLaw,
		Arrivals: p.Arrivals, Rate: p.Rate.PerSecond(), LastDueNs: int64(t.LastDue) * int64(h.Tick),
	}
	for k := range traces.KindLimit {
		if n := t.Ops[k]; n > 0 {
			out.Kinds[k.String()] = n
		}
	}
	for _, s := range p.Mix {
		out.Mix[s.Kind.String()] = s.Share
	}
	if t.Count() > 0 {
		out.Bits = m.bits(t.Count())
	}
	if m.skew.total > 0 {
		skew, exact := m.skew.shares(h.Records)
		out.Skew, out.SkewExact = skew, &exact
	}
	if m.any {
		out.Keys = &m.keys
	}
	if m.bound != nil {
		out.Bound = m.bound.Total()
	}
	if m.chart != nil {
		counts := m.chart.columns()
		out.RateOverTime = counts[:]
	}
	return out
}
