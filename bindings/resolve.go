package bindings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Resolve returns the driver that has the name or the alias. The error for an
// unknown one carries, on lines of their own, the nearest name and the list.
func Resolve(drivers []Driver, name string) (*Driver, error) {
	var names, known []string
	for i := range drivers {
		d := &drivers[i]
		if d.Name == name || slices.Contains(d.Aliases, name) {
			return d, nil
		}
		names = append(names, d.Name)
		known = append(append(known, d.Name), d.Aliases...)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "unknown database %q", name)
	if near := nearest(name, known); near != "" {
		fmt.Fprintf(&text, "\ndid you mean %s?", near)
	}
	fmt.Fprintf(&text, "\ndatabases: %s", strings.Join(names, ", "))
	return nil, errors.New(text.String())
}

// Property returns the driver's property of that name, or nil.
func (d *Driver) Property(name string) *Property {
	for i := range d.Properties {
		if d.Properties[i].Name == name {
			return &d.Properties[i]
		}
	}
	return nil
}

// Configure returns what New takes: the properties given, and the defaults of
// the others. Each name that the driver doesn't have is an error, with a hint
// on a line of its own: which of the drivers has it, or which name is near.
func (d *Driver) Configure(given Properties, drivers []Driver) (Properties, error) {
	p := make(Properties, len(d.Properties))
	for i := range d.Properties {
		p[d.Properties[i].Name] = d.Properties[i].Default
	}
	var unknown []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if d.Property(name) == nil {
			unknown = append(unknown, d.unknownProperty(name, drivers))
			continue
		}
		p[name] = given[name]
	}
	if err := errors.Join(unknown...); err != nil {
		return nil, err
	}
	return p, nil
}

func (d *Driver) unknownProperty(name string, drivers []Driver) error {
	var owners []string
	for i := range drivers {
		if drivers[i].Property(name) != nil {
			owners = append(owners, drivers[i].Name)
		}
	}
	hint := "it has none"
	var names []string
	for i := range d.Properties {
		names = append(names, d.Properties[i].Name)
	}
	switch near := nearest(name, names); {
	case len(owners) > 0:
		hint = "it is a property of " + strings.Join(owners, ", ")
	case near != "":
		hint = "did you mean " + near + "?"
	case len(names) > 0:
		hint = "it has " + strings.Join(names, ", ")
	}
	return fmt.Errorf("unknown property %q of database %s\n%s", name, d.Name, hint)
}

// Redacted lists the properties in the driver's order for a result: secrets
// are left out.
func (d *Driver) Redacted(p Properties) []Fact {
	facts := []Fact{}
	for i := range d.Properties {
		if property := &d.Properties[i]; !property.Secret {
			facts = append(facts, Fact{Name: property.Name, Value: p[property.Name]})
		}
	}
	return facts
}
