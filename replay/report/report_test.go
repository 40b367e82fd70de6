package report

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pianola/replay/measure"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files of testdata instead of comparing with them")

// render returns the report of r in the named form.
func render(t testing.TB, form string, r *measure.Result) string {
	t.Helper()
	reporter, err := ByName(form)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := reporter.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", path, got, want)
	}
}

func TestGolden(t *testing.T) {
	for name, r := range results() {
		t.Run(name, func(t *testing.T) {
			for _, form := range []string{"text", "ycsb", "csv", "bench"} {
				reporter, err := ByName(form)
				if err != nil {
					t.Fatal(err)
				}
				got := render(t, form, r)
				if form == "ycsb" {
					got += "(stderr) " + reporter.Notice(r) + "\n"
				}
				golden(t, name+"."+form, got)
			}
		})
	}
}

// Logs are compared by what is in them, since their compressed histograms may
// be compressed in other ways.
func TestGoldenLogs(t *testing.T) {
	for name, r := range results() {
		t.Run(name, func(t *testing.T) {
			path, text := filepath.Join("testdata", name+".hdr"), render(t, "hdr", r)
			if *rewrite {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sameLog(t, text, string(want))
		})
	}
}

// The result file is compared after reading, since its compressed histograms
// may be compressed in other ways.
func TestGoldenResultFilesAreStillRead(t *testing.T) {
	for name, r := range results() {
		t.Run(name, func(t *testing.T) {
			path, text := filepath.Join("testdata", name+".json"), render(t, "json", r)
			if *rewrite {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			old, err := Read(file, path)
			if err != nil {
				t.Fatal(err)
			}
			if got := render(t, "json", old); got != text {
				t.Errorf("%s reads as\n%s\nwant\n%s", path, got, text)
			}
		})
	}
}

func TestByNameListsTheForms(t *testing.T) {
	for _, name := range Names() {
		if r, err := ByName(name); err != nil || r.Name != name || r.Summary == "" {
			t.Errorf("%s: %q, %v", name, r.Name, err)
		}
	}
	_, err := ByName("xml")
	if err == nil || err.Error() != `unknown report format "xml", known are text, ycsb, json, hdr, csv, bench` {
		t.Errorf("error %v", err)
	}
}

// brokenWriter takes some bytes, then fails.
type brokenWriter struct{ left int }

var errFull = errors.New("no space left on device")

func (w *brokenWriter) Write(b []byte) (int, error) {
	if len(b) <= w.left {
		w.left -= len(b)
		return len(b), nil
	}
	n := w.left
	w.left = 0
	return n, errFull
}

func TestWriteErrorsAreReturned(t *testing.T) {
	r := healthy()
	for _, name := range Names() {
		reporter, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, left := range []int{0, 100} {
			if err := reporter.Write(&brokenWriter{left}, r); !errors.Is(err, errFull) {
				t.Errorf("%s: error %v after %d bytes", name, err, left)
			}
		}
	}
}

// A form that leaves out ops or figures says so beside the report.
func TestNotices(t *testing.T) {
	for name, want := range map[string]string{
		"text": "", "json": "", "csv": "",
		"ycsb":  "200 of 10000 ops are left out of its percentiles (200 failed)",
		"hdr":   "not in its response times, as they were not completed, are 200 of 10000 ops of phase run (200 failed)",
		"bench": "left out, as they fall on ops that were not completed, are p99 p99.9 p99.99 max of READ",
	} {
		reporter, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		notice := reporter.Notice(failing())
		if (notice != "") != (want != "") || !strings.Contains(notice, want) || strings.Contains(notice, "\n") {
			t.Errorf("%s: notice %q, want %q in it", name, notice, want)
		}
	}
}

// Reports of figures that no run can have must not fail: a result file may
// have been written by anybody.
func TestReportsTakeAnyFigure(t *testing.T) {
	for _, c := range []struct {
		r     *measure.Result
		forms []string
	}{
		{failing(), []string{"text", "ycsb", "csv", "bench"}},
		{single(), []string{"hdr"}}, // which takes its time to encode histograms
	} {
		// What was read back has small histograms, which are fast to merge.
		r, err := Read(strings.NewReader(render(t, "json", c.r)), "any")
		if err != nil {
			t.Fatal(err)
		}
		intervals := &r.Phases[0].Intervals
		*intervals = (*intervals)[:1]
		extremes(reflect.ValueOf(r).Elem(), func(field reflect.Value) {
			for _, name := range c.forms {
				reporter, err := ByName(name)
				if err != nil {
					t.Fatal(err)
				}
				// The name of the phase is needed, so ycsb may refuse.
				if err := reporter.Write(io.Discard, r); err != nil && !strings.Contains(err.Error(), "has phases") {
					t.Errorf("%s report with %v: %v", name, field, err)
				}
				reporter.Notice(r)
			}
		})
	}
}

// extremes sets each number and text inside v to what is far from usual, in
// turn, and calls try each time.
func extremes(v reflect.Value, try func(reflect.Value)) {
	set := func(values ...any) {
		before := reflect.ValueOf(v.Interface())
		for _, x := range values {
			v.Set(reflect.ValueOf(x).Convert(v.Type()))
			try(v)
		}
		v.Set(before)
	}
	switch v.Kind() {
	case reflect.Struct:
		if _, ok := v.Interface().(time.Time); ok {
			set(time.Time{})
			return
		}
		for i := range v.NumField() {
			extremes(v.Field(i), try)
		}
	case reflect.Slice:
		set(reflect.Zero(v.Type()).Interface())
		for i := range v.Len() {
			extremes(v.Index(i), try)
		}
	case reflect.Bool:
		set(true, false)
	case reflect.Int, reflect.Int64:
		set(int64(math.MinInt64), int64(-1), int64(0), int64(math.MaxInt64))
	case reflect.Uint64:
		set(uint64(0), uint64(1), uint64(math.MaxUint64))
	case reflect.Float64:
		set(-1.0, 0.0, 5e-324, math.MaxFloat64)
	case reflect.String:
		set("", "\x1b[2J\n", strings.Repeat("word ", 100), strings.Repeat("x", 500))
	}
}
