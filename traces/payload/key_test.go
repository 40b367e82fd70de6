package payload

import (
	"fmt"
	"os"
	"slices"
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

// A hash that is cut or taken modulo gives two records one key, and one of its
// octets in the wrong order puts neighbours beside each other: YCSB's does
// neither.
func TestHashedKeysAreDistinctAndSpread(t *testing.T) {
	const n, parts = 10_000_000, 256
	hashes := make([]uint64, n)
	var count [parts]int
	near := 0
	for i := range hashes {
		hashes[i] = HashNumber(uint64(i))
		count[hashes[i]>>55]++
		if i > 0 && hashes[i]>>55 == hashes[i-1]>>55 {
			near++
		}
	}
	for part, c := range count {
		// Within 6 standard deviations of an even share.
		if d := float64(c) - n/parts; d*d > 36*n/parts {
			t.Errorf("part %d of the range has %d of %d hashes", part, c, n)
		}
	}
	if near > 2*n/parts {
		t.Errorf("%d of %d hashes lie beside that of the number before", near, n)
	}
	slices.Sort(hashes)
	for i := 1; i < n; i++ {
		if hashes[i] == hashes[i-1] {
			t.Fatalf("two numbers have the hash %d", hashes[i])
		}
	}
}

// Numbers beyond 31 and 32 bits keep all their digits, and none is negative.
func TestKeysOfLargeNumbers(t *testing.T) {
	ordered, hashed := Keys{Prefix: "user", Order: Ordered}, Keys{Prefix: "user"}
	seen := map[string]bool{}
	for _, start := range []uint64{0, 1<<31 - 50, 1<<32 - 50, 3_000_000_000, 5_000_000_000, 1<<62 - 50, 1<<63 - 50} {
		for n := start; n < start+100; n++ {
			if got := string(ordered.Append(nil, n)); got != fmt.Sprintf("user%d", n) {
				t.Errorf("number %d has the key %s", n, got)
			}
			key := string(hashed.Append(nil, n))
			if strings.Contains(key, "-") || seen[key] {
				t.Errorf("number %d has the key %s", n, key)
			}
			seen[key] = true
		}
	}
}

func TestKeysAllocateNothing(t *testing.T) {
	k := Keys{Prefix: "user", Padding: 19}
	buf, n := make([]byte, 0, 64), uint64(0)
	if allocs := testing.AllocsPerRun(100, func() { buf = k.Append(buf[:0], n); n++ }); allocs > 0 {
		t.Errorf("%v allocations per key", allocs)
	}
}
