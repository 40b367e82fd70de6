package payload

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestIntegrityValuesAreYCSBs(t *testing.T) {
	text, err := os.ReadFile("testdata/dataintegrity.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		length, err := strconv.Atoi(columns[2])
		if err != nil {
			continue // the line of names
		}
		rows++
		keys := Keys{Prefix: "user", Padding: 1} // its key of number 0
		if columns[0] != string(keys.Append(nil, 0)) {
			keys = Keys{Prefix: "user", Padding: 12, Order: Ordered}
		}
		field, err := strconv.Atoi(strings.TrimPrefix(columns[1], "field"))
		if err != nil || string(keys.Append(nil, 0)) != columns[0] {
			t.Fatalf("row %q: %v", line, err)
		}
		f := Fields{Count: 10, Prefix: "field", Length: Length{Constant: length}, Values: Values{Scheme: YCSBIntegrity, Keys: keys}}
		if err := f.Check(&keys); err != nil {
			t.Error(err)
		}
		for version := range uint64(3) { // neither seed nor version matter
			got := f.Append([]byte("before "), version, 0, field, version)
			if string(got) != "before "+columns[3] {
				t.Errorf("%s, %s, %d bytes:\n%s\nwant\n%s", columns[0], columns[1], length, got[7:], columns[3])
			}
			if n := f.ValueBytes(1, 0, field, version); n != length {
				t.Errorf("%d bytes, want %d", n, length)
			}
		}
	}
	if rows != 7 {
		t.Errorf("%d rows, want 7", rows)
	}
}

// A key of 12 digits looks like a version.
func TestIntegrityValuesCarryNoVersion(t *testing.T) {
	keys := Keys{Padding: 12, Order: Ordered}
	f := Fields{Count: 1, Prefix: "field", Length: Length{Constant: 40}, Values: Values{Scheme: YCSBIntegrity, Keys: keys}}
	value := f.Append(nil, 1, 7, 0, 9)
	if v, ok := Version(value); !ok || v != 7 {
		t.Fatalf("%s should look like a value of version 7", value)
	}
	if v, ok := f.Version(value); ok || f.Versioned() || !f.Unchanging() {
		t.Errorf("version %d, %v of %s", v, ok, value)
	}
}

func TestWhichValuesCarryTheirVersion(t *testing.T) {
	for _, c := range []struct {
		length                Length
		versioned, unchanging bool
	}{
		{Length{Constant: 16}, true, false},
		{Length{Constant: 15}, false, false},
		{Length{}, false, true},
		{uniform(t, 16, 100), true, false},
		{uniform(t, 15, 100), false, false},
		{histogram(t, 8, 0, 1, 1), true, false},
		{histogram(t, 8, 1, 1, 1), false, false},
	} {
		for _, values := range []Values{{}, {Scheme: Compressible, Saving: 500}} {
			f := Fields{Count: 1, Length: c.length, Values: values}
			if f.Versioned() != c.versioned || f.Unchanging() != c.unchanging {
				t.Errorf("%v, %v: versioned %v, unchanging %v", c.length, values, f.Versioned(), f.Unchanging())
			}
			for key := range uint64(200) {
				value := f.Append(nil, 1, key, 0, 77)
				v, ok := f.Version(value)
				if ok != (len(value) >= MinVersioned) || ok && v != 77 || len(value) != f.ValueBytes(1, key, 0, 77) {
					t.Fatalf("%v, %v: version %d, %v of %q", c.length, values, v, ok, value)
				}
			}
		}
	}
}

// Compressible values are printable, as long as asked, and differ by version.
func TestCompressibleValuesDiffer(t *testing.T) {
	for _, n := range []int{1, 2, 8, 15, 16, 17, 30, 255, 256, 257, 270, 5000} {
		for _, saving := range []int{MinSaving, 500, MaxSaving} {
			f := Fields{Count: 1, Length: Length{Constant: n}, Values: Values{Scheme: Compressible, Saving: saving}}
			seen := map[string]bool{}
			for version := range uint64(64) {
				v := f.Append([]byte("-"), 1, 2, 0, version)[1:]
				if i := bytes.IndexFunc(v, func(c rune) bool { return c < '0' || c > 'o' }); len(v) != n || i >= 0 {
					t.Fatalf("%d bytes, %d: %q", n, saving, v)
				}
				seen[string(v)] = true
			}
			// One symbol alone takes some 40 of its 64 values.
			if want := 30; len(seen) < want || n >= MinVersioned && len(seen) < 64 {
				t.Errorf("%d bytes, %d: %d of 64 values differ", n, saving, len(seen))
			}
		}
	}
}

func TestValuesHaveOneText(t *testing.T) {
	keys := Keys{Prefix: "user", Padding: 3, Order: Ordered}
	texts := map[string]Values{
		"printable/1":          {},
		"compressible/1 0.25":  {Scheme: Compressible, Saving: 250},
		"compressible/1 0.333": {Scheme: Compressible, Saving: 333},
		"compressible/1 0.9":   {Scheme: Compressible, Saving: 900},
		"ycsb-integrity/1":     {Scheme: YCSBIntegrity, Keys: keys},
	}
	for saving := MinSaving; saving <= MaxSaving; saving++ {
		v := Values{Scheme: Compressible, Saving: saving}
		texts[v.String()] = v
	}
	for text, want := range texts {
		got, err := ParseValues(text, keys)
		if err != nil || got != want || got.String() != text {
			t.Errorf("ParseValues(%q) = %+v, %v", text, got, err)
		}
	}
	for _, s := range []string{"", "printable", "printable/2", "printable/1 0.5", "compressible/1", "compressible/1 0.50", "compressible/1 0.2",
		"compressible/1 0.901", "compressible/1 NaN", "compressible/1 0.2505", "compressible/1 5e-1", "ycsb-integrity/1 ", strings.Repeat("x", 1000)} {
		if v, err := ParseValues(s, keys); err == nil || len(err.Error()) > 200 {
			t.Errorf("ParseValues(%q) = %+v, %v", s, v, err)
		}
	}
}

func TestSchemesOfFieldsAreChecked(t *testing.T) {
	keys, other := Keys{Prefix: "user", Padding: 1}, Keys{Prefix: "käse", Padding: 1}
	good := Fields{Count: 10, Prefix: "field", Length: Length{Constant: 100}}
	if err := good.Check(&keys); err != nil {
		t.Error(err)
	}
	integrity := Values{Scheme: YCSBIntegrity, Keys: keys}
	for _, c := range []struct {
		spoil func(f *Fields)
		want  string
	}{
		{func(f *Fields) { f.Count = 0 }, "0 fields, possible are 1 to 32768"},
		{func(f *Fields) { f.Count = MaxFields + 1 }, "32769 fields, possible are 1 to 32768"},
		{func(f *Fields) { f.Length.Constant = -1 }, "values of constant -1 bytes, at most 268435456 are possible"},
		{func(f *Fields) { f.Length.Constant = MaxValueBytes + 1 }, "values of constant 268435457 bytes, at most 268435456 are possible"},
		{func(f *Fields) { f.Values.Scheme = 3 }, "unknown way 3 of building values"},
		{func(f *Fields) { f.Values = Values{Scheme: Compressible, Saving: 249} }, "values of which 249 thousandths are saved, possible are 250 to 900"},
		{func(f *Fields) { f.Values = Values{Scheme: YCSBIntegrity, Keys: other} }, "values that begin with other keys than those of the records"},
		{func(f *Fields) { f.Values, f.Prefix = integrity, "Feld \u00e4" }, ErrIntegrity.Error()},
		{func(f *Fields) { f.Values, f.Length = integrity, uniform(t, 1, 2) }, ErrIntegrity.Error()},
	} {
		f := good
		c.spoil(&f)
		if err := f.Check(&keys); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestAllValuesAllocateNothing(t *testing.T) {
	keys := Keys{Prefix: "user", Padding: 1}
	for _, f := range []Fields{
		{Count: 10, Prefix: "field", Length: uniform(t, 1, 200)},
		{Count: 10, Prefix: "field", Length: zipfian(t, 1, 200)},
		{Count: 10, Prefix: "field", Length: histogram(t, 20, 5, 3, 2, 1, 1, 1, 9)},
		{Count: 10, Prefix: "field", Length: Length{Constant: 200}, Values: Values{Scheme: Compressible, Saving: 600}},
		{Count: 10, Prefix: "field", Length: Length{Constant: 200}, Values: Values{Scheme: YCSBIntegrity, Keys: keys}},
	} {
		buf, n := make([]byte, 0, 256), uint64(0)
		allocs := testing.AllocsPerRun(100, func() {
			buf = f.Append(buf[:0], 1, n, 3, n)
			if v, ok := f.Version(buf); ok && v != n || len(buf) != f.ValueBytes(1, n, 3, n) {
				t.Errorf("version %d of %q", v, buf)
			}
			n++
		})
		if allocs > 0 {
			t.Errorf("%v, %v: %v allocations per value", f.Length, f.Values, allocs)
		}
	}
}

func FuzzParseValues(f *testing.F) {
	for _, s := range []string{"printable/1", "compressible/1 0.5", "compressible/1 0.50", "ycsb-integrity/1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseValues(s, Keys{})
		if err == nil && v.String() != s {
			t.Errorf("ParseValues(%q) = %q", s, v)
		}
	})
}

func BenchmarkValues(b *testing.B) {
	keys := Keys{Prefix: "user", Padding: 1}
	for _, f := range []Fields{
		{Length: uniform(b, 1, 199)}, {Length: zipfian(b, 1, 199)}, {Length: histogram(b, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9)},
		{Length: Length{Constant: 100}, Values: Values{Scheme: Compressible, Saving: 500}},
		{Length: Length{Constant: 100}, Values: Values{Scheme: YCSBIntegrity, Keys: keys}},
	} {
		b.Run(strings.ReplaceAll(fmt.Sprintf("%v, %v", f.Length, f.Values), "/", ":"), func(b *testing.B) {
			buf := make([]byte, 0, 256)
			for i := range uint64(b.N) {
				buf = f.Append(buf[:0], 1, i, 3, i)
			}
		})
	}
}
