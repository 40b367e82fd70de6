package workloads_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"pianola/tracegen"
	"pianola/tracegen/workloads"
	"pianola/traces"
	"pianola/traces/payload"
)

// table is YCSB's: the shares of READ, UPDATE, INSERT, SCAN and
// READMODIFYWRITE, the law of keys and the longest scan.
var table = []struct {
	name   string
	shares [5]string
	law    tracegen.KeyLaw
	scan   uint32
}{
	{"workloada", [5]string{"0.5", "0.5", "0", "0", "0"}, tracegen.ZipfianYCSB, 1000},
	{"workloadb", [5]string{"0.95", "0.05", "0", "0", "0"}, tracegen.ZipfianYCSB, 1000},
	{"workloadc", [5]string{"1", "0", "0", "0", "0"}, tracegen.ZipfianYCSB, 1000},
	{"workloadd", [5]string{"0.95", "0", "0.05", "0", "0"}, tracegen.Latest, 1000},
	{"workloade", [5]string{"0", "0", "0.05", "0.95", "0"}, tracegen.ZipfianYCSB, 100},
	{"workloadf", [5]string{"0.5", "0", "0", "0", "0.5"}, tracegen.ZipfianYCSB, 1000},
}

func TestReadySpecsAreYCSBsWorkloads(t *testing.T) {
	var names []string
	for _, row := range table {
		names = append(names, row.name)
		spec, notes := parse(t, row.name)
		for i, kind := range []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.ReadModifyWrite} {
			if want, _ := new(big.Rat).SetString(row.shares[i]); spec.Weights[kind].Cmp(want) != 0 {
				t.Errorf("%s: weight of %v is %v, want %v", row.name, kind, spec.Weights[kind], want)
			}
		}
		if spec.KeyLaw != row.law || spec.Theta != 0.99 || spec.ScanLaw != tracegen.ScanUniform || spec.ScanMin != 1 || spec.ScanMax != row.scan {
			t.Errorf("%s: law %q, theta %v, scans %d to %d", row.name, spec.KeyLaw, spec.Theta, spec.ScanMin, spec.ScanMax)
		}
		if spec.Records != 1000 || spec.Ops != 1000 || !spec.ReadAllFields || spec.WriteAllFields {
			t.Errorf("%s: %d records, %d ops, all fields read %v, written %v", row.name, spec.Records, spec.Ops, spec.ReadAllFields, spec.WriteAllFields)
		}
		keys, fields := payload.Keys{Prefix: "user", Padding: 1}, payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}}
		if spec.Keys != keys || spec.Fields != fields || spec.Table != "usertable" || len(spec.Hints) > 0 {
			t.Errorf("%s: keys %v, fields %v, table %q, hints %v", row.name, spec.Keys, spec.Fields, spec.Table, spec.Hints)
		}
		if len(notes) != 1 || notes[0].String() != "no rate given: 1000 op/s" {
			t.Errorf("%s: notes %v", row.name, notes)
		}
	}
	if !slices.Equal(workloads.Names(), names) {
		t.Errorf("names are %v, want %v", workloads.Names(), names)
	}
}

func parse(t *testing.T, name string) (*tracegen.Spec, []tracegen.Note) {
	t.Helper()
	text, ok := workloads.Read(name)
	if !ok {
		t.Fatalf("%s: not there", name)
	}
	spec, notes, err := tracegen.Parse(tracegen.Input{Sources: []tracegen.Source{{Name: name, Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	return spec, notes
}

func TestReadySpecsSurviveTheirCanonicalText(t *testing.T) {
	for _, name := range workloads.Names() {
		spec, _ := parse(t, name)
		text := spec.Canonical()
		again, notes, err := tracegen.Parse(tracegen.Input{Sources: []tracegen.Source{{Name: "canonical", Text: []byte(text)}}})
		if err != nil || len(notes) > 0 {
			t.Fatalf("%s: %v, %v of\n%s", name, err, notes, text)
		}
		if got := again.Canonical(); got != text {
			t.Errorf("%s: canonical text\n%sbecame\n%s", name, text, got)
		}
	}
}

func TestEachReadySpecIntroducesItself(t *testing.T) {
	for _, name := range workloads.Names() {
		text, _ := workloads.Read(name)
		if !strings.HasPrefix(string(text), "# "+name+": ") {
			t.Errorf("%s begins with %.40q", name, text)
		}
		if summary, ok := workloads.Summary(name); !ok || summary == "" || len(summary) > 80 {
			t.Errorf("%s: summary %q", name, summary)
		}
	}
	if _, ok := workloads.Read("../workloads.go"); ok {
		t.Error("a path can be read as a ready spec")
	}
	if summary, ok := workloads.Summary("workloadg"); ok {
		t.Errorf("workloadg is %q", summary)
	}
}

func TestTextOfAReadySpecBelongsToTheCaller(t *testing.T) {
	first, _ := workloads.Read("workloada")
	first[0] = 'x'
	if second, _ := workloads.Read("workloada"); second[0] != '#' {
		t.Errorf("the ready spec begins with %q", second[0])
	}
}
