package bindings

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Manual returns what a person has to know of the database before a run, as
// text for a terminal: its names, what it can do, the statements each operation
// becomes, and the properties with their defaults.
func (d *Driver) Manual() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n\n", d.Name, d.Summary)

	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	if len(d.Aliases) > 0 {
		fmt.Fprintf(w, "also called\t%s\n", strings.Join(d.Aliases, ", "))
	}
	kinds := make([]string, len(d.Kinds))
	for i, k := range d.Kinds {
		kinds[i] = k.String()
	}
	fmt.Fprintf(w, "operations\t%s\n", strings.Join(kinds, " "))
	fmt.Fprintf(w, "work is done\t%s\n", [...]string{
		Nowhere: "nowhere: the tool measures itself", Embedded: "in this process", Remote: "in another process",
	}[d.Place])
	fmt.Fprintf(w, "slots\t%d by default\n", d.Slots)
	w.Flush() // to a Builder, which takes everything

	fmt.Fprintf(&text, "\nWhat an operation becomes\n\n%s\n", indented(d.Statements, "  "))
	if len(d.Properties) == 0 {
		return text.String()
	}
	text.WriteString("\nProperties, set by -p name=value\n")
	for i := range d.Properties {
		p := &d.Properties[i]
		fmt.Fprintf(&text, "\n  %s", p.Name)
		switch {
		case p.Secret:
			text.WriteString(" (secret, appears in no output)")
		case p.Default != "":
			fmt.Fprintf(&text, "=%s", p.Default)
		}
		fmt.Fprintf(&text, "\n%s\n", indented(p.Help, "      "))
	}
	return text.String()
}

// indented returns the text with a margin before each line that is not empty.
func indented(text, margin string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = margin + line
		}
	}
	return strings.Join(lines, "\n")
}
