package measure

import "time"

// Live is how a phase fares while it runs: what a status shows beside counts.
type Live struct {
	// Paced says that the ops have due times and they are kept to.
	Paced bool
	// Started ops were sent, of which InFlight have no fate yet.
	Started, InFlight uint64
	// Window is the length of the last whole interval, 0 while there is none.
	// What follows is of the ops whose fate was decided in it.
	Window time.Duration
	// Completed is the number of ops completed in the window.
	Completed uint64
	// P50 and P99 of response, over all ops decided.
	P50, P99 Quantile
	// WaitP99 and LagP99 are of the ops that were started.
	WaitP99, LagP99 time.Duration
}

// SetWindow fills in the figures of an interval: its counts, and the times of
// the ops decided in it. Counts.Offered is not looked at.
func (l *Live) SetWindow(length time.Duration, counts Counts, response, wait, lag *Histogram) {
	counts.Offered = counts.Decided()
	k := Kind{Counts: counts, Response: response}
	l.Window, l.Completed = length, counts.Completed
	l.P50, l.P99 = k.ResponseQuantile(P50), k.ResponseQuantile(P99)
	l.WaitP99, l.LagP99 = wait.Quantile(P99).Value, lag.Quantile(P99).Value
}
