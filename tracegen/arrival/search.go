package arrival

// search is sort.Search for 64 bits on every machine: the least i < n for which
// found is true, as it is then for all that follow, or n.
func search(n uint64, found func(i uint64) bool) uint64 {
	least, most := uint64(0), n
	for least < most {
		if middle := least + (most-least)/2; found(middle) {
			most = middle
		} else {
			least = middle + 1
		}
	}
	return least
}
