package tracegen

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"runtime"
	"slices"
	"testing"

	"pianola/tracegen/workloads"
	"pianola/traces"
)

// goldenDigests are of the ready specs as they are, with seed 1. As long as
// traces have format version 0 a change of the generator may change them, and
// then they are written anew; from version 1 on they stay, unless Version
// changes.
var goldenDigests = map[string]string{
	"workloada": "c1db4bd8cda197da6a499d8536329ad0f01de3d78c68f12d579af4e457db16ac",
	"workloadb": "577520f334858d6ca2083676355039e8b148b3df27471a3ccc0e8897a63e5157",
	"workloadc": "276ec97a456a4d683f9ef8a266e7fed9b0c5212d0ff169f67399c413d74668b4",
	"workloadd": "d38fe2eed6c1846e3ddb2df92642e99238ced563aaff852e5748c42707e1dce6",
	"workloade": "3d52107e21c29236bab6c6cbf482066071bf9113cf1d7cf8b072023315b37858",
	"workloadf": "d0ccc6cef5cd8682311182bd43acfbf7d15d795928a56c7a8af0c62bb3b895f7",
}

func TestGoldenDigests(t *testing.T) {
	names := workloads.Names()
	if len(names) != len(goldenDigests) {
		t.Errorf("%d ready specs, %d digests", len(names), len(goldenDigests))
	}
	for _, name := range names {
		sum := digest(t, readySpec(t, name))
		if got := hex.EncodeToString(sum[:]); got != goldenDigests[name] {
			t.Errorf("%s has digest %s, want %q", name, got, goldenDigests[name])
		}
	}
}

// variedSpecs are the ready specs, and others that use every part of the
// generator over several blocks and chunks.
func variedSpecs(t testing.TB) map[string]*Spec {
	specs := map[string]*Spec{
		"latest, random gaps": readySpec(t, "workloadd", "operationcount=150000", "arrivals=poisson"),
		"exact, inserts": mixSpec(t, "requestdistribution=zipfian", "zipfian.range=exact", "zipfian.theta=1",
			"operationcount=140000", "insertproportion=0.1", "insert.visibility=0ms", "recordcount=70000"),
		"folded, one field": mixSpec(t, "requestdistribution=zipfian", "zipfian.theta=1.2", "operationcount=140000",
			"scanproportion=1", "insertproportion=1", "readmodifywriteproportion=1", "readallfields=false", "target=123.456"),
		"all fields written": readySpec(t, "workloadf", "writeallfields=true", "readallfields=false", "updateproportion=3"),
		"paced load":         readySpec(t, "workloadb", "load.rate=12345.678", "arrivals=poisson", "target=77"),
		"ended by duration":  readySpec(t, "workloadd", "operationcount=0", "maxexecutiontime=2.5", "arrivals=poisson"),
		"ended by the earlier": readySpec(t, "workloade", "operationcount=5000", "maxexecutiontime=1.25", "target=777",
			"zipfian.range=exact"),
		"a profile":     readySpec(t, "workloadd", "operationcount=150000", "arrivals=sine:20000+-20000/3s", "warmuptime=1"),
		"inserts alone": mixSpec(t, "readproportion=0", "insertproportion=1", "recordcount=1"),
		"odd names": readySpec(t, "workloada", `table= Ünïcode\ :=x`, "keyprefix=kéy:", "insertorder=ordered", "zeropadding=7",
			"fieldcount=3", "fieldnameprefix=f=", "fieldlength=0", "recordcount=17"),
	}
	for _, name := range workloads.Names() {
		specs[name] = readySpec(t, name)
	}
	return specs
}

// TestSameSpecSameDigest writes each trace again: from the same generator, on
// one processor, and from another one on four.
func TestSameSpecSameDigest(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, spec := range variedSpecs(t) {
		runtime.GOMAXPROCS(1)
		g := mustGenerator(t, spec)
		first, again := write(t, g), write(t, g)
		if again.totals.Digest != first.totals.Digest || !bytes.Equal(again.file, first.file) {
			t.Errorf("%s: the same generator writes two traces", name)
		}
		for _, processors := range []int{2, 4, 64} {
			runtime.GOMAXPROCS(processors)
			if got := write(t, mustGenerator(t, spec)); got.totals.Digest != first.totals.Digest || !bytes.Equal(got.file, first.file) {
				t.Errorf("%s: digest %x on %d processors, %x on one", name, got.totals.Digest, processors, first.totals.Digest)
			}
		}
	}
}

func TestOtherSeedOtherDigest(t *testing.T) {
	for name, spec := range variedSpecs(t) {
		seen := map[[32]byte]uint64{}
		runs := map[[32]byte]bool{}
		for _, seed := range []uint64{0, 1, 2, 1 << 63, 1<<64 - 1} {
			spec.Seed = seed
			totals := write(t, mustGenerator(t, spec)).totals
			if before, ok := seen[totals.Digest]; ok {
				t.Errorf("%s: seeds %d and %d have one digest", name, before, seed)
			}
			seen[totals.Digest] = seed
			runs[totals.Phases[1].Digest] = true
		}
		// The seed is part of the trace's digest; the operations must differ too,
		// where any are left to chance.
		if want := len(seen); name != "inserts alone" && len(runs) != want {
			t.Errorf("%s: %d seeds make %d streams of operations", name, want, len(runs))
		}
	}
}

// TestChoicesDontShiftEachOther switches parts of a spec on and off: what they
// have no say in stays the same, operation by operation.
func TestChoicesDontShiftEachOther(t *testing.T) {
	ops := func(properties ...string) []traces.Op {
		return write(t, mustGenerator(t, readySpec(t, "workloadf", properties...))).all(t, "run")
	}
	plain := ops("updateproportion=0.5")
	for _, changed := range [][]string{
		{"readallfields=false"}, {"writeallfields=true"}, {"fieldcount=3"}, {"arrivals=poisson"}, {"target=123"},
		{"requestdistribution=uniform"}, {"load.rate=100"},
	} {
		for i, op := range ops(append(changed, "updateproportion=0.5")...) {
			if op.Kind != plain[i].Kind || changed[0] != "requestdistribution=uniform" && op.Key != plain[i].Key {
				t.Fatalf("%v: op %d became %v of %d from %v of %d", changed, i, op.Kind, op.Key, plain[i].Kind, plain[i].Key)
			}
		}
	}
}

// failingWriter fails at the n-th write.
type failingWriter struct{ n int }

var errDisk = errors.New("disk full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.n--; w.n < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

func TestWriteStopsAtErrors(t *testing.T) {
	g := mustGenerator(t, readySpec(t, "workloada", "operationcount=200000"))
	w, err := traces.NewWriter(&failingWriter{n: 3}, g.Header())
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Write(context.Background(), w, nil); !errors.Is(err, errDisk) {
		t.Errorf("writing to a full disk: %v", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	w, err = traces.NewWriter(&failingWriter{n: 100}, g.Header())
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	err = g.Write(ctx, w, func(p Progress) {
		if blocks++; p.Phase == "run" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || blocks != 2 {
		t.Errorf("cancelled in the second block: %v after %d blocks", err, blocks)
	}
}

// TestProgress sees every block, and how far it is to the end of the phase:
// exactly, or for random gaps that a duration ends at least as far as it is.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		properties []string
		want       []Progress
	}{
		{[]string{"operationcount=100000"}, []Progress{{"run", 65536, 100000}, {"run", 100000, 100000}}},
		{[]string{"operationcount=100000", "maxexecutiontime=70"}, []Progress{{"run", 65536, 70000}, {"run", 70000, 70000}}},
		{[]string{"operationcount=65536", "maxexecutiontime=70"}, []Progress{{"run", 65536, 65536}}},
		// 70,000 + 16 · 2^9; 69,873 are due by then.
		{[]string{"operationcount=0", "maxexecutiontime=70", "arrivals=poisson"}, []Progress{{"run", 65536, 78192}, {"run", 69873, 69873}}},
	} {
		g := mustGenerator(t, readySpec(t, "workloada", append(c.properties, "recordcount=70000")...))
		w, err := traces.NewWriter(&bytes.Buffer{}, g.Header())
		if err != nil {
			t.Fatal(err)
		}
		var got []Progress
		if err := g.Write(context.Background(), w, func(p Progress) { got = append(got, p) }); err != nil {
			t.Fatal(err)
		}
		want := append([]Progress{{"load", 65536, 70000}, {"load", 70000, 70000}}, c.want...)
		if !slices.Equal(got, want) {
			t.Errorf("%v: progress %v, want %v", c.properties, got, want)
		}
	}
}
