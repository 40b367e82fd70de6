//go:build unix

// Package benchtable measures what the tables of `make bench` show. Cases that
// are compared take turns in one process, so that ratios hold on a busy machine;
// times hold as far as it is quiet.
package benchtable

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Rounds is how often each case has its turn; medians are of these.
const Rounds = 5

// Case runs N operations under so many processors.
type Case struct {
	Processors int
	N          int
	Run        func()
}

// Cost is what an operation of a case took: ns of the whole process on
// processors, ns by the clock, and allocations.
type Cost struct{ CPU, Wall, Allocations float64 }

// Take runs the cases in turns and returns the median of each figure, in the
// order of the cases.
func Take(t testing.TB, cases []Case) []Cost {
	t.Helper()
	cpu, wall, allocations := make([][]float64, len(cases)), make([][]float64, len(cases)), make([][]float64, len(cases))
	for range Rounds {
		for i, c := range cases {
			spent, length, mallocs := once(t, c)
			cpu[i] = append(cpu[i], float64(spent)/float64(c.N))
			wall[i] = append(wall[i], float64(length)/float64(c.N))
			allocations[i] = append(allocations[i], float64(mallocs)/float64(c.N))
		}
	}
	out := make([]Cost, len(cases))
	for i := range cases {
		out[i] = Cost{median(cpu[i]), median(wall[i]), median(allocations[i])}
	}
	return out
}

func once(t testing.TB, c Case) (spent, length time.Duration, mallocs uint64) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.Processors))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin, from := time.Now(), cpuTime(t)
	c.Run()
	spent, length = cpuTime(t)-from, time.Since(begin)
	runtime.ReadMemStats(&after)
	return spent, length, after.Mallocs - before.Mallocs
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// cpuTime returns the time that the process has spent on processors.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Machine names the processor and says how busy the machine is, where the system
// tells it.
func Machine() string { return field("/proc/cpuinfo", "model name") + ", load average " + Load() }

// Load is the load average of the last one, five and fifteen minutes and what the
// system says beside it.
func Load() string { return field("/proc/loadavg", "") }

// field returns what a file says under a name, or its first line.
func field(file, name string) string {
	text, _ := os.ReadFile(file) // only Linux has it
	for line := range strings.Lines(string(text)) {
		if before, after, _ := strings.Cut(line, ":"); name == "" {
			return strings.TrimSpace(line)
		} else if strings.TrimSpace(before) == name {
			return strings.TrimSpace(after)
		}
	}
	return "unknown"
}
