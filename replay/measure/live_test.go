package measure

import (
	"testing"
	"time"
)

func TestLiveRanksOverTheOpsDecided(t *testing.T) {
	response, wait, lag := NewHistogram(), NewHistogram(), NewHistogram()
	for i := range 98 {
		response.Record(time.Duration(i + 1))
		wait.Record(time.Duration(2 * i))
		lag.Record(time.Duration(3 * i))
	}
	var l Live
	l.SetWindow(time.Second, Counts{Offered: 7, Completed: 98, Failed: 1, Unsent: 1}, response, wait, lag)
	want := Live{Window: time.Second, Completed: 98, P50: Quantile{Value: 50, Beyond: 50},
		P99: Quantile{Value: 98, Above: "failed", Beyond: 1}, WaitP99: 2 * 97, LagP99: 3 * 97}
	if l != want {
		t.Errorf("%+v, want %+v", l, want)
	}
}

func TestLiveOfAnEmptyWindow(t *testing.T) {
	var l Live
	l.SetWindow(time.Second, Counts{}, nil, nil, nil)
	if want := (Live{Window: time.Second, P50: Quantile{None: true}, P99: Quantile{None: true}}); l != want {
		t.Errorf("%+v, want %+v", l, want)
	}
}
