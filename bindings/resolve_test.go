package bindings

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pianola/traces"
)

var testDrivers = []Driver{
	{Name: "stone", Aliases: []string{"rock-cql"}, Summary: "a store of stone", Slots: 7, Place: Embedded,
		Statements: "READ  look\nSCAN  look along", Kinds: []traces.Kind{traces.Read, traces.Scan},
		Properties: []Property{
			{Name: "stone.dir", Help: "where it lies\nfor ever"},
			{Name: "stone.password", Default: "granite", Secret: true, Help: "what opens it"},
			{Name: "stone.weight", Default: "3", Help: "in kilograms"},
		}},
	{Name: "wood", Summary: "a store of wood", Properties: []Property{{Name: "wood.url"}, {Name: "hosts"}}},
	{Name: "water", Properties: []Property{{Name: "hosts"}}},
	{Name: "air"},
}

func TestResolve(t *testing.T) {
	for name, want := range map[string]string{"stone": "stone", "rock-cql": "stone", "air": "air"} {
		if d, err := Resolve(testDrivers, name); err != nil || d.Name != want {
			t.Errorf("Resolve(%q) = %v, %v, want %s", name, d, err, want)
		}
	}
	for name, hint := range map[string]string{
		"stnoe":    "\ndid you mean stone?\n",
		"Wood":     "\ndid you mean wood?\n",
		"rock-sql": "\ndid you mean rock-cql?\n",
		"plasma":   "unknown database \"plasma\"\ndatabases:",
		"":         "unknown database \"\"\ndatabases:",
	} {
		_, err := Resolve(testDrivers, name)
		if err == nil || !strings.Contains(err.Error(), hint) || !strings.HasSuffix(err.Error(), "\ndatabases: stone, wood, water, air") {
			t.Errorf("Resolve(%q) = %v, want the hint %q and the list", name, err, hint)
		}
	}
}

func TestConfigureFillsDefaults(t *testing.T) {
	given := Properties{"stone.dir": "x", "stone.password": "basalt"}
	got, err := testDrivers[0].Configure(given, testDrivers)
	want := Properties{"stone.dir": "x", "stone.password": "basalt", "stone.weight": "3"}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("Configure = %v, %v, want %v", got, err, want)
	}
	if len(given) != 2 {
		t.Errorf("Configure changed what it was given to %v", given)
	}
	facts := testDrivers[0].Redacted(got)
	if !slices.Equal(facts, []Fact{{"stone.dir", "x"}, {"stone.weight", "3"}}) {
		t.Errorf("Redacted = %v", facts)
	}
}

func TestConfigureRefusesUnknownNames(t *testing.T) {
	for _, c := range []struct {
		driver     int
		name, hint string
	}{
		{0, "stone.dri", "did you mean stone.dir?"},
		{0, "weight", "did you mean stone.weight?"},
		{0, "STONE.DIR", "did you mean stone.dir?"},
		{0, "wood.url", "it is a property of wood"},
		{0, "hosts", "it is a property of wood, water"},
		{0, "completely.else", "it has stone.dir, stone.password, stone.weight"},
		{3, "anything", "it has none"},
	} {
		d := &testDrivers[c.driver]
		_, err := d.Configure(Properties{c.name: "secret value"}, testDrivers)
		want := `unknown property "` + c.name + `" of database ` + d.Name + "\n" + c.hint
		if err == nil || err.Error() != want {
			t.Errorf("Configure(%s) = %v, want %s", c.name, err, want)
		}
	}
	_, err := testDrivers[0].Configure(Properties{"zzzzzz": "", "aaaaaa": ""}, testDrivers)
	if err == nil || strings.Index(err.Error(), "aaaaaa") > strings.Index(err.Error(), "zzzzzz") || !strings.Contains(err.Error(), "zzzzzz") {
		t.Errorf("two unknown names: %v, want both, in order", err)
	}
}

func TestManual(t *testing.T) {
	want := `stone: a store of stone

also called   rock-cql
operations    READ SCAN
work is done  in this process
slots         7 by default

What an operation becomes

  READ  look
  SCAN  look along

Properties, set by -p name=value

  stone.dir
      where it lies
      for ever

  stone.password (secret, appears in no output)
      what opens it

  stone.weight=3
      in kilograms
`
	if got := testDrivers[0].Manual(); got != want {
		t.Errorf("Manual() =\n%s\nwant\n%s", got, want)
	}
	if got := testDrivers[3].Manual(); strings.Contains(got, "Properties") || strings.Contains(got, "also called") {
		t.Errorf("a driver without properties and aliases says\n%s", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1},
		{"abc", "abd", 1}, {"abc", "ab", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
