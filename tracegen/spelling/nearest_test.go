package spelling

import (
	"strings"
	"testing"
)

func TestDistanceCountsEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"kitten", "sitting", 3}, {"abcd", "abdc", 1}, {"ca", "abc", 3},
		{"insertpromotion", "insertproportion", 2},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

func TestNearestNamesOnlyWhatIsNear(t *testing.T) {
	known := []string{"table", "recordcount", "operationcount", "fieldcount", "hosts"}
	for _, c := range []struct {
		word, want string
		ok         bool
	}{
		{"recordcuont", "recordcount", true},
		{"RecordCount", "recordcount", true},
		{"record_count", "recordcount", true},
		{"fieldcont", "fieldcount", true},
		{"tables", "table", true},
		{"host", "hosts", true},
		{"h", "", false},
		{"batch", "", false},
		{"", "", false},
		{strings.Repeat("x", 1<<20), "", false},
	} {
		if got, ok := Nearest(c.word, known); ok != c.ok || ok && got != c.want {
			t.Errorf("Nearest(%.20q) = %q, %v, want %q, %v", c.word, got, ok, c.want, c.ok)
		}
	}
}
