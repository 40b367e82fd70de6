package replay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/null"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/traces"
	"pianola/traces/tracetest"
)

// BenchmarkStartLateness measures how late ops start: lag, ns at the middle and
// at the 99th percentile, for each kind of target and rate. Beside it the same
// schedule is kept by a loop over time.Sleep in the same process; sleep-ratio is
// how many times later that starts at p50. One run is worth little on a machine
// that does other work: health is printed with it.
func BenchmarkStartLateness(b *testing.B) {
	for _, target := range []struct {
		name  string
		slots int
		rates []uint64
		open  func(b *testing.B) *bindings.Driver
	}{
		{"null", 1000, []uint64{1_000, 10_000, 100_000, 1_000_000}, func(*testing.B) *bindings.Driver { return &null.Driver }},
		{"loopback, pipelined", 1000, []uint64{1_000, 5_000, 10_000}, echoPipelined},
		{"loopback, blocking", 64, []uint64{1_000, 5_000, 10_000}, echoBlocking},
		{"loopback, blocking", 1000, []uint64{1_000, 5_000, 10_000}, echoBlocking},
	} {
		for _, rate := range target.rates {
			b.Run(fmt.Sprintf("%s, %d slots, %d per second", target.name, target.slots, rate), func(b *testing.B) {
				measureLateness(b, target.open(b), target.slots, rate)
			})
		}
	}
}

// latenessSeconds is the length of a schedule: enough ops for a p99 at the
// lowest rate.
const latenessSeconds = 3

func measureLateness(b *testing.B, driver *bindings.Driver, slots int, rate uint64) {
	h := tracetest.Header(tracetest.Run(rate))
	path := tracetest.File(b, h, tracetest.Reads(0, int(rate)*latenessSeconds, time.Second/time.Duration(rate), 1000))
	var p50, p99, p999, sleep50, cores, gap float64
	for b.Loop() {
		r, err := traces.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		p, err := driver.Configure(nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		binding, err := driver.New(p)
		if err != nil {
			b.Fatal(err)
		}
		run := &replay.Runner{Trace: r, Driver: driver, Binding: binding, Properties: p, Slots: slots}
		res, err := run.Run(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
		phase := &res.Phases[0]
		all, err := phase.Total()
		if err != nil || all.Counts.Completed != uint64(rate*latenessSeconds) {
			b.Fatalf("%+v: %v", all.Counts, err)
		}
		p50 += float64(all.Lag.Quantile(measure.P50).Value)
		p99 += float64(all.Lag.Quantile(measure.P99).Value)
		p999 += float64(all.Lag.Quantile(measure.P999).Value)
		cores += (phase.Health.CPUUser + phase.Health.CPUSystem).Seconds() / phase.Length.Seconds()
		gap += float64(phase.Health.GapP99)
		sleep50 += float64(sleepLateness(rate))
	}
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(p50/n, "p50-ns")
	b.ReportMetric(p99/n, "p99-ns")
	b.ReportMetric(p999/n, "p99.9-ns")
	b.ReportMetric(cores/n, "cores")
	b.ReportMetric(gap/n, "gap-p99-ns")
	b.ReportMetric(sleep50/n, "sleep-p50-ns")
	b.ReportMetric(sleep50/max(p50, 1), "sleep-ratio")
}

// sleepLateness keeps half a second of the schedule as load generators without
// a pacer do, and returns the middle lateness.
func sleepLateness(rate uint64) time.Duration {
	late := measure.NewHistogram()
	start := time.Now()
	for i := range rate / 2 {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		if left := due - time.Since(start); left > 0 {
			time.Sleep(left)
		}
		late.Record(time.Since(start) - due)
	}
	return late.Quantile(measure.P50).Value
}

// echoServer starts a process of its own that answers each byte with a byte,
// and returns its address.
func echoServer(b *testing.B) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REPLAY_TEST_ECHO=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		b.Fatal(err)
	}
	return address
}

// echo is the server; it ends with its standard input.
func echo() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(l.Addr())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go io.Copy(struct{ io.Writer }{c}, c)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	return 0
}

func echoDriver(b *testing.B, binding func(address string) bindings.Binding) *bindings.Driver {
	address := echoServer(b)
	return &bindings.Driver{
		Name: "echo", Place: bindings.Remote, Kinds: []traces.Kind{traces.Read},
		New: func(bindings.Properties) (bindings.Binding, error) { return binding(address), nil },
	}
}

func echoBlocking(b *testing.B) *bindings.Driver {
	return echoDriver(b, func(address string) bindings.Binding { return &echoBinding{address: address} })
}

func echoPipelined(b *testing.B) *bindings.Driver {
	return echoDriver(b, func(address string) bindings.Binding { return &echoPipeliner{echoBinding{address: address}} })
}

// echoBinding has a connection for each slot, and asks for one byte at a time.
type echoBinding struct{ address string }

func (e *echoBinding) Open(context.Context, bindings.Config) error { return nil }
func (e *echoBinding) Close() error                                { return nil }
func (e *echoBinding) Local() bool                                 { return true }

func (e *echoBinding) Session(context.Context) (bindings.Session, error) {
	c, err := net.Dial("tcp", e.address)
	return &echoSession{c: c}, err
}

type echoSession struct {
	c   net.Conn
	buf [1]byte
}

func (s *echoSession) Do(context.Context, *bindings.Op) error {
	if _, err := s.c.Write(s.buf[:]); err != nil {
		return err
	}
	_, err := io.ReadFull(s.c, s.buf[:])
	return err
}

func (s *echoSession) Close() error { return s.c.Close() }

// echoPipeliner has eight connections, whose answers come in order.
type echoPipeliner struct{ echoBinding }

const echoConnections = 8

func (e *echoPipeliner) Pipeline(_ context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	p := &echoPipeline{}
	for range echoConnections {
		c, err := net.Dial("tcp", e.address)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		conn := &echoConn{c: c, sent: make(chan *bindings.Op, 4096)}
		p.conns = append(p.conns, conn)
		go conn.read(sink)
	}
	return p, nil
}

type echoPipeline struct {
	conns []*echoConn
	next  int
}

type echoConn struct {
	c    net.Conn
	sent chan *bindings.Op
}

var echoByte = []byte{0}

func (p *echoPipeline) Issue(op *bindings.Op) {
	c := p.conns[p.next%len(p.conns)]
	p.next++
	c.sent <- op
	c.c.Write(echoByte) // a failure shows as an answer that never comes
}

func (p *echoPipeline) Close() error {
	var errs []error
	for _, c := range p.conns {
		errs = append(errs, c.c.Close())
	}
	return errors.Join(errs...)
}

func (c *echoConn) read(sink bindings.Sink) {
	buf := make([]byte, 4096)
	for {
		n, err := c.c.Read(buf)
		if err != nil {
			return
		}
		for range n {
			sink.Done(<-c.sent, nil)
		}
	}
}
