package payload

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestKeysAreYCSBs(t *testing.T) {
	text, err := os.ReadFile("testdata/keys.tsv")
	if err != nil {
		t.Fatal(err)
	}
	schemes := []Keys{
		{Prefix: "user", Padding: 1, Order: Ordered},
		{Prefix: "user", Padding: 20, Order: Ordered},
		{Prefix: "user", Padding: 1, Order: Hashed},
		{Prefix: "user", Padding: 20, Order: Hashed},
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		n, err := strconv.ParseUint(columns[0], 10, 64)
		if err != nil {
			continue // the line of names
		}
		rows++
		for i, k := range schemes {
			if got := string(k.Append(nil, n)); got != columns[1+i] {
				t.Errorf("%+v, key number %d: %q, want %q", k, n, got, columns[1+i])
			}
		}
	}
	if rows != 30 {
		t.Errorf("%d rows in testdata/keys.tsv, want 30", rows)
	}
}

// The keys of YCSB 0.17.0 for these numbers.
func TestHashNumber(t *testing.T) {
	for n, want := range map[uint64]uint64{
		0:           6284781860667377211,
		1:           8517097267634966620,
		2:           1820151046732198393,
		9:           9105318085603802964,
		42:          55488592825689361,
		99:          6405349725575133178,
		100:         879817313296471393,
		255:         8064062821143829734,
		256:         2056600594528442646,
		999:         2071219101098386137,
		1000:        5952875239596136740,
		999999:      2744965632448235251,
		1000000:     1011632231655643464,
		2147483647:  627943977067101855,
		2147483648:  5860980763039959109,
		4294967296:  634246865027890484,
		10000000000: 1201321332300452516,
		1<<64 - 1:   8289690350564177859, // -1
	} {
		if got := HashNumber(n); got != want {
			t.Errorf("HashNumber(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestKeyShapes(t *testing.T) {
	for _, c := range []struct {
		keys Keys
		n    uint64
		want string
	}{
		{Keys{Prefix: "user", Padding: 25}, 0, "user0000006284781860667377211"},
		{Keys{Prefix: "user", Padding: 12, Order: Ordered}, 5, "user000000000005"},
		{Keys{Order: Ordered}, 0, "0"},
		{Keys{Order: Ordered}, 1<<64 - 1, "18446744073709551615"},
		{Keys{Prefix: "klüç:", Padding: 3, Order: Ordered}, 1234, "klüç:1234"},
	} {
		if got := string(c.keys.Append(nil, c.n)); got != c.want {
			t.Errorf("%+v, key number %d: %q, want %q", c.keys, c.n, got, c.want)
		}
		if got := string(c.keys.Append([]byte("before "), c.n)); got != "before "+c.want {
			t.Errorf("%+v, key number %d: appended %q", c.keys, c.n, got)
		}
	}
	if Hashed.String() != "hashed" || Ordered.String() != "ordered" {
		t.Errorf("orders are called %v and %v", Hashed, Ordered)
	}
}

func TestKeysAllocateNothing(t *testing.T) {
	k := Keys{Prefix: "user", Padding: 19}
	buf, n := make([]byte, 0, 64), uint64(0)
	if allocs := testing.AllocsPerRun(100, func() { buf = k.Append(buf[:0], n); n++ }); allocs > 0 {
		t.Errorf("%v allocations per key", allocs)
	}
}
