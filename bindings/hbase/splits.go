package hbase

import (
	"bytes"
	"slices"

	"pianola/traces"
)

// regionsPerServer is how many regions a table is made of by default.
const regionsPerServer = 10

// splitSample is how many keys the splits of a table are found by.
const splitSample = 10_000

// splits returns the keys at which a table is split into regions, so that each
// has as many of the trace's records: quantiles of a sample of the keys, spread
// evenly over their numbers.
func splits(h *traces.Header, regions int) [][]byte {
	records := max(h.Records, 1)
	n := min(records, splitSample)
	keys := make([][]byte, n)
	for i := range n {
		// i * records / n, in 64 bits.
		keys[i] = h.Keys.Append(nil, h.FirstKey+i*(records/n)+i*(records%n)/n)
	}
	slices.SortFunc(keys, bytes.Compare)
	var list [][]byte
	for i := 1; i < regions; i++ {
		key := keys[uint64(i)*n/uint64(regions)]
		// The first region begins before all keys, and no two at one key.
		if bytes.Equal(key, keys[0]) || len(list) > 0 && bytes.Equal(key, list[len(list)-1]) {
			continue
		}
		list = append(list, key)
	}
	return list
}
