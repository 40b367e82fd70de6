package dist

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// golden reads a table of testdata/ycsb: the rows behind the header line, as
// numbers.
func golden(t *testing.T, name string) [][]float64 {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "ycsb", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows [][]float64
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if len(rows) == 0 && strings.IndexByte("0123456789", lines.Text()[0]) < 0 {
			continue
		}
		var row []float64
		for _, cell := range strings.Split(lines.Text(), "\t") {
			x, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			row = append(row, x)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), err)
	}
	return rows
}

// goldenReads is the number of READs of each golden table of a key law.
const goldenReads = 5_000_000

// share is what a row of such a table counts: numbers from..to, in how many of
// the READs.
type share struct {
	from, to int
	count    uint64
}

// goldenShares reads one of the tables whose rows end in the counts of the runs.
func goldenShares(t *testing.T, name string) []share {
	t.Helper()
	var shares []share
	for _, row := range golden(t, name) {
		s := share{from: int(row[0]), to: int(row[1])}
		if strings.HasSuffix(name, "_hottest.tsv") { // place, key
			s.from = s.to
		}
		for _, count := range row[3:] {
			s.count += uint64(count)
		}
		shares = append(shares, s)
	}
	return shares
}

// sum adds up counts by key number over a share.
func (s share) sum(counts []uint64) uint64 {
	var n uint64
	for _, c := range counts[s.from : s.to+1] {
		n += c
	}
	return n
}
