package all

import (
	"context"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/traces"
	"pianola/traces/payload"
)

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, d := range Drivers() {
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			if name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, " \t=,") {
				t.Errorf("%s: %q is no name", d.Name, name)
			}
			if other, ok := seen[name]; ok {
				t.Errorf("%q is a name of %s and of %s", name, other, d.Name)
			}
			seen[name] = d.Name
		}
	}
}

func TestDriversAreDescribed(t *testing.T) {
	for _, d := range Drivers() {
		// Two databases may have a property of one name: YCSB's db.url, say.
		seen := map[string]bool{}
		if d.Summary == "" || strings.Contains(d.Summary, "\n") || d.Statements == "" {
			t.Errorf("%s: summary %q, statements %q", d.Name, d.Summary, d.Statements)
		}
		if d.Slots <= 0 || len(d.Kinds) == 0 {
			t.Errorf("%s: %d slots, kinds %v", d.Name, d.Slots, d.Kinds)
		}
		for _, k := range d.Kinds {
			if !k.Valid() {
				t.Errorf("%s: there is no %v", d.Name, k)
			}
		}
		for _, p := range d.Properties {
			if p.Name == "" || p.Help == "" {
				t.Errorf("%s: property %q has the help text %q", d.Name, p.Name, p.Help)
			}
			if seen[p.Name] {
				t.Errorf("%s: property %q is there twice", d.Name, p.Name)
			}
			seen[p.Name] = true
			if p.Secret && p.Default != "" {
				t.Errorf("%s: the secret %q has a default", d.Name, p.Name)
			}
		}
		for _, line := range strings.Split(d.Manual(), "\n") {
			if len(line) > 100 {
				t.Errorf("%s: a line of the manual has %d bytes: %s", d.Name, len(line), line)
			}
		}
	}
}

// TestDefaultsWork makes, opens and closes every binding that runs in this
// process with its defaults.
func TestDefaultsWork(t *testing.T) {
	drivers := Drivers()
	for i := range drivers {
		d := &drivers[i]
		p, err := d.Configure(nil, drivers)
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		b, err := d.New(p)
		if err != nil {
			t.Errorf("%s refuses its own defaults: %v", d.Name, err)
			continue
		}
		if d.Place == bindings.Remote {
			continue
		}
		h := &traces.Header{Table: "usertable", Fields: payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}}}
		if err := b.Open(context.Background(), bindings.Config{Header: h, Clock: clock{time.Now()}, Slots: d.Slots}); err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		if err := b.Close(); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

type clock struct{ start time.Time }

func (c clock) Now() time.Duration          { return time.Since(c.start) }
func (c clock) SleepUntil(at time.Duration) { time.Sleep(at - c.Now()) }
