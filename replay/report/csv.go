package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"pianola/replay/measure"
)

// The form "csv" is one table with a header line, by RFC 4180 but for lines
// that end in a line feed alone. A row is one kind of op, or all, in one span
// of time: a whole phase (span "phase") or an interval of it (span "interval").
// Rows of a phase follow each other, the whole phase first.
//
//   - start_ns counts from the start of the run. length_ns is the true length:
//     the last interval of a phase may be a part of one.
//   - due is the number of ops due in the span: those offered. For an interval
//     it is known of all kinds together only, and else empty.
//   - The counts are of ops whose fate was decided in the span; expected, raced
//     and orphaned misses are among the completed.
//   - min and mean are of the response of completed ops, and empty without any.
//   - Quantiles are of response and rank over all ops offered, in an interval
//     over all decided in it; max is the last of them. ">123" says that it falls
//     on an op that was not completed, and that the longest completed one took
//     123 ns. A quantile with no op beyond it is empty, but for max, and all are
//     where there is no op.
//   - Times are exact where they are extremes. Others are within 0.1 % for
//     whole phases and within 1 % for intervals.
//   - paced, verdict, keys and caveats are those of the phase.

// csvRow is what a row is made of.
type csvRow struct {
	span          string
	phase         *measure.Phase
	kind          measure.Kind
	due           string
	start, length time.Duration
	caveats       string
}

// csvColumn ties a label to the cells below it.
type csvColumn struct {
	label string
	cell  func(r *csvRow) string
}

// csvColumns returns all columns.
func csvColumns() []csvColumn {
	out := []csvColumn{
		{"span", func(r *csvRow) string { return r.span }},
		{"phase", func(r *csvRow) string { return csvText(r.phase.Name) }},
		{"kind", func(r *csvRow) string { return csvText(r.kind.Kind) }},
		{"start_ns", func(r *csvRow) string { return csvTime(r.start) }},
		{"length_ns", func(r *csvRow) string { return csvTime(r.length) }},
		{"due", func(r *csvRow) string { return r.due }},
	}
	for _, count := range countColumns[1:] { // offered ones are due
		out = append(out, csvColumn{count.label, func(r *csvRow) string { return strconv.FormatUint(count.of(&r.kind.Counts), 10) }})
	}
	out = append(out,
		csvColumn{"min_ns", func(r *csvRow) string { return csvCompleted(r, csvTime(r.kind.Response.Min())) }},
		csvColumn{"mean_ns", func(r *csvRow) string {
			return csvCompleted(r, strconv.FormatFloat(r.kind.Response.Mean(), 'f', 1, 64))
		}})
	for _, column := range columns {
		out = append(out, csvColumn{column.label + "_ns", func(r *csvRow) string { return csvQuantile(column.q, r) }})
	}
	return append(out,
		csvColumn{"paced", func(r *csvRow) string { return strconv.FormatBool(r.phase.Paced) }},
		csvColumn{"verdict", func(r *csvRow) string { return csvText(r.phase.Verdict.Word) }},
		csvColumn{"keys", func(r *csvRow) string { return csvText(r.phase.KeyLaw) }},
		csvColumn{"caveats", func(r *csvRow) string { return csvText(r.caveats) }})
}

// writeCSV writes the table.
func writeCSV(w io.Writer, r *measure.Result) error {
	table := csvTable{columns: csvColumns()}
	table.head()
	for i := range r.Phases {
		if err := table.phase(&r.Phases[i], strings.Join(caveats(r, &r.Phases[i]), "; ")); err != nil {
			return fmt.Errorf("csv report: %w", err)
		}
	}
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(table.rows); err != nil {
		return fmt.Errorf("csv report: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write csv report: %w", err)
	}
	return nil
}

// csvTable is a table in the making.
type csvTable struct {
	columns []csvColumn
	rows    [][]string
}

// head adds the header line.
func (t *csvTable) head() {
	var labels []string
	for _, column := range t.columns {
		labels = append(labels, column.label)
	}
	t.rows = append(t.rows, labels)
}

// phase adds the rows of a phase.
func (t *csvTable) phase(phase *measure.Phase, caveats string) error {
	all, err := phase.Total()
	if err != nil {
		return err
	}
	row := csvRow{span: "phase", phase: phase, start: phase.Start, length: phase.Length, caveats: caveats}
	for _, k := range append(append([]measure.Kind(nil), phase.Kinds...), all) {
		row.kind, row.due = k, strconv.FormatUint(k.Counts.Offered, 10)
		t.add(&row)
	}
	row.span = "interval"
	for i := range phase.Intervals {
		iv := &phase.Intervals[i]
		kinds, err := intervalKinds(phase, iv)
		if err != nil {
			return err
		}
		row.start, row.length = phase.Start+iv.Start, iv.Length
		for j := range kinds {
			row.kind, row.due = decided(&kinds[j]), ""
			if j == len(kinds)-1 { // all kinds
				row.due = strconv.FormatUint(iv.Due, 10)
			}
			t.add(&row)
		}
	}
	return nil
}

func (t *csvTable) add(row *csvRow) {
	var cells []string
	for _, column := range t.columns {
		cells = append(cells, column.cell(row))
	}
	t.rows = append(t.rows, cells)
}

func csvTime(d time.Duration) string { return strconv.FormatInt(int64(d), 10) }

// csvCompleted returns cell if an op was completed.
func csvCompleted(r *csvRow, cell string) string {
	if r.kind.Response.Count() == 0 {
		return ""
	}
	return cell
}

// csvQuantile prints a quantile of response in ns.
func csvQuantile(q measure.Q, r *csvRow) string {
	v := r.kind.ResponseQuantile(q)
	switch {
	case v.None:
		return ""
	case v.Above != "":
		return ">" + csvTime(v.Value)
	case v.Beyond == 0 && q != measure.Max:
		return ""
	}
	return csvTime(v.Value)
}

// csvText returns text that no spreadsheet takes for a formula.
func csvText(s string) string {
	s = plain(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
