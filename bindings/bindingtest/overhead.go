package bindingtest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Pair is one operation, as a session runs it and as its database's client does
// by the same calls, with a deadline where it takes one. Both are called with the
// numbers from 0 on.
type Pair struct {
	Ours, Bare func(n int) error
}

// Clients is how many run at a time in Overhead: as many connections, where each
// has one.
const Clients = 16

const (
	// overheadRounds is how often ours and bare take turns.
	overheadRounds = 15
	// overheadTurn is how long a turn is.
	overheadTurn = 100 * time.Millisecond
)

// Timed returns a Bare that runs f with a context that ends in an hour, as a user
// of a client gives an operation a deadline.
func Timed(f func(context.Context) error) func(n int) error {
	return func(int) error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		return f(ctx)
	}
}

// turn is what one turn measured: operations per second, and this process' CPU
// time in ns for each.
type turn struct{ rate, cpu float64 }

// Overhead measures what a session adds to its database's client: the two take
// turns, so that what disturbs one disturbs the other. pair is called once for
// each of Clients clients. tool, if there is one, returns the rate of the
// database's own tool at the same operation and the same number of clients.
//
// It reports medians over the turns: op/s, the rates' ratio, CPU in ns for each
// operation of the process, and of the difference the median and the distance
// of its quartiles, which says how noisy it was.
func Overhead(b *testing.B, pair func(client int) Pair, tool func() float64) {
	b.Helper()
	pairs := make([]Pair, Clients)
	for i := range pairs {
		pairs[i] = pair(i)
	}
	ours := func(p *Pair) func(int) error { return p.Ours }
	bare := func(p *Pair) func(int) error { return p.Bare }
	// Once to warm up.
	measure(b, pairs, ours)
	measure(b, pairs, bare)
	var rates, bareRates, ratios, cpus, bareCPUs, added []float64
	for range overheadRounds {
		o, r := measure(b, pairs, ours), measure(b, pairs, bare)
		rates, bareRates, ratios = append(rates, o.rate), append(bareRates, r.rate), append(ratios, o.rate/r.rate)
		cpus, bareCPUs, added = append(cpus, o.cpu), append(bareCPUs, r.cpu), append(added, o.cpu-r.cpu)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(quantile(rates, 0.5), "op/s")
	b.ReportMetric(quantile(bareRates, 0.5), "bare-op/s")
	b.ReportMetric(quantile(ratios, 0.5), "ratio")
	b.ReportMetric(quantile(cpus, 0.5), "cpu-ns")
	b.ReportMetric(quantile(bareCPUs, 0.5), "bare-cpu-ns")
	b.ReportMetric(quantile(added, 0.5), "added-cpu-ns")
	b.ReportMetric(quantile(added, 0.75)-quantile(added, 0.25), "spread-cpu-ns")
	if tool != nil {
		b.ReportMetric(tool(), "tool-op/s")
	}
}

// measure runs one side of all pairs at a time.
func measure(b *testing.B, pairs []Pair, side func(*Pair) func(int) error) turn {
	var total atomic.Int64
	var all sync.WaitGroup
	cpu, start := processCPU(), time.Now()
	for i := range pairs {
		run := side(&pairs[i])
		all.Go(func() {
			n := 0
			for ; n%8 != 0 || time.Since(start) < overheadTurn; n++ {
				if err := run(n); err != nil {
					b.Error(err)
					break
				}
			}
			total.Add(int64(n))
		})
	}
	all.Wait()
	n := float64(total.Load())
	return turn{rate: n / time.Since(start).Seconds(), cpu: float64(processCPU()-cpu) / n}
}

// quantile returns a quantile of values, which it sorts.
func quantile[number cmp.Ordered](values []number, q float64) number {
	slices.Sort(values)
	return values[int(q*float64(len(values)-1)+0.5)]
}
