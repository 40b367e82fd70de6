package replay

import (
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"pianola/replay/measure"
)

// healthReading is what the process and the thread have used so far.
type healthReading struct {
	user, system time.Duration
	// runQueue of the calling thread, and that of all threads.
	runQueue, runQueueAll time.Duration
	busy                  []time.Duration
	scheduler             *metrics.Float64Histogram
	gcCycles              uint64
	gcPause               time.Duration
}

// readHealth reads nothing on a stepped clock, whose time the process's own
// can't be compared with.
func (r *run) readHealth() healthReading {
	if r.Clock.Stepped() {
		return healthReading{}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h := healthReading{gcCycles: uint64(m.NumGC), gcPause: time.Duration(m.PauseTotalNs),
		runQueue: threadRunQueue(), runQueueAll: processRunQueue(), busy: cpuBusy(), scheduler: schedulerLatencies()}
	h.user, h.system = processCPU()
	return h
}

// schedulerLatencies returns how long goroutines that were ready have waited to
// run since the program's start.
func schedulerLatencies() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return sample[0].Value.Float64Histogram()
}

// latenciesBetween returns the p99 and the greatest of the waits between two
// readings, as the upper edges of the runtime's buckets.
func latenciesBetween(before, after *metrics.Float64Histogram) (p99, greatest time.Duration) {
	if before == nil || after == nil || len(before.Counts) != len(after.Counts) {
		return 0, 0
	}
	var total, seen uint64
	for i, n := range after.Counts {
		total += n - before.Counts[i]
	}
	for i, n := range after.Counts {
		n -= before.Counts[i]
		if n == 0 {
			continue
		}
		edge := after.Buckets[i+1]
		if math.IsInf(edge, 1) {
			edge = after.Buckets[i]
		}
		if seen += n; p99 == 0 && seen >= total-total/100 {
			p99 = time.Duration(edge * 1e9)
		}
		greatest = time.Duration(edge * 1e9)
	}
	return p99, greatest
}

// health compares two readings of one thread, which are elapsed apart.
func health(before, after healthReading, p *pacer, starved, elapsed time.Duration) measure.Health {
	var busy []float64
	if len(before.busy) == len(after.busy) && elapsed > 0 {
		for i := range after.busy {
			// The kernel counts in hundredths of a second: a short phase may show more.
			busy = append(busy, min(float64(after.busy[i]-before.busy[i])/float64(elapsed), 1))
		}
	}
	p99, greatest := latenciesBetween(before.scheduler, after.scheduler)
	return measure.Health{
		RunQueue:    after.runQueue - before.runQueue,
		RunQueueAll: max(after.runQueueAll-before.runQueueAll, 0), // a thread may have ended
		CPUBusy:     busy, SchedulerP99: p99, SchedulerMax: greatest,
		GCCycles:  after.gcCycles - before.gcCycles,
		GCPause:   after.gcPause - before.gcPause,
		Starved:   starved,
		CPUUser:   after.user - before.user,
		CPUSystem: after.system - before.system,
		Gaps:      p.gaps.Count(),
		GapSum:    p.gapSum,
		GapP99:    p.gaps.Quantile(measure.P99).Value,
		GapMax:    p.gaps.Max(),
		Spun:      p.spun,
	}
}

// machine describes where the run takes place.
func machine() measure.Machine {
	m := measure.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), ClockSource: clockSource(), Go: runtime.Version()}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m.Model = strings.TrimSpace(value)
				break
			}
		}
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(b))
	}
	return m
}
