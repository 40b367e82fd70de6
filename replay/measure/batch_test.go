package measure

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/traces"
)

// TestBatchesChangeNothing: figures are the same as where each op is counted by
// itself, whatever comes between ops of a batch.
func TestBatchesChangeNothing(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 9))
		together, alone := NewRecorder(1+r.IntN(3)), NewRecorder(1)
		now := time.Duration(0)
		kinds := 1 + r.IntN(int(traces.KindLimit)-1)
		others := r.IntN(3) * 10 // percent
		for range 5000 {
			now += time.Duration(r.Int64N(int64(time.Millisecond)))
			s := Sample{Kind: traces.Kind(1 + r.IntN(kinds)), Decided: now}
			if r.IntN(50) == 0 {
				s.Decided -= time.Duration(r.Int64N(int64(max(now, 1)))) // decided before others, as a deadline is
			}
			s.Start = s.Decided - time.Duration(r.Uint64()>>1>>(1+r.IntN(62)))
			s.Ready = s.Start - time.Duration(r.Int64N(1e9)-1e3)
			s.Due = s.Ready - time.Duration(r.Int64N(1e9))
			if r.IntN(100) < others {
				s.Outcome = Outcome(r.IntN(int(Unsent) + 1))
				s.Class = bindings.Class(r.IntN(int(bindings.ClassLimit)))
				s.KeyFree = s.Due + time.Duration(r.IntN(3)-1)
				s.ReadEnded = s.Start + time.Duration(r.IntN(3))
			}
			together.Offer(r.IntN(9), s.Kind, max(s.Due, 0))
			together.Record(r.IntN(9), &s)
			alone.Offer(0, s.Kind, max(s.Due, 0))
			recordAlone(alone, &s)
			if r.IntN(100) == 0 {
				a, b := together.Counts(), alone.Counts()
				if a.Offered, b.Offered = 0, 0; a != b {
					t.Fatalf("seed %d: %+v counted, want %+v", seed, a, b)
				}
			}
			if r.IntN(1000) == 0 {
				var a, b Live
				for _, of := range []struct {
					r *Recorder
					l *Live
				}{{together, &a}, {alone, &b}} {
					if err := of.r.SetLive(of.l, now); err != nil {
						t.Fatal(err)
					}
					if err := of.r.CloseIntervals(now); err != nil {
						t.Fatal(err)
					}
				}
				if a != b {
					t.Fatalf("seed %d: a status of %+v, want %+v", seed, a, b)
				}
			}
		}
		if got, want := finished(t, together), finished(t, alone); got != want {
			t.Fatalf("seed %d: %s\nwant %s", seed, got, want)
		}
	}
}

func recordAlone(r *Recorder, s *Sample) {
	p := &r.stripes[0]
	p.decided.add(s.Decided)
	p.last = max(p.last, s.Decided)
	p.count(s)
}

func finished(t *testing.T, r *Recorder) string {
	t.Helper()
	p := Phase{Paced: true}
	if err := r.Finish(&p); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRecordingAllocatesNothing once all kinds and the interval are there.
func TestRecordingAllocatesNothing(t *testing.T) {
	r := NewRecorder(1)
	s := Sample{Kind: traces.Read, Decided: 5}
	r.Record(0, &s)
	if n := testing.AllocsPerRun(1000, func() {
		s.Decided++
		r.Record(0, &s)
	}); n > 0 {
		t.Errorf("%v allocations an op", n)
	}
}
