package tracegen

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPropertiesKeepNameValueAndLine(t *testing.T) {
	for _, c := range []struct {
		what, text string
		want       []Assignment
	}{
		{"nothing", "", nil},
		{"equals sign", "a=1", []Assignment{{"a", "1", "f", 1}}},
		{"colon", "a:1", []Assignment{{"a", "1", "f", 1}}},
		{"blank", "a 1", []Assignment{{"a", "1", "f", 1}}},
		{"tab", "a\t1", []Assignment{{"a", "1", "f", 1}}},
		{"form feed", "a\f1", []Assignment{{"a", "1", "f", 1}}},
		{"blanks about the separator", "  a \t=  1", []Assignment{{"a", "1", "f", 1}}},
		{"second separator is part of the value", "a==1:2", []Assignment{{"a", "=1:2", "f", 1}}},
		{"blanks behind the value stay", "a=1 \t\n", []Assignment{{"a", "1 \t", "f", 1}}},
		{"no separator", "a", []Assignment{{"a", "", "f", 1}}},
		{"no value", "a=\nb=", []Assignment{{"a", "", "f", 1}, {"b", "", "f", 2}}},
		{"remarks", "# x=1\n ! y=1\n\t#\\\na=1", []Assignment{{"a", "1", "f", 4}}},
		{"remark sign in a value", "a=1 # one", []Assignment{{"a", "1 # one", "f", 1}}},
		{"LF, CR, CRLF", "a=1\nb=2\rc=3\r\nd=4\n\re=5", []Assignment{
			{"a", "1", "f", 1}, {"b", "2", "f", 2}, {"c", "3", "f", 3}, {"d", "4", "f", 4}, {"e", "5", "f", 6}}},
		{"continuation", "a=1\\\n   2\\\r\n\t3\nb=4", []Assignment{{"a", "123", "f", 1}, {"b", "4", "f", 4}}},
		{"continued name", "re\\\n  cord=1", []Assignment{{"record", "1", "f", 1}}},
		{"blank line ends a continuation", "a=1\\\n\nb=2", []Assignment{{"a", "1", "f", 1}, {"b", "2", "f", 3}}},
		{"continued line is no remark", "a=1\\\n#2", []Assignment{{"a", "1#2", "f", 1}}},
		{"two backslashes don't continue", "a=1\\\\\nb=2", []Assignment{{"a", `1\`, "f", 1}, {"b", "2", "f", 2}}},
		{"backslash at the end", `a=1\`, []Assignment{{"a", "1", "f", 1}}},
		{"escapes", `a\=\:\ b=\t\n\r\f\\\q\"`, []Assignment{{"a=: b", "\t\n\r\f\\q\"", "f", 1}}},
		{"unicode escapes", `a=\u0041\u00e9\u20AC`, []Assignment{{"a", "Aé€", "f", 1}}},
		{"surrogate pair", `a=\uD83D\uDE00`, []Assignment{{"a", "😀", "f", 1}}},
		{"UTF-8", "ä=ö😀", []Assignment{{"ä", "ö😀", "f", 1}}},
		{"byte order mark", "\uFEFFa=1", []Assignment{{"a", "1", "f", 1}}},
		{"Latin-1 in a remark", "# \xe9\na=1", []Assignment{{"a", "1", "f", 2}}},
	} {
		got, errs := ParseProperties("f", []byte(c.text))
		if len(errs) > 0 || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q gives %v, %v, want %v", c.what, c.text, got, errs, c.want)
		}
	}
}

func TestPropertiesReportEveryBadLine(t *testing.T) {
	text := "a=1\n" +
		"b=caf\xe9\n" +
		`c=\u12g4` + "\n" +
		`d=\u12` + "\n" +
		`e=\uD83D` + "\n" +
		`f=\uDE00\uD83D` + "\n" +
		"=7\n" +
		"g=1\\\n2\\\n\xff3\n" +
		"h=8"
	got, errs := ParseProperties("spec", []byte(text))
	if want := []Assignment{{"a", "1", "spec", 1}, {"h", "8", "spec", 11}}; !slices.Equal(got, want) {
		t.Errorf("assignments %v, want %v", got, want)
	}
	want := []string{
		`spec:2: byte 0xE9 is not UTF-8: save the file as UTF-8 or write the character as \uXXXX`,
		`spec:3: malformed escape "\\u12g4", known is \u with four hexadecimal digits`,
		`spec:4: malformed escape "\\u12", known is \u with four hexadecimal digits`,
		`spec:5: escape "\\uD83D" is half of a surrogate pair`,
		`spec:6: escape "\\uDE00" is half of a surrogate pair`,
		`spec:7: a line without the name of a property`,
		`spec:10: byte 0xFF is not UTF-8: save the file as UTF-8 or write the character as \uXXXX`,
	}
	var lines []string
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	if !slices.Equal(lines, want) {
		t.Errorf("errors:\n%s\nwant:\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestPropertiesAgreeWithJava(t *testing.T) {
	file, err := os.Open("testdata/properties/java17.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	texts := 0
	for lines.Scan() {
		columns := strings.Split(lines.Text(), "\t")
		fails := columns[len(columns)-1] == "error"
		if fails {
			columns = columns[:1]
		}
		for i, c := range columns {
			if columns[i], err = strconv.Unquote(c); err != nil {
				t.Fatalf("line %d: %q: %v", texts+1, c, err)
			}
		}
		texts++
		assignments, errs := ParseProperties("f", []byte(columns[0]))
		if fails != (len(errs) > 0) {
			t.Errorf("%q: errors %v, Java fails: %v", columns[0], errs, fails)
		}
		var got []string
		for _, a := range assignments {
			got = append(got, a.Name, a.Value)
		}
		if !fails && !slices.Equal(got, columns[1:]) {
			t.Errorf("%q gives %q, Java gives %q", columns[0], got, columns[1:])
		}
	}
	if err := lines.Err(); err != nil || texts < 500 {
		t.Errorf("%d texts read: %v", texts, err)
	}
}

func FuzzParseProperties(f *testing.F) {
	for _, text := range []string{
		"a=1\nb:2\nc 3", "# remark\r\n! another\ra = 1 \\\n  2", `\u0041\ b=\uD83D\uDE00\t`, "\uFEFFä=ö", "a=\xe9", `a=\uD8`, `\`, "=", "a\\\n\n#b",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		assignments, errs := ParseProperties("f", text)
		lines := 1 + strings.Count(string(text), "\n") + strings.Count(string(text), "\r")
		last := 0
		var again strings.Builder
		for _, a := range assignments {
			if a.Name == "" || a.Line <= last || a.Line > lines {
				t.Fatalf("assignment %+v behind line %d of %d", a, last, lines)
			}
			if !utf8.ValidString(a.Name) || !utf8.ValidString(a.Value) {
				t.Fatalf("assignment %+v is not UTF-8", a)
			}
			last = a.Line
			again.WriteString(escapedName(a.Name) + "=" + propertyText(a.Value) + "\n")
		}
		for _, err := range errs {
			if err.Line < 1 || err.Line > lines || err.Reason == "" {
				t.Fatalf("error %+v of %d lines", err, lines)
			}
		}
		copied, errs := ParseProperties("f", []byte(again.String()))
		if len(errs) > 0 || len(copied) != len(assignments) {
			t.Fatalf("written as %q: %v, %v", again.String(), copied, errs)
		}
		for i, a := range copied {
			if a.Name != assignments[i].Name || a.Value != assignments[i].Value {
				t.Fatalf("%+v became %+v", assignments[i], a)
			}
		}
	})
}

// escapedName writes every character of a name as an escape.
func escapedName(name string) string {
	var out strings.Builder
	for _, r := range name {
		if r < 0x10000 {
			out.WriteString(`\u` + hex4(r))
			continue
		}
		r -= 0x10000
		out.WriteString(`\u` + hex4(0xD800+r>>10) + `\u` + hex4(0xDC00+r&0x3ff))
	}
	return out.String()
}

func hex4(r rune) string { return strconv.FormatInt(0x10000+int64(r), 16)[1:] }
