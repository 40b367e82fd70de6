package bindings

import "strings"

// nearest returns the known name that a mistyped one most likely stands for,
// or "" if none is near: the one at the least distance, if no more than a third
// of the name has to change, else the only one that ends in a dot and the name.
func nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if !strings.HasSuffix(k, "."+name) {
			continue
		}
		if best != "" {
			return ""
		}
		best = k
	}
	return best
}

// distance counts the bytes to insert, delete, replace or swap with their
// neighbour to turn a into b: the optimal string alignment distance.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
