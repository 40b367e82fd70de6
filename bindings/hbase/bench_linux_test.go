package hbase

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/traces"
	"pianola/traces/payload"
)

const benchRecords = 20_000

// javaLoop is the loop over HBase's own client.
type javaLoop struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startJava(b *testing.B, s *servers.Server) *javaLoop {
	b.Helper()
	jars, err := servers.HBaseJars()
	if err != nil {
		b.Fatal(err)
	}
	classes := b.TempDir()
	if out, err := exec.Command("javac", "-cp", jars, "-d", classes, filepath.Join("testdata", "javaclient", "Loop.java")).CombinedOutput(); err != nil {
		b.Fatalf("javac: %v\n%s", err, out)
	}
	// The settings are also those of its logging, which must not be in the way.
	logging := filepath.Join(classes, "log4j2.xml")
	if err := os.WriteFile(logging, []byte(`<Configuration status="off"><Loggers><Root level="off"/></Loggers></Configuration>`), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("java", "-Xms256m", "-Xmx512m", "-XX:-UsePerfData",
		"-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true", "--add-modules=jdk.unsupported",
		"--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
		"--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
		"-cp", classes+":"+settingsOf(s)+":"+jars, "Loop")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	return &javaLoop{in, bufio.NewReader(out)}
}

// figures are what a loop has done.
type figures struct {
	ops              int
	length, cpu      time.Duration
	median, quantile time.Duration // p50, p99 of service
}

func (f *figures) rate() float64  { return float64(f.ops) / f.length.Seconds() }
func (f *figures) perOp() float64 { return float64(f.cpu.Nanoseconds()) / 1000 / float64(f.ops) }

func (j *javaLoop) run(b *testing.B, kind traces.Kind, inFlight int, length time.Duration) (f figures) {
	b.Helper()
	word := map[traces.Kind]string{traces.Read: "get", traces.Update: "put"}[kind]
	if _, err := fmt.Fprintln(j.in, word, inFlight, length.Milliseconds()); err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Fscan(j.out, &f.ops, &f.length, &f.cpu, &f.median, &f.quantile); err != nil {
		b.Fatal(err)
	}
	return f
}

// ourLoop is the same over the binding: the goroutine that issues takes what
// has been answered.
type ourLoop struct {
	binding  *binding
	pipeline bindings.Pipeline
	free     chan *benchOp
}

type benchOp struct {
	op    bindings.Op
	start time.Time
	took  []time.Duration
}

// Done takes an answer; slots tell whose it is.
func (l *ourLoop) Done(op *bindings.Op, err error) {
	if err != nil {
		panic(err)
	}
	o := benchOps[op.Slot]
	o.took = append(o.took, time.Since(o.start))
	l.free <- o
}

var benchOps [slots]*benchOp

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (l *ourLoop) run(b *testing.B, kind traces.Kind, inFlight int, length time.Duration) (f figures) {
	for i := range inFlight {
		op := whole(kind, 0)
		op.Slot, op.ScanLength = i, 0
		benchOps[i] = &benchOp{op: *op, took: make([]time.Duration, 0, 1<<17)}
		l.free <- benchOps[i]
	}
	start, cpu := time.Now(), cpuTime(b)
	flush := l.pipeline.(bindings.Flusher).Flush
	for kept := 0; ; kept++ {
		// As a run does: what is free is issued, at most 32 at a time.
		if len(l.free) == 0 || kept == 32 {
			flush()
			kept = 0
		}
		o := <-l.free
		if time.Since(start) >= length {
			if inFlight--; inFlight == 0 {
				break
			}
			continue
		}
		o.op.Key = appendKey(o.op.Key[:0], f.ops*7919%benchRecords)
		o.op.Deadline = l.binding.clock.Now() + bindings.DefaultDeadline
		o.start = time.Now()
		f.ops++
		l.pipeline.Issue(&o.op)
	}
	f.length, f.cpu = time.Since(start), cpuTime(b)-cpu
	var all []time.Duration
	for _, o := range benchOps {
		if o != nil {
			all = append(all, o.took...)
			o.took = nil
		}
	}
	slices.Sort(all)
	f.median, f.quantile = all[len(all)/2], all[len(all)*99/100]
	return f
}

// loadBench writes every record.
func loadBench(b *testing.B, db *binding) {
	b.Helper()
	var all sync.WaitGroup
	const writers = 32
	for w := range writers {
		session := newTestSession(b, db)
		all.Go(func() {
			for n := w; n < benchRecords; n += writers {
				if err := session.Do(b.Context(), whole(traces.Insert, n)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

func appendKey(b []byte, n int) []byte { return fmt.Appendf(b, "user%06d", n) }

// BenchmarkBesideJava runs our client and HBase's own by turns on one server,
// and reports the medians of all turns.
func BenchmarkBesideJava(b *testing.B) {
	s := servers.Start(b, "hbase")
	config := testConfig()
	config.Header.Keys, config.Header.Records = payload.Keys{Prefix: "user", Padding: 6, Order: payload.Ordered}, benchRecords
	db := openedFor(b, config, at(s, nil))
	ours := &ourLoop{binding: db, free: make(chan *benchOp, slots)}
	var err error
	if ours.pipeline, err = db.Pipeline(b.Context(), ours); err != nil {
		b.Fatal(err)
	}
	loadBench(b, db)
	java := startJava(b, s)
	// Everything compiles what it is made of.
	for range 2 {
		for _, kind := range []traces.Kind{traces.Update, traces.Read} {
			java.run(b, kind, 64, 6*time.Second)
			ours.run(b, kind, 64, 3*time.Second)
		}
	}
	const turns = 5
	for _, kind := range []traces.Kind{traces.Read, traces.Update} {
		for _, inFlight := range []int{1, 32, 256} {
			b.Run(fmt.Sprintf("%v/%d", kind, inFlight), func(b *testing.B) {
				var mine, theirs []figures
				for range turns {
					theirs = append(theirs, java.run(b, kind, inFlight, 2*time.Second))
					mine = append(mine, ours.run(b, kind, inFlight, 2*time.Second))
				}
				report := func(name string, unit string, of func(*figures) float64) {
					m, t := medianOf(mine, of), medianOf(theirs, of)
					b.ReportMetric(m, name+unit)
					b.ReportMetric(t, "java-"+name+unit)
					b.ReportMetric(m/t, name+"-ratio")
				}
				b.ReportMetric(0, "ns/op") // says nothing here
				report("rate", "/s", (*figures).rate)
				report("cpu", "-µs/op", (*figures).perOp)
				report("p50", "-µs", func(f *figures) float64 { return float64(f.median.Microseconds()) })
				report("p99", "-µs", func(f *figures) float64 { return float64(f.quantile.Microseconds()) })
			})
		}
	}
}

func medianOf(turns []figures, of func(*figures) float64) float64 {
	var all []float64
	for i := range turns {
		all = append(all, of(&turns[i]))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
