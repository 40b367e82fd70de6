package report

import (
	"slices"
	"strings"
	"testing"

	"pianola/replay/measure"
)

// modified is 60 READs of 1 ms and 40 READMODIFYWRITEs whose reads take 2 ms
// and whose updates take 3 ms.
func modified() *measure.Result {
	p := pacedPhase(1)
	read := measure.Part{Kind: "READ", Response: measure.NewHistogram(), Service: measure.NewHistogram()}
	update := measure.Part{Kind: "UPDATE", Response: measure.NewHistogram(), Service: measure.NewHistogram()}
	for i := range 100 {
		if i%5 < 3 {
			record(&p, fate{kind: "READ", lag: 10 * µs, service: ms})
			continue
		}
		record(&p, fate{kind: "READMODIFYWRITE", lag: 10 * µs, service: 5 * ms})
		read.Response.Record(2*ms + 10*µs)
		read.Service.Record(2 * ms)
		update.Response.Record(5*ms + 10*µs)
		update.Service.Record(3 * ms)
	}
	for i := range p.Kinds {
		if p.Kinds[i].Kind == "READMODIFYWRITE" {
			p.Kinds[i].Parts = []measure.Part{read, update}
		}
	}
	return newResult(p)
}

func TestPartsOfModificationsAreAlsoReadsAndUpdates(t *testing.T) {
	text := render(t, "ycsb", modified())
	for _, line := range []string{
		"[READ], Operations, 100",
		"[READ], AverageLatency(us), 1400.0",
		"[READ], MaxLatency(us), 2000",
		"[READ], Return=OK, 100",
		"[UPDATE], Operations, 40",
		"[UPDATE], AverageLatency(us), 3000.0",
		"[UPDATE], Return=OK, 40",
		"[READ-MODIFY-WRITE], Operations, 40",
		"[READ-MODIFY-WRITE], AverageLatency(us), 5000.0",
		"[Intended-READ], MaxLatency(us), 2010",
		"[Intended-UPDATE], MinLatency(us), 5010",
		"[Intended-READ-MODIFY-WRITE], Operations, 40",
	} {
		if !slices.Contains(strings.Split(text, "\n"), line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	if strings.Contains(text, "[READ-MODIFY-WRITE], Return") {
		t.Errorf("the pair has a Return line in\n%s", text)
	}
	if r, u, m := strings.Index(text, "[READ],"), strings.Index(text, "[UPDATE],"), strings.Index(text, "[READ-MODIFY-WRITE],"); r > u || u > m {
		t.Errorf("READ at %d, UPDATE at %d, READ-MODIFY-WRITE at %d", r, u, m)
	}
	// The ops of the phase are counted once.
	if !strings.Contains(text, "[OVERALL], Throughput(ops/sec), 100.0") {
		t.Errorf("throughput in\n%s", text)
	}
	text = render(t, "text", modified())
	if !strings.Contains(text, "parts of READMODIFYWRITE") || strings.Count(text, "UPDATE") != 1 {
		t.Errorf("parts in\n%s", text)
	}
}

func TestAResultWithPartsAndChecksIsReadAgain(t *testing.T) {
	r := modified()
	r.Settings.Drop, r.Settings.Settle, r.Settings.Settled, r.Settings.CheckSample = true, "5s", 5001*ms, 65536
	r.Contents = &measure.Contents{Records: 1000, Digest: r.Trace.Digest}
	r.Phases[0].Present = 3
	r.Phases[0].Check = &measure.Check{Values: 1000, Unchecked: 20, Mismatched: 2, Stale: 1, First: []string{"op 7, READ user1: gave no record\x1b[31m"}}
	text := render(t, "json", r)
	if err := validate(t, compiled(t), text); err != nil {
		t.Error(err)
	}
	again, err := Read(strings.NewReader(text), "r.json")
	if err != nil {
		t.Fatal(err)
	}
	if second := render(t, "json", again); second != text {
		t.Errorf("read and written again it is\n%s", second)
	}
	page := render(t, "text", again)
	for _, want := range []string{
		"WRONG VALUES: of phase run 2 of 100 ops read what was never written and 1 what had been replaced; allowed are 0.",
		"prepared   dropped the table before the load, settled behind it for 5.00 s: 5s, values are checked",
		"contents   1000 records read back, digest ",
		"1000 values right, 2 ops mismatched, 1 ops stale, 20 values could not be checked, versions of up to 65536 keys",
		"op 7, READ user1: gave no record",
		"3 records were there already",
	} {
		if !strings.Contains(strings.Join(strings.Fields(page), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Contains(page, "\x1b") {
		t.Error("the page holds an escape")
	}
	bad := strings.Replace(text, `"parts": [`, `"parts": [{"kind": "READ", "response": null, "service": null},`, 1)
	if _, err := Read(strings.NewReader(bad), "r.json"); err == nil || bad == text {
		t.Errorf("parts without times are taken: %v", err)
	}
}
