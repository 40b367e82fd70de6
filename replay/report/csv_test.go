package report

import (
	"encoding/csv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pianola/replay/measure"
)

// table reads a table strictly: every row as long as the header line, whose
// labels differ.
func table(t *testing.T, r *measure.Result) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(render(t, "csv", r))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	head := rows[0]
	if labels := slices.Compact(slices.Sorted(slices.Values(head))); len(labels) != len(head) {
		t.Fatalf("header line %q", head)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, label := range head {
			cells[label] = row[i]
		}
		out = append(out, cells)
	}
	return out
}

func whole(t *testing.T, cell string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(cell, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Intervals add up to their phase, kinds to all of them.
func TestTableRowsAddUp(t *testing.T) {
	for name, r := range results() {
		sums := map[string]map[string]uint64{}
		add := func(key, label, cell string) {
			if sums[key] == nil {
				sums[key] = map[string]uint64{}
			}
			sums[key][label] += whole(t, cell)
		}
		rows := table(t, r)
		for _, row := range rows {
			for _, column := range countColumns[1:] {
				key := row["span"] + " " + row["phase"]
				add(key+" "+row["kind"], column.label, row[column.label])
				if row["kind"] != allKinds {
					add(key+" sum", column.label, row[column.label])
				}
			}
			if row["due"] != "" {
				add(row["span"]+" "+row["phase"]+" "+row["kind"], "due", row["due"])
			}
		}
		for i := range r.Phases {
			p := &r.Phases[i]
			for _, k := range append(slices.Clone(p.Kinds), measure.Kind{Kind: allKinds}) {
				phase, interval := sums["phase "+p.Name+" "+k.Kind], sums["interval "+p.Name+" "+k.Kind]
				if k.Kind != allKinds {
					delete(phase, "due") // not known by interval
					if phase["completed"] != k.Counts.Completed || phase["unsent"] != k.Counts.Unsent {
						t.Errorf("%s: %s of phase %s: %v, want %+v", name, k.Kind, p.Name, phase, k.Counts)
					}
				}
				if len(p.Kinds) > 0 && !maps.Equal(phase, interval) {
					t.Errorf("%s: %s of phase %s: %v in the phase, %v in its intervals", name, k.Kind, p.Name, phase, interval)
				}
			}
			all := sums["phase "+p.Name+" "+allKinds]
			if due := all["due"]; due != all["completed"]+all["failed"]+all["censored"]+all["dropped"]+all["unsent"] {
				t.Errorf("%s: %d ops due in phase %s: %v", name, due, p.Name, all)
			}
			delete(all, "due")
			if sum := sums["phase "+p.Name+" sum"]; len(p.Kinds) > 0 && !maps.Equal(all, sum) {
				t.Errorf("%s: all of phase %s: %v, its kinds %v", name, p.Name, all, sum)
			}
		}
	}
}

func TestTableRowsHaveTheirTimes(t *testing.T) {
	r := saturated() // from 2 s on, of 10.999 s
	rows := table(t, r)
	n := 0
	for _, row := range rows {
		if row["span"] != "interval" || row["kind"] != allKinds {
			continue
		}
		length := uint64(time.Second)
		if n == 10 {
			length = uint64(999 * ms)
		}
		if whole(t, row["start_ns"]) != uint64(2+n)*uint64(time.Second) || whole(t, row["length_ns"]) != length {
			t.Errorf("interval %d: from %s, of %s", n, row["start_ns"], row["length_ns"])
		}
		n++
	}
	if n != 11 || rows[0]["span"] != "phase" || rows[0]["start_ns"] != "2000000000" || rows[0]["length_ns"] != "10999000000" {
		t.Errorf("%d intervals, first row %v", n, rows[0])
	}
}

// Where the text report prints > or n/a, no cell is a mere number.
func TestTableCellsOfQuantilesWithoutAValue(t *testing.T) {
	for _, c := range []struct {
		r     *measure.Result
		label string
		want  string
	}{
		{failing(), "p95_ns", "494335"},
		{failing(), "p99_ns", ">500554"},
		{failing(), "max_ns", ">500554"},
		{single(), "p50_ns", ""},
		{single(), "max_ns", "460000"},
		{single(), "min_ns", "460000"},
		{single(), "mean_ns", "460000.0"},
		{empty(), "max_ns", ""},
		{empty(), "mean_ns", ""},
	} {
		if got := table(t, c.r)[0][c.label]; got != c.want {
			t.Errorf("%s is %q, want %q", c.label, got, c.want)
		}
	}
}

// An interval in which ops were due and nothing was decided, and one in which
// all failed.
func TestTableOfIntervalsWithoutAnAnswer(t *testing.T) {
	r := single()
	p := &r.Phases[0]
	p.Intervals = []measure.Interval{
		{Length: time.Second, Due: 7},
		{Start: time.Second, Length: time.Second, Kinds: []measure.IntervalKind{{Kind: "READMODIFYWRITE", Counts: measure.Counts{Failed: 3}}}},
	}
	rows := table(t, r)[2:]
	for i, want := range []map[string]string{
		{"kind": "READMODIFYWRITE", "due": "", "failed": "0", "p50_ns": "", "max_ns": "", "min_ns": ""},
		{"kind": "all", "due": "7", "failed": "0", "p50_ns": "", "max_ns": "", "min_ns": ""},
		{"kind": "READMODIFYWRITE", "due": "", "failed": "3", "p50_ns": ">0", "max_ns": ">0", "min_ns": ""},
		{"kind": "all", "due": "0", "failed": "3", "p50_ns": ">0", "max_ns": ">0", "mean_ns": ""},
	} {
		for label, cell := range want {
			if rows[i][label] != cell {
				t.Errorf("row %d: %s is %q, want %q", i, label, rows[i][label], cell)
			}
		}
	}
}

func TestTablesCarryVerdictAndCaveats(t *testing.T) {
	row := table(t, broken())[0]
	if row["verdict"] != "generator limited" || row["caveats"] != "VOID: the trace broke at byte 4711: unexpected EOF; DIGEST MISMATCH" || row["paced"] != "true" {
		t.Errorf("%v", row)
	}
	if row := table(t, closedLoop())[0]; !strings.HasPrefix(row["caveats"], "CLOSED LOOP") || row["paced"] != "false" {
		t.Errorf("%v", row)
	}
}

func TestNoTextIsAFormula(t *testing.T) {
	for in, want := range map[string]string{"run": "run", "=1+1": "'=1+1", "-5": "'-5", "@x": "'@x", "+x": "'+x", "": "", "a=b": "a=b", "\t=1": `\t=1`} {
		if got := csvText(in); got != want {
			t.Errorf("%q prints as %q, want %q", in, got, want)
		}
	}
}
