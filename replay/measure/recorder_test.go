package measure

import (
	"testing"
	"time"

	"pianola/traces"
)

// A run of more than intervalsMax seconds folds its intervals; some of them
// hold no completed op.
func TestLongRunsFoldTheirIntervals(t *testing.T) {
	const seconds, each = intervalsMax + 200, 3
	r := NewRecorder(1)
	completed := uint64(0)
	for i := range seconds {
		for j := range each {
			at := time.Duration(i)*time.Second + time.Duration(500+j)*time.Millisecond
			response := time.Duration(12_345_678 + i*1117 + j*777_777)
			s := &Sample{Kind: traces.Read, Due: at - response, Ready: at - response, Start: at - response, Decided: at}
			if i%100 == 99 {
				s.Outcome = Failed
			} else {
				completed++
			}
			r.Offer(0, traces.Read, s.Due)
			r.Record(0, s)
			if err := r.CloseIntervals(at); err != nil {
				t.Fatalf("at %v: %v", at, err)
			}
		}
	}
	p := Phase{Paced: true}
	if err := r.Finish(&p); err != nil {
		t.Fatal(err)
	}
	var sum Counts
	responses := uint64(0)
	for _, iv := range p.Intervals {
		for _, k := range iv.Kinds {
			sum.Add(k.Counts)
			responses += k.Response.Count()
		}
	}
	if len(p.Intervals) > intervalsMax || sum.Completed != completed || sum.Failed != seconds*each-completed || responses != completed {
		t.Errorf("%d intervals with %+v and %d responses; %d ops completed", len(p.Intervals), sum, responses, completed)
	}
}
