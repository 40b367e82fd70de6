package replay_test

import (
	"context"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/null"
	"pianola/replay"
	"pianola/traces"
	"pianola/traces/payload"
	"pianola/traces/tracetest"
)

// halfUpdates is workload A: reads and updates in equal shares, keys spread.
func halfUpdates(phase, n int, records uint64) []traces.Op {
	ops := make([]traces.Op, n)
	for i := range ops {
		word := payload.Mix(uint64(i))
		ops[i] = traces.Op{Phase: phase, Kind: traces.Read, Key: word % records, Due: uint64(i) / 10}
		if word>>63 == 1 {
			ops[i].Kind, ops[i].Written = traces.Update, traces.OneField(int(word>>32%10))
		}
	}
	return ops
}

// BenchmarkReplayIntoNull replays workload A as fast as one dispatcher goes:
// every op is due at once, with digest, values, four histograms, intervals and
// deadlines. One op of the benchmark is one op of the trace.
func BenchmarkReplayIntoNull(b *testing.B) {
	h := tracetest.Header(tracetest.Run(1e9))
	h.Keys = payload.Keys{Prefix: "user", Padding: 1, Order: payload.Hashed}
	path := tracetest.File(b, h, halfUpdates(0, max(b.N, 1000), 1_000_000))
	r, err := traces.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	driver := null.Driver
	p, err := driver.Configure(bindings.Properties{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	binding, err := driver.New(p)
	if err != nil {
		b.Fatal(err)
	}
	run := &replay.Runner{Trace: r, Driver: &driver, Binding: binding, Properties: p, Deadline: time.Hour}
	b.ReportAllocs()
	b.ResetTimer()
	res, err := run.Run(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	if c := res.Phases[0]; c.Digest.Status != "confirmed" {
		b.Errorf("digest %+v", c.Digest)
	}
}
