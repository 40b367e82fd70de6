package report

import "pianola/replay/measure"

// columns are the quantiles that reports print: the one place that ties a label
// to its quantile. Those that YCSB prints have YCSB's label too.
var columns = []struct {
	label string
	q     measure.Q
	ycsb  string
}{
	{"p50", measure.P50, "50th"}, {"p90", measure.P90, ""}, {"p95", measure.P95, "95th"}, {"p99", measure.P99, "99th"},
	{"p99.9", measure.P999, ""}, {"p99.99", measure.P9999, ""}, {"max", measure.Max, ""},
}

// countColumns tie labels to counts. Lost are the ops that were not completed;
// misses are among the completed.
var countColumns = []struct {
	label      string
	of         func(c *measure.Counts) uint64
	lost, miss bool
}{
	{label: "offered", of: func(c *measure.Counts) uint64 { return c.Offered }},
	{label: "completed", of: func(c *measure.Counts) uint64 { return c.Completed }},
	{label: "failed", of: func(c *measure.Counts) uint64 { return c.Failed }, lost: true},
	{label: "censored", of: func(c *measure.Counts) uint64 { return c.Censored }, lost: true},
	{label: "dropped", of: func(c *measure.Counts) uint64 { return c.Dropped }, lost: true},
	{label: "unsent", of: func(c *measure.Counts) uint64 { return c.Unsent }, lost: true},
	{label: "expected", of: func(c *measure.Counts) uint64 { return c.Expected }, miss: true},
	{label: "raced", of: func(c *measure.Counts) uint64 { return c.Raced }, miss: true},
	{label: "orphaned", of: func(c *measure.Counts) uint64 { return c.Orphaned }, miss: true},
}

// beyondMin is the number of samples beyond a percentile below which it is
// marked as uncertain.
const beyondMin = 10

// FormatQuantile prints the q-quantile:
//
//	1.23 ms             the quantile
//	~1.23 ms            with fewer than 10 ops beyond it
//	n/a                 with none beyond it, or no ops at all; not for max
//	> 1.23 ms (failed)  above every completed op, the longest of which took
//	                    1.23 ms: among those that failed
//
// The last form wins over the others. completed is the number of those that
// were completed.
func FormatQuantile(q measure.Q, v measure.Quantile, completed uint64) string {
	switch {
	case v.None:
		return "n/a"
	case v.Above != "" && completed == 0:
		return "> n/a (" + v.Above + ")"
	case v.Above != "":
		return "> " + measure.FormatDuration(v.Value) + " (" + v.Above + ")"
	case q == measure.Max || v.Beyond >= beyondMin:
		return measure.FormatDuration(v.Value)
	case v.Beyond == 0:
		return "n/a"
	}
	return "~" + measure.FormatDuration(v.Value)
}

// responseRow prints the response quantiles of k over all ops offered.
func responseRow(k *measure.Kind) []string {
	row := []string{plain(k.Kind)}
	for _, column := range columns {
		row = append(row, FormatQuantile(column.q, k.ResponseQuantile(column.q), k.Counts.Completed))
	}
	return row
}

// histogramRow prints the quantiles of what h counted.
func histogramRow(name string, h *measure.Histogram) []string {
	row := []string{plain(name)}
	for _, column := range columns {
		row = append(row, FormatQuantile(column.q, h.Quantile(column.q), h.Count()))
	}
	return row
}

// quantileHead is the head of a table of quantiles.
func quantileHead(name string) []string {
	head := []string{name}
	for _, column := range columns {
		head = append(head, column.label)
	}
	return head
}
