package hbase

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/hbase/cluster"
	"pianola/bindings/hbase/wire"
	"pianola/bindings/servers"
	"pianola/traces/tracetest"
)

// multiRow is the n-th of 200 rows that regions share.
func multiRow(n int) []byte { return tracetest.Header().Keys.Append(nil, uint64(n)) }

func multiPut(row []byte, family, value string) *cluster.Action {
	return &cluster.Action{Action: wire.Action{Mutate: &wire.Mutate{
		Row: row, Family: family, Fields: []bindings.Field{{Name: "field0", Value: []byte(value)}, {Name: "field1", Value: []byte("other")}},
	}}}
}

func multiDelete(row []byte) *cluster.Action {
	return &cluster.Action{Action: wire.Action{Mutate: &wire.Mutate{Row: row}}}
}

func multiGet(row []byte, existence bool, columns ...string) *cluster.Action {
	return &cluster.Action{Action: wire.Action{Get: &wire.Get{Row: row, Family: "family", Columns: columns, ExistenceOnly: existence}}}
}

// do makes a Multi and returns how many actions were sent again.
func doMulti(t *testing.T, c *cluster.Cluster, actions ...*cluster.Action) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return c.Multi(ctx, 0, actions)
}

// testMulti does actions on the rows of several regions in one call: each has
// its own answer, and those of a region that was split are sent again.
func testMulti(t *testing.T, s *servers.Server) {
	config := testConfig()
	config.Header.Table = "multi"
	config.Header.Keys, config.Header.Records = tracetest.Header().Keys, runRecords
	b := openedFor(t, config, at(s, bindings.Properties{"hbase.splits": "4", "hbase.autosplit": "true"}))
	t.Cleanup(func() {
		if err := b.cluster.Drop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if n := regionsNow(t, b); n < 4 {
		t.Fatalf("%d regions", n)
	}

	var actions []*cluster.Action
	for n := range runRecords {
		actions = append(actions, multiPut(multiRow(n), "family", fmt.Sprint("value ", n)))
	}
	// In the midst of good ones: a family that isn't there, a condition, and keys
	// that no row has.
	actions[50].Mutate.Family = "nobody's"
	actions[51].Mutate.Absent = "field0"
	for _, key := range [][]byte{{}, make([]byte, 1<<15)} {
		actions = append(actions, multiPut(key, "family", "value"))
	}
	calls := b.traffic.Calls.Load()
	if again := doMulti(t, b.cluster, actions...); again != 0 {
		t.Errorf("%d actions were sent again", again)
	}
	if n := b.traffic.Calls.Load() - calls; n != 1 {
		t.Errorf("%d calls to one server", n)
	}
	for n, a := range actions {
		if bad := n == 50 || n == 51 || n >= runRecords; bad != (bindings.ClassOf(a.Err) == bindings.Invalid) || !bad && a.Err != nil {
			t.Errorf("action %d: %v", n, a.Err)
		}
	}
	checkMultiReads(t, b.cluster)

	// Another client splits a region; this one still takes it for one.
	other := openedFor(t, config, at(s, nil))
	if err := other.cluster.SplitRegion(t.Context(), multiRow(20), multiRow(20)); err != nil {
		t.Fatal(err)
	}
	lookups := b.cluster.Lookups()
	mixed := []*cluster.Action{
		multiPut(multiRow(5), "family", "new"), multiGet(multiRow(25), false), multiDelete(multiRow(30)), multiGet(multiRow(199), false, "field0"),
	}
	if again := doMulti(t, b.cluster, mixed...); again == 0 || b.cluster.Lookups() == lookups {
		t.Errorf("%d actions were sent again, %d regions looked up", again, b.cluster.Lookups()-lookups)
	}
	for i, a := range mixed {
		if a.Err != nil {
			t.Errorf("action %d: %v", i, a.Err)
		}
	}
	if len(mixed[1].Cells) != 2 || len(mixed[3].Cells) != 1 || string(mixed[3].Cells[0].Value) != "value 199" {
		t.Errorf("read %v and %v", mixed[1].Cells, mixed[3].Cells)
	}
	gone := multiGet(multiRow(30), true)
	if doMulti(t, b.cluster, gone); gone.Err != nil || gone.Exists {
		t.Errorf("removed: %v, exists %v", gone.Err, gone.Exists)
	}
	checkMultiEnds(t, b.cluster)
	large := multiPut(multiRow(1), "family", "value")
	large.Mutate.Fields[0].Value = make([]byte, wire.MaxFrame)
	if doMulti(t, b.cluster, large); bindings.ClassOf(large.Err) != bindings.Invalid {
		t.Errorf("a call of more than %d bytes: %v", wire.MaxFrame, large.Err)
	}
}

// checkMultiReads reads what was written, together and not.
func checkMultiReads(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	var reads []*cluster.Action
	for n := range runRecords {
		reads = append(reads, multiGet(multiRow(n), false))
	}
	reads = append(reads, multiGet(multiRow(7), true), multiGet(multiRow(50), true), multiGet([]byte("nobody"), false))
	doMulti(t, c, reads...)
	for n, a := range reads[:runRecords] {
		written := n != 50 && n != 51
		if a.Err != nil || len(a.Cells) > 0 != written || written && (len(a.Cells) != 2 || string(a.Cells[0].Value) != fmt.Sprint("value ", n)) {
			t.Errorf("row %d: %v, %v", n, a.Cells, a.Err)
		}
	}
	if a := reads[runRecords:]; !a[0].Exists || a[1].Exists || a[2].Exists || len(a[2].Cells) > 0 || a[2].Err != nil {
		t.Errorf("exist %v and %v, nobody %v, %v", a[0].Exists, a[1].Exists, a[2].Cells, a[2].Err)
	}
}

// checkMultiEnds gives a Multi no time.
func checkMultiEnds(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	late := multiGet(multiRow(1), false)
	if c.Multi(ctx, 0, []*cluster.Action{late}); bindings.ClassOf(late.Err) != bindings.Timeout {
		t.Errorf("late: %v", late.Err)
	}
}
