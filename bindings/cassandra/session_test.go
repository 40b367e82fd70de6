package cassandra

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gocql/gocql"
)

func TestTimestampsAreGivenOnce(t *testing.T) {
	var times timestamps
	const clients, each = 8, 10_000
	got := make([][]int64, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for range each {
				got[i] = append(got[i], times.next())
			}
		})
	}
	all.Wait()
	for i := range got {
		if !slices.IsSorted(got[i]) {
			t.Errorf("client %d was given a time before the last", i)
		}
	}
	together := slices.Concat(got...)
	slices.Sort(together)
	if n := len(slices.Compact(together)); n != clients*each {
		t.Errorf("%d of %d times are not like another", n, clients*each)
	}
}

func TestParametersAreNeverNull(t *testing.T) {
	for _, p := range []param{nil, {}, param("x")} {
		if got, err := p.MarshalCQL(nil); got == nil || err != nil || string(got) != string(p) {
			t.Errorf("%q is sent as %q, %v", p, got, err)
		}
	}
}

// TestBuckets: whoever else reads the table finds a record by this function,
// so it never changes. The vectors are FNV-1a's own.
func TestBuckets(t *testing.T) {
	for key, want := range map[string]uint32{"": 0x811c9dc5, "a": 0xe40c292c, "foobar": 0xbf9cf968} {
		for _, buckets := range []int{1, 16, maxBuckets} {
			if got := bucketOf([]byte(key), buckets); got != want%uint32(buckets) {
				t.Errorf("%q is in bucket %d of %d, want %d", key, got, buckets, want%uint32(buckets))
			}
		}
	}
	counts := make([]int, 16)
	for i := range 16_000 {
		counts[bucketOf(fmt.Appendf(nil, "user%d", i), 16)]++
	}
	if slices.Min(counts) < 800 || slices.Max(counts) > 1200 {
		t.Errorf("16000 keys are in buckets of %v", counts)
	}
}

// TestStreamsAreForgottenWithTheirNode: of a node that went down no answer is
// waited for, and a late one counts for nothing.
func TestStreamsAreForgottenWithTheirNode(t *testing.T) {
	n := newNodes()
	s := &streams{nodes: n, limit: 2}
	n.gone = s.forget
	a, b := host("a"), host("b")
	n.AddHost(a)
	n.AddHost(b)
	o := s.StreamContext(&operation{t.Context()})
	for range 3 {
		o.StreamStarted(gocql.ObservedStream{Host: a})
	}
	if s.StreamContext(t.Context()) != nil || s.own.Load() != 1 || s.ours.Load() != 3 {
		t.Errorf("%d requests of ours, %d of the driver's", s.ours.Load(), s.own.Load())
	}
	if s.full() {
		t.Error("3 requests are too many for two nodes")
	}
	o.StreamStarted(gocql.ObservedStream{Host: b})
	if !s.full() {
		t.Error("4 requests are not too many for two nodes")
	}
	n.HostDown(a)
	if s.full() || s.open.Load() != 1 || n.wentDown() != 1 || len(n.up()) != 1 {
		t.Errorf("with one node down there are %d requests, %d nodes up", s.open.Load(), len(n.up()))
	}
	o.StreamFinished(gocql.ObservedStream{Host: a})
	o.StreamAbandoned(gocql.ObservedStream{Host: b})
	if s.open.Load() != 0 || s.abandoned.Load() != 1 {
		t.Errorf("in the end there are %d requests", s.open.Load())
	}
	n.HostUp(a)
	n.HostDown(a)
	n.RemoveHost(a)
	if len(n.up()) != 1 || n.wentDown() != 2 {
		t.Errorf("%d nodes up, %d times down", len(n.up()), n.wentDown())
	}
}

func host(id string) *gocql.HostInfo {
	h := &gocql.HostInfo{}
	h.SetHostID(id)
	return h.SetConnectAddress([]byte{127, 0, 0, id[0]})
}
