package replay

import (
	"os"
	"runtime"
	"strings"
	"time"

	"pianola/replay/measure"
)

// healthReading is what the process and the thread have used so far.
type healthReading struct {
	user, system time.Duration
	// runQueue of the calling thread.
	runQueue time.Duration
	gcCycles uint64
	gcPause  time.Duration
}

// readHealth reads nothing on a stepped clock, whose time the process's own
// can't be compared with.
func (r *run) readHealth() healthReading {
	if r.Clock.Stepped() {
		return healthReading{}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h := healthReading{gcCycles: uint64(m.NumGC), gcPause: time.Duration(m.PauseTotalNs), runQueue: threadRunQueue()}
	h.user, h.system = processCPU()
	return h
}

// health compares two readings of one thread.
func health(before, after healthReading, p *pacer, starved time.Duration) measure.Health {
	return measure.Health{
		RunQueue:  after.runQueue - before.runQueue,
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
	m := measure.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}
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
