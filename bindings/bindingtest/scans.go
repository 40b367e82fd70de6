package bindingtest

import (
	"fmt"
	"slices"
	"testing"

	"pianola/traces"
)

// spread inserts records with the even key numbers below 2n, in no order.
func spread(c *client, n int) {
	c.t.Helper()
	for i := range n {
		key := c.db.key(i * 7 % n * 2)
		c.mustInsert(key, c.db.record(key))
	}
}

func testScan(t *testing.T, s *suite) {
	if !s.limits.can(traces.Scan) {
		return
	}
	db := s.database(t, header(3, "user"))
	c := db.client()
	if got, err := c.scan(db.key(0), 10); err != nil || len(got.keys) != 0 {
		t.Fatalf("SCAN of an empty table gave %q, %v", got.keys, err)
	}
	const n = 50
	spread(c, n)
	for _, length := range []int{1, 2, 10, n, 2 * n} {
		for _, start := range []int{0, 2, 40, 41, 2*n - 20, 2*n - 2} {
			checkScan(t, c, start, length, n)
		}
	}
	if got, err := c.scan(db.key(2*n), 10); !s.limits.Unordered && (err != nil || len(got.keys) != 0) {
		t.Errorf("SCAN behind the last record gave %q, %v", got.keys, err)
	}
	if got, err := c.scan("a", n); !s.limits.Unordered && (err != nil || len(got.keys) != n) {
		t.Errorf("SCAN from before the first record gave %d of %d records, %v", len(got.keys), n, err)
	}
}

// checkScan scans what spread has written, from the record at or behind a key
// number on.
func checkScan(t *testing.T, c *client, start, length, n int) {
	t.Helper()
	what := fmt.Sprintf("SCAN of %d from number %d", length, start)
	got, err := c.scan(c.db.key(start), length)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for i, key := range got.keys {
		if difference := compare(got.records[i], c.db.record(key)); difference != "" {
			t.Fatalf("%s, record %q: %s", what, key, difference)
		}
	}
	if c.db.suite.limits.Unordered {
		sorted := slices.Sorted(slices.Values(got.keys))
		if len(slices.Compact(sorted)) != len(got.keys) || len(got.keys) > length {
			t.Fatalf("%s gave %q", what, got.keys)
		}
		if start%2 == 0 && !slices.Contains(got.keys, c.db.key(start)) {
			t.Fatalf("%s gave %q, without the record it began at", what, got.keys)
		}
		return
	}
	var want []string
	for i := (start + 1) / 2 * 2; i < 2*n && len(want) < length; i += 2 {
		want = append(want, c.db.key(i))
	}
	if !slices.Equal(got.keys, want) {
		t.Fatalf("%s gave %q, want %q", what, got.keys, want)
	}
}

func testScanFields(t *testing.T, s *suite) {
	if !s.limits.can(traces.Scan) {
		return
	}
	db := s.database(t, header(6, "user"))
	c := db.client()
	spread(c, 10)
	for _, fields := range [][]string{{"field2"}, {"field5", "field0"}} {
		got, err := c.scan(db.key(0), 5, fields...)
		if err != nil || len(got.keys) == 0 {
			t.Fatalf("SCAN of the fields %q gave %q, %v", fields, got.keys, err)
		}
		for i, key := range got.keys {
			if difference := compare(got.records[i], db.record(key).only(fields...)); difference != "" {
				t.Errorf("SCAN of the fields %q, record %q: %s", fields, key, difference)
			}
		}
	}
}
