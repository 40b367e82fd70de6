//go:build unix

package ignite

import (
	"bytes"
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"pianola/bindings/servers"
	"pianola/traces"
)

// speed is what a client did in a while.
type speed struct {
	ops     uint64
	length  time.Duration
	cpuTime time.Duration
}

func (s speed) rate() float64  { return float64(s.ops) / s.length.Seconds() }
func (s speed) perOp() float64 { return float64(s.cpuTime.Nanoseconds()) / float64(s.ops) }

// measure lets a loop warm up and watches it for a while.
func (l *loop) measure(warmup, length time.Duration) speed {
	time.Sleep(warmup)
	ops, began, used := l.done.Load(), time.Now(), cpuTime()
	time.Sleep(length)
	return speed{l.done.Load() - ops, time.Since(began), cpuTime() - used}
}

// cpuTime returns the CPU time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// java measures Ignite's own client.
func java(tb testing.TB, address string, kind traces.Kind, inFlight int, warmup, length time.Duration) speed {
	tb.Helper()
	classes, err := servers.IgniteClasses()
	if err != nil {
		tb.Fatal(err)
	}
	what := "get"
	if kind.Writes() {
		what = "put"
	}
	cmd := exec.CommandContext(tb.Context(), "java", "-Xms256m", "-Xmx256m", "--add-opens=java.base/java.nio=ALL-UNNAMED",
		"--add-opens=java.base/java.util=ALL-UNNAMED", "-cp", classes, "testdata/java/Loop.java", address, "usertable", what,
		fmt.Sprint(inFlight), fmt.Sprint(warmup.Seconds()), fmt.Sprint(length.Seconds()), fmt.Sprint(speedRecords))
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	var s speed
	if err == nil {
		_, err = fmt.Sscan(string(out), &s.ops, &s.length, &s.cpuTime)
	}
	if err != nil {
		tb.Fatalf("the Java client: %v\n%s%s", err, out, complaints.Bytes())
	}
	return s
}

// BenchmarkAgainstJava sets this client beside Ignite's own, by turns on one
// node: rates, and the CPU time of the client's process for an operation. The
// ratios are ours by theirs.
func BenchmarkAgainstJava(b *testing.B) {
	s := servers.Start(b, "ignite")
	ours := loaded(b, s.Address)
	const warmup, length = 5 * time.Second, 5 * time.Second
	for _, kind := range []traces.Kind{traces.Read, traces.Insert} {
		for _, inFlight := range []int{32, 256} {
			b.Run(fmt.Sprintf("%v/%d", kind, inFlight), func(b *testing.B) {
				for b.Loop() {
					l := newLoop(b, ours, kind, inFlight)
					own := l.measure(warmup, length)
					l.end(b)
					theirs := java(b, s.Address, kind, inFlight, warmup, length)
					b.ReportMetric(own.rate(), "op/s")
					b.ReportMetric(theirs.rate(), "java-op/s")
					b.ReportMetric(own.rate()/theirs.rate(), "rate-ratio")
					b.ReportMetric(own.perOp(), "cpu-ns/op")
					b.ReportMetric(theirs.perOp(), "java-cpu-ns/op")
					b.ReportMetric(own.perOp()/theirs.perOp(), "cpu-ratio")
				}
			})
		}
	}
}
