package hbase

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/hbase/cluster"
	"pianola/bindings/servers"
	"pianola/traces/tracetest"
)

// TestTwoServers moves regions between two region servers in mid-run, and then
// kills one of them.
func TestTwoServers(t *testing.T) {
	s := servers.Start(t, "hbase-two")
	b := configured(t, at(s, bindings.Properties{"hbase.splits": "6"}))
	config := testConfig()
	config.Header.Keys, config.Header.Records = tracetest.Header().Keys, runRecords
	if err := b.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	addresses := bothServers(t, b)
	if err := b.CreateSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("multi", func(t *testing.T) { testMultiOnBoth(t, b, addresses) })
	t.Run("move", func(t *testing.T) { testMove(t, s, b, addresses) })
	t.Run("kill one", func(t *testing.T) { testKillOne(t, s, b) })
}

// bothServers waits until the master knows both and returns their addresses.
func bothServers(t *testing.T, b *binding) []string {
	t.Helper()
	for {
		list, err := b.cluster.Live(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 2 {
			return list
		}
		if t.Context().Err() != nil {
			t.Fatalf("there are the servers %q, want two", list)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// testMultiOnBoth does actions on rows of both servers, and then on one that has
// moved meanwhile.
func testMultiOnBoth(t *testing.T, b *binding, addresses []string) {
	for n := range 6 {
		moveTo(t, b, sixth(n), addresses[n%2])
	}
	if err := b.cluster.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list := b.cluster.Servers(); len(list) != 2 {
		t.Fatalf("the table is on the servers %q, want two", list)
	}
	puts := func() (actions []*cluster.Action) {
		for n := range 6 {
			actions = append(actions, multiPut(sixth(n), "family", "value"))
		}
		return actions
	}
	all := puts()
	calls := b.traffic.Calls.Load()
	if again := doMulti(t, b.cluster, all...); again != 0 || b.traffic.Calls.Load()-calls != 2 {
		t.Errorf("%d actions were sent again, %d calls to two servers", again, b.traffic.Calls.Load()-calls)
	}
	to := addresses[0]
	if b.cluster.Find(sixth(0)).Server.Address == to {
		to = addresses[1]
	}
	if err := b.cluster.MoveRegion(t.Context(), sixth(0), to); err != nil {
		t.Fatal(err)
	}
	again := doMulti(t, b.cluster, puts()...)
	if now := b.cluster.Find(sixth(0)); again == 0 || now == nil || now.Server.Address != to {
		t.Errorf("%d actions were sent again; the region moved to %s, taken to be %+v", again, to, now)
	}
	for n := range 6 { // a load wants an empty table
		all = append(all, multiDelete(sixth(n)))
	}
	doMulti(t, b.cluster, all[6:]...)
	for n, a := range all {
		if a.Err != nil {
			t.Errorf("action %d: %v", n, a.Err)
		}
	}
}

// moveTo has a server serve the region of a row.
func moveTo(t *testing.T, b *binding, row []byte, address string) {
	t.Helper()
	r, err := b.cluster.Locate(t.Context(), row)
	if err == nil && r.Server.Address != address {
		if err = b.cluster.MoveRegion(t.Context(), row, address); err == nil {
			b.cluster.Forget(r)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func testMove(t *testing.T, s *servers.Server, b *binding, addresses []string) {
	moved := 0
	var longest time.Duration
	r := run{properties: at(s, nil), deadline: 20 * time.Second, behind: 2 * time.Second, outage: func() {
		for _, to := range addresses {
			for n := range 6 {
				key := sixth(n)
				if r, err := b.cluster.Locate(t.Context(), key); err != nil {
					t.Error(err)
				} else if r.Server.Address == to {
					continue
				}
				began := time.Now()
				if err := b.cluster.MoveRegion(t.Context(), key, to); err != nil {
					t.Error(err)
				}
				longest = max(longest, time.Since(began))
				b.cluster.Forget(b.cluster.Find(key))
				moved++
			}
		}
	}}
	out := r.do(t)
	t.Logf("%d moves, of which the longest took %v", moved, longest)
	out.mustGoOn(t, r.behind)
	if c := out.all.Counts; c.Completed != c.Offered || moved < 6 {
		t.Errorf("%+v: %d moves have cost operations", c, moved)
	}
	if n, _ := strconv.Atoi(out.facts["regions found elsewhere"]); n < 3 {
		t.Errorf("it isn't counted: %v", out.facts)
	}
}

// sixth returns a key in the n-th of six parts of the run's records.
func sixth(n int) []byte {
	h := tracetest.Header()
	return h.Keys.Append(nil, uint64(n*runRecords/6))
}

// testKillOne kills the second region server, and with it a part of the table.
// The master gives it to the other; nothing that was acknowledged is lost.
func testKillOne(t *testing.T, s *servers.Server, b *binding) {
	const written = 500
	text, err := os.ReadFile(filepath.Join(s.Dir, servers.HBaseSecond))
	if err != nil {
		t.Fatal(err)
	}
	second, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cluster.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.CreateSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.cluster.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list := b.cluster.Servers(); len(list) != 2 {
		t.Fatalf("the table is on the servers %q, want two", list)
	}
	session := newTestSession(t, b)
	var acknowledged [8]int
	r := run{properties: at(s, nil), deadline: 2 * time.Second, behind: 6 * time.Second, outage: func() {
		for n := range written {
			w := n % len(acknowledged)
			if err := session.Do(t.Context(), acknowledgedWrite(w, acknowledged[w])); err != nil {
				t.Error(err)
			}
			acknowledged[w]++
		}
		// It is the server's own second process, by its number.
		if process, err := os.FindProcess(second); err != nil {
			t.Error(err)
		} else if err := process.Kill(); err != nil {
			t.Error(err)
		}
		// Until the master has noticed, and found the regions a place.
		for t.Context().Err() == nil {
			if list, err := b.cluster.Live(t.Context()); err == nil && len(list) == 1 && b.cluster.Load(t.Context()) == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}}
	out := r.do(t)
	if out.all.Counts.Failed == 0 {
		t.Errorf("%+v: a killed server has cost nothing", out.all.Counts)
	}
	for _, e := range out.phase.Errors {
		if e.Class != "unavailable" && e.Class != "timeout" {
			t.Errorf("%s: %s", e.Class, e.Message)
		}
	}
	out.mustGoOn(t, r.behind)
	checkAcknowledged(t, b, acknowledged[:])
	if n, err := b.Count(t.Context()); err != nil || n != runRecords+written {
		t.Errorf("%d records, %v, want %d", n, err, runRecords+written)
	}
}
