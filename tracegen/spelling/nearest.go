// Package spelling finds the word that somebody may have meant.
package spelling

import "strings"

// maxWord bounds the words that are compared, in bytes: nobody means a name by
// a longer one.
const maxWord = 100

// Nearest returns the word of known that is nearest to word, or false if none
// is near: letters may differ in case, and one to three edits are allowed,
// depending on the length of word. Among equally near words the first wins.
func Nearest(word string, known []string) (string, bool) {
	if len(word) > maxWord {
		return "", false
	}
	word = strings.ToLower(word)
	best, nearest := allowed(word)+1, ""
	for _, k := range known {
		if d := distance(word, strings.ToLower(k)); d < best {
			best, nearest = d, k
		}
	}
	return nearest, best <= allowed(word)
}

func allowed(word string) int {
	switch n := len(word); {
	case n <= 4:
		return 1
	case n <= 8:
		return 2
	}
	return 3
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbouring bytes that turn a into b, no byte being edited twice (optimal
// string alignment; Damerau 1964).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
