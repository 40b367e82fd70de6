// Package measure records what a run does and holds what it measured: counts,
// histograms, intervals, quantiles over the offered ops, and the verdict. The
// words are those of package replay, which is the measurement contract.
package measure
