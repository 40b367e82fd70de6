// Package report prints the result of a run for people and for other programs.
// A run is recorded once and reported many ways: every form is a function of a
// measure.Result alone, whether the run has just ended or its result file was
// read back with Read.
//
// To add a form, write its function in a file of its own and add it to the
// list in report.go.
package report
