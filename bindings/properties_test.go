package bindings

import (
	"maps"
	"strings"
	"testing"
	"time"
)

func TestParseProperties(t *testing.T) {
	got, err := ParseProperties([]string{"a=1", "b=x=y", "c=", "a=2"})
	want := Properties{"a": "2", "b": "x=y", "c": ""}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("ParseProperties = %v, %v, want %v", got, err, want)
	}
	for _, bad := range []string{"a", "=1", ""} {
		if _, err := ParseProperties([]string{bad}); err == nil || !strings.Contains(err.Error(), `"`+bad+`"`) {
			t.Errorf("ParseProperties(%q) = %v, want an error that quotes it", bad, err)
		}
	}
}

// reading is one way to read the property "x" of a table's row.
type reading func(p Properties) (any, error)

func TestPropertiesAreRead(t *testing.T) {
	duration := func(p Properties) (any, error) { return p.Duration("x") }
	boolean := func(p Properties) (any, error) { return p.Bool("x") }
	small := func(p Properties) (any, error) { return p.Int("x", -3, 40) }
	decimal := func(p Properties) (any, error) { return p.Float("x", -1, 1000) }
	share := func(p Properties) (any, error) { return p.Share("x") }
	size := func(p Properties) (any, error) { return p.Bytes("x", 1, 1<<62) }
	word := func(p Properties) (any, error) { return p.Word("x", "one", "two") }
	for _, c := range []struct {
		value string
		read  reading
		want  any
	}{
		{"0", duration, time.Duration(0)},
		{"1.5s", duration, 1500 * time.Millisecond},
		{"3us", duration, 3 * time.Microsecond},
		{"true", boolean, true},
		{"FALSE", boolean, false},
		{"-3", small, int64(-3)},
		{"40", small, int64(40)},
		{"1e2", decimal, 100.0},
		{"-.5", decimal, -0.5},
		{"0", share, 0.0},
		{"1", share, 1.0},
		{"100%", share, 1.0},
		{"2.5%", share, 0.025},
		{"65536", size, int64(65536)},
		{"7B", size, int64(7)},
		{"64MiB", size, int64(64 << 20)},
		{"2TiB", size, int64(2 << 40)},
		{"64MB", size, int64(64e6)},
		{"3kB", size, int64(3000)},
		{"two", word, "two"},
	} {
		if got, err := c.read(Properties{"x": c.value}); err != nil || got != c.want {
			t.Errorf("%q read as %v, %v, want %v", c.value, got, err, c.want)
		}
	}
}

func TestUnfitPropertiesAreRefused(t *testing.T) {
	for _, c := range []struct {
		read     reading
		expected string
		values   []string
	}{
		{func(p Properties) (any, error) { return p.Duration("x") }, "duration",
			[]string{"", "5", "-1s", "5 ms", "1h!", "300000h30000000h"}},
		{func(p Properties) (any, error) { return p.Bool("x") }, "true or false", []string{"", "yes", "1", "true "}},
		{func(p Properties) (any, error) { return p.Int("x", 1, 9) }, "from 1 to 9",
			[]string{"", "0", "10", "5.0", "0x5", "99999999999999999999"}},
		{func(p Properties) (any, error) { return p.Float("x", 0, 9) }, "from 0 to 9",
			[]string{"", "nan", "inf", "0x1p1", "9.1", "-0.1", "1e999", "1_0"}},
		{func(p Properties) (any, error) { return p.Share("x") }, "share",
			[]string{"", "%", "1.01", "101%", "-1%", "NaN", "50 %", "5%%"}},
		{func(p Properties) (any, error) { return p.Bytes("x", 10, 1<<40) }, "from 10 to 1099511627776 bytes",
			[]string{"", "9", "2TiB", "MiB", "1.5MiB", "64 MiB", "64M", "-64MiB", "9223372036854775807KiB", "64MiBB"}},
		{func(p Properties) (any, error) { return p.Word("x", "one", "two") }, "one of one, two", []string{"", "One", "three"}},
	} {
		for _, value := range c.values {
			_, err := c.read(Properties{"x": value})
			if err == nil {
				t.Errorf("%q is taken for %s", value, c.expected)
				continue
			}
			for _, part := range []string{"property x ", `"` + value + `"`, c.expected} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error for %q is %q and lacks %q", value, err, part)
				}
			}
		}
	}
}
