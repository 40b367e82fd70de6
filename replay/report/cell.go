package report

import "pianola/replay/measure"

// columns are the quantiles of text tables: the one place that ties a label to
// its quantile.
var columns = []struct {
	label string
	q     measure.Q
}{
	{"p50", measure.P50}, {"p90", measure.P90}, {"p95", measure.P95}, {"p99", measure.P99},
	{"p99.9", measure.P999}, {"p99.99", measure.P9999}, {"max", measure.Max},
}

// beyondMin is the number of samples beyond a percentile below which it is
// marked as uncertain.
const beyondMin = 10

// cell prints the q-quantile:
//
//	1.23 ms             the quantile
//	~1.23 ms            with fewer than 10 ops beyond it
//	n/a                 with none beyond it, or no ops at all; not for max
//	> 1.23 ms (failed)  above every completed op, the longest of which took
//	                    1.23 ms: among those that failed
//
// The last form wins over the others.
func cell(q measure.Q, v measure.Quantile, completed uint64) string {
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
		row = append(row, cell(column.q, k.ResponseQuantile(column.q), k.Counts.Completed))
	}
	return row
}

// histogramRow prints the quantiles of what h counted.
func histogramRow(name string, h *measure.Histogram) []string {
	row := []string{plain(name)}
	for _, column := range columns {
		row = append(row, cell(column.q, h.Quantile(column.q), h.Count()))
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
