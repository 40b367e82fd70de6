package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pianola/bindings"
	"pianola/replay/measure"
)

func TestResultFileRoundTrip(t *testing.T) {
	all := results()
	all["ramp"] = ramp()
	all["nothing"] = &measure.Result{Schema: measure.SchemaVersion}
	for name, r := range all {
		text := render(t, "json", r)
		if !json.Valid([]byte(text)) {
			t.Errorf("%s: no valid JSON", name)
		}
		back, err := Read(strings.NewReader(text), name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := render(t, "json", back); got != text {
			t.Errorf("%s: read and written again:\n%s\nwant\n%s", name, got, text)
		}
		for _, form := range Names() {
			if name == "nothing" && form == "ycsb" {
				continue
			}
			if got, want := render(t, form, back), render(t, form, r); got != want {
				t.Errorf("%s: the %s report of what was read:\n%s\nwant\n%s", name, form, got, want)
			}
		}
	}
}

func TestNumbersThatAreNoneAreRefused(t *testing.T) {
	for _, rate := range []float64{math.NaN(), math.Inf(1)} {
		r := healthy()
		r.Phases[0].Rate = rate
		var out bytes.Buffer
		if err := writeJSON(&out, r); err == nil || out.Len() > 0 {
			t.Errorf("rate %v: error %v, %d bytes written", rate, err, out.Len())
		}
	}
}

func TestReadRefuses(t *testing.T) {
	good := render(t, "json", single())
	replaced := func(old, new string) string {
		out := strings.Replace(good, old, new, 1)
		if out == good {
			t.Fatalf("no %s in %s", old, good)
		}
		return out
	}
	at := func(text string) int { return strings.Index(good, text) }
	for _, c := range []struct {
		name, text, want string
	}{
		{"nothing", "", `read result "r.json": at byte 0: unexpected EOF`},
		{"no JSON", "(\xb5/\xfd", `read result "r.json": at byte 0: invalid character '('`},
		{"a list", "[]", `at byte 1: an object expected, not [`},
		{"null", "null", `at byte 4: an object expected, not null`},
		{"no schema", "{}", "no schema version: this is no result file"},
		{"another file", `{"name":"pianola"}`, `at byte 7: unknown field "name"`},
		{"another version", replaced(`"schema": 1`, `"schema": 2`), "schema version 2, this program knows version 1"},
		{"no version", replaced(`"schema": 1`, `"schema": null`), "schema: null where there must be a value"},
		{"cut off", good[:len(good)/2], "unexpected EOF"},
		{"cut off by a byte", strings.TrimRight(good, "\n}") + "\n", "unexpected EOF"},
		{"two results", good + good, "something follows the result"},
		{"junk behind", good + "\x00", `invalid character '\x00'`},
		{"an unknown field", replaced(`"tool"`, `"tools"`), `at byte 26: unknown field "tools"`},
		{"a field in another case", replaced(`"tool"`, `"Tool"`), `unknown field "Tool"`},
		{"a field twice", replaced(`"tool": "1.2.3"`, `"tool": "1.2.3", "tool": "1.2.4"`), `field "tool" a second time`},
		{"text for a number", replaced(`"slots": 1024`, `"slots": "1024"`), "settings.slots: json: cannot unmarshal string"},
		{"a fraction", replaced(`"slots": 1024`, `"slots": 1.5`), "settings.slots: json: cannot unmarshal number 1.5"},
		{"null for a number", replaced(`"slots": 1024`, `"slots": null`), "settings.slots: null where there must be a value"},
		{"a number too great", replaced(`"seed": 1`, `"seed": 18446744073709551616`), "trace.seed: json: cannot unmarshal number"},
		{"a negative count", replaced(`"records": 1000`, `"records": -1`), "trace.records: json: cannot unmarshal number -1"},
		{"an object for a list", replaced(`"intervals": [`, `"intervals": {`), "phases[0].intervals: a list expected, not {"},
		{"a time", replaced(`2026-03-04T`, `2026-13-04T`), "started: "},
		{"counts that don't add up", replaced(`"offered": 1`, `"offered": 2`), "phases[0].kinds[0].counts: 2 ops offered, but 1 completed, failed, censored, dropped or unsent"},
		{"counts that don't fit", replaced("\"offered\": 1,\n            \"completed\": 1,\n            \"failed\": 0", "\"offered\": 1, \"completed\": 0, \"failed\": 1"),
			"phases[0].kinds[0].response: of 1 ops, but 0 are completed"},
		{"no histogram", replaced(`"lag": {`, `"lag": null, "failed_classes": null }], "kinds": [{ "lag": {`), `field "kinds" a second time`},
		{"a histogram", replaced(`"min_ns": 900`, `"min_ns": 901`), "phases[0].kinds[0].lag: decode histogram: extremes 901 and 900"},
	} {
		_, err := Read(strings.NewReader(c.text), "r.json")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want it to hold %q", c.name, err, c.want)
		}
	}
	// The position is where the value begins, to a blank.
	_, err := Read(strings.NewReader(replaced(`"slots": 1024`, `"slots": true`)), "r.json")
	if want := at(`: 1024`); err == nil || !strings.Contains(err.Error(), "at byte "+itoa(want)+": settings.slots") {
		t.Errorf("error %v, want it at byte %d", err, want)
	}
}

func itoa(n int) string {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestReadRefusesMissingHistograms(t *testing.T) {
	for field, remove := range map[string]func(k *measure.Kind){
		"response":                   func(k *measure.Kind) { k.Response = nil },
		"service":                    func(k *measure.Kind) { k.Service = nil },
		"wait":                       func(k *measure.Kind) { k.Wait = nil },
		"lag":                        func(k *measure.Kind) { k.Lag = nil },
		"failed_classes[0].response": func(k *measure.Kind) { k.Failed = []measure.FailedClass{{Class: bindings.Timeout.String()}} },
	} {
		r := single()
		remove(&r.Phases[0].Kinds[0])
		_, err := Read(strings.NewReader(render(t, "json", r)), "r.json")
		if err == nil || !strings.Contains(err.Error(), "phases[0].kinds[0]."+field+": missing") {
			t.Errorf("no %s: error %v", field, err)
		}
	}
}

func TestReadRefusesIntervalsWithoutTheirResponse(t *testing.T) {
	r := single()
	r.Phases[0].Intervals[0].Kinds[0].Response = nil
	_, err := Read(strings.NewReader(render(t, "json", r)), "r.json")
	if want := "phases[0].intervals[0].kinds[0].response: of 0 ops, but 1 are completed"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want it to hold %q", err, want)
	}
}

func TestReadBoundsLists(t *testing.T) {
	list := `{"schema":1,"phases":[` + strings.Repeat("{},", listMax) + `{}]}`
	_, err := Read(strings.NewReader(list), "r.json")
	if err == nil || !strings.Contains(err.Error(), "phases: more than 65536 items") {
		t.Errorf("error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, r := range []*measure.Result{single(), empty(), interrupted(), broken(), {Schema: measure.SchemaVersion}} {
		f.Add([]byte(render(f, "json", r)))
	}
	f.Add([]byte(`{"schema":1,"phases":[{"kinds":[{"counts":{"offered":1}}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Read(bytes.NewReader(b), "fuzz")
		if err != nil {
			return
		}
		text := render(t, "json", r)
		back, err := Read(strings.NewReader(text), "written")
		if err != nil {
			t.Fatalf("what was read is written as\n%s\nwhich is refused: %v", text, err)
		}
		if got := render(t, "json", back); got != text {
			t.Errorf("written as\n%s\nthen as\n%s", text, got)
		}
		for _, name := range Names() {
			reporter, err := ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			// There may be no phase run, and counts may pass 2^63 together.
			err = reporter.Write(&out, r)
			if err != nil && name != "ycsb" && !strings.Contains(err.Error(), "merge of histograms") {
				t.Errorf("%s report: %v", name, err)
			}
			if notice := reporter.Notice(r); strings.ContainsAny(notice, "\r\n\x1b") {
				t.Errorf("notice %q", notice)
			}
			if name != "json" && strings.ContainsAny(out.String(), "\r\x1b\x00") {
				t.Errorf("the %s report holds control characters: %q", name, out.String())
			}
		}
	})
}
