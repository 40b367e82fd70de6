package report

import (
	"io"
	"testing"
	"time"

	"pianola/replay/measure"
	"pianola/traces"
)

// BenchmarkLongRun makes and writes the result of a run of 4096 intervals, the
// most that there are, of two kinds.
func BenchmarkLongRun(b *testing.B) {
	recorder := measure.NewRecorder(2)
	for second := range 4096 {
		for i := range 200 {
			at := time.Duration(second)*time.Second + time.Duration(i)*ms
			for _, kind := range []traces.Kind{traces.Read, traces.Update} {
				recorder.Offer(0, kind, at)
				recorder.Record(i, &measure.Sample{Kind: kind, Due: at, Ready: at, Start: at, Decided: at + time.Duration(i*i)*µs})
			}
		}
	}
	begin := time.Now()
	var phase measure.Phase
	if err := recorder.Finish(&phase); err != nil {
		b.Fatal(err)
	}
	finish := time.Since(begin)
	r := newResult(phase)
	for b.Loop() {
		if err := writeJSON(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(finish.Seconds()*1e9, "ns/finish")
}
