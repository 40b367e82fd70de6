package tracegen

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"pianola/traces"
)

// Input is what a spec is made from.
type Input struct {
	// Sources are texts in the format of properties; later ones win.
	Sources []Source
	// Overrides are "name=value" of each -p, in their order. They win over all
	// sources, and later ones over earlier ones.
	Overrides []string
	Flags     Flags
	// ReadFile returns the content of a file that a property names. source is
	// the Name of the Source that holds the property, or "-p". If ReadFile is nil,
	// naming a file is an error.
	ReadFile func(source, name string) ([]byte, error)
}

// Source is the text of a spec and the name that messages call it by.
type Source struct {
	Name string
	Text []byte
}

// Flags are the values of the command line's flags as they were written; nil
// means not given. A flag wins over sources; an override that says something
// else is an error.
type Flags struct {
	// Seed is a whole number of 64 bits; 1 if not given.
	Seed *string
	// Records and Ops are recordcount and operationcount.
	Records, Ops *string
	// Duration is maxexecutiontime, written as Go's durations are ("90s").
	Duration *string
	// Rate is target, Arrivals is arrivals.
	Rate, Arrivals *string
}

// Parse makes a spec of properties with the names and the defaults of YCSB's
// CoreWorkload, and tells in notes what it assumed, dropped or found without
// effect. docs/ycsb.md lists every property. The error joins a *SpecError for
// each fault of all sources, in the order of the sources; see SpecErrors.
func Parse(in Input) (*Spec, []Note, error) {
	r := &specReader{
		given:   map[string]givenProperty{},
		flags:   map[string]givenProperty{},
		settled: map[string]givenProperty{},
		faulty:  map[string]bool{},

		readFile: in.ReadFile,
	}
	r.takeSources(in.Sources)
	r.takeOverrides(in.Overrides, len(in.Sources))
	r.takeFlags(in.Flags, len(in.Sources)+1)
	r.sortOut()
	spec := r.build()
	if len(r.errs) > 0 {
		return nil, r.sortedNotes(), r.err()
	}
	return spec, r.sortedNotes(), nil
}

// overrideFile is the File of what -p gave.
const overrideFile = "-p"

// givenProperty is an assignment and its place in the order of messages.
type givenProperty struct {
	Assignment
	at messageOrder
}

// isGiven reports whether the property was given at all, or is a default.
func (g givenProperty) isGiven() bool { return g.File != "" }

// messageOrder sorts messages: by source, then by line. Overrides and flags
// follow the sources, and what has no place comes last.
type messageOrder struct{ source, line int }

func (a messageOrder) compare(b messageOrder) int {
	return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.line, b.line))
}

var nowhere = messageOrder{source: math.MaxInt}

// specReader collects what was given and turns it into a Spec.
type specReader struct {
	// given holds what counts of sources and overrides, by name; flags holds
	// the flags that stand for properties, by the property's name.
	given, flags map[string]givenProperty
	// settled says for the properties that flags stand for what was used.
	settled map[string]givenProperty
	// faulty properties have had an error: what depends on them isn't judged.
	faulty map[string]bool
	errs   []orderedError
	notes  []orderedNote
	hints  []traces.Hint

	readFile func(source, name string) ([]byte, error)
}

type orderedError struct {
	at  messageOrder
	err *SpecError
}

type orderedNote struct {
	at   messageOrder
	note Note
}

func (r *specReader) takeSources(sources []Source) {
	for i, s := range sources {
		assignments, errs := ParseProperties(s.Name, s.Text)
		for _, err := range errs {
			r.errs = append(r.errs, orderedError{messageOrder{i, err.Line}, err})
		}
		for _, a := range assignments {
			r.take(givenProperty{a, messageOrder{i, a.Line}})
		}
	}
}

func (r *specReader) takeOverrides(overrides []string, source int) {
	for i, text := range overrides {
		g := givenProperty{Assignment{File: overrideFile}, messageOrder{source, i}}
		var ok bool
		g.Name, g.Value, ok = strings.Cut(text, "=")
		switch {
		case !ok || g.Name == "":
			g.Value, g.Name = "", ""
			r.failWith(g, fmt.Sprintf("%s is not of the form name=value", quotedUnlessSecret(text)), "")
		case !utf8.ValidString(text):
			r.failWith(g, "not UTF-8", "")
		default:
			r.take(g)
		}
	}
}

// take lets g win over what was given before, and notes it if both come from
// the same source.
func (r *specReader) take(g givenProperty) {
	before, ok := r.given[g.Name]
	r.given[g.Name] = g
	if !ok || before.at.source != g.at.source {
		return
	}
	text := fmt.Sprintf("given on line %d and on line %d, the last one counts", before.Line, g.Line)
	if g.Line == 0 {
		text = "given more than once, the last one counts"
	}
	r.note(g, text)
}

func (r *specReader) takeFlags(f Flags, source int) {
	for i, flag := range []struct {
		name, property string
		value          *string
	}{
		{"--seed", "seed", f.Seed},
		{"--records", "recordcount", f.Records},
		{"--ops", "operationcount", f.Ops},
		{"--duration", "maxexecutiontime", f.Duration},
		{"--rate", "target", f.Rate},
		{"--arrivals", "arrivals", f.Arrivals},
	} {
		if flag.value != nil {
			r.flags[flag.property] = givenProperty{
				Assignment{Name: flag.property, Value: *flag.value, File: flag.name},
				messageOrder{source, i},
			}
		}
	}
}

// get returns what was given for a property of knownProperties, or its default.
func (r *specReader) get(name string) givenProperty {
	if g, ok := r.given[name]; ok {
		return g
	}
	k, _ := lookUp(name)
	return givenProperty{Assignment{Name: name, Value: k.fallback}, nowhere}
}

// sound reports whether none of the properties has had an error.
func (r *specReader) sound(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return r.faulty[name] })
}

func (r *specReader) fail(g givenProperty, format string, args ...any) {
	r.failWith(g, fmt.Sprintf(format, args...), "")
}

func (r *specReader) failWith(g givenProperty, reason, advice string) {
	r.faulty[g.Name] = true
	value := g.Value
	if isSecret(g.Name, value) {
		value = "(a secret)"
	}
	r.errs = append(r.errs, orderedError{g.at, &SpecError{
		File: g.File, Line: g.Line, Name: g.Name, Value: value, Reason: reason, Hint: advice,
	}})
}

func (r *specReader) note(g givenProperty, text string) {
	r.notes = append(r.notes, orderedNote{g.at, Note{File: g.File, Line: g.Line, Name: g.Name, Text: text}})
}

func (r *specReader) noteAll(format string, args ...any) {
	r.notes = append(r.notes, orderedNote{nowhere, Note{Text: fmt.Sprintf(format, args...)}})
}

func (r *specReader) err() error {
	slices.SortStableFunc(r.errs, func(a, b orderedError) int { return a.at.compare(b.at) })
	errs := make([]error, len(r.errs))
	for i, e := range r.errs {
		errs[i] = e.err
	}
	return errors.Join(errs...)
}

func (r *specReader) sortedNotes() []Note {
	slices.SortStableFunc(r.notes, func(a, b orderedNote) int { return a.at.compare(b.at) })
	var notes []Note
	for _, n := range r.notes {
		notes = append(notes, n.note)
	}
	return notes
}

func quotedUnlessSecret(text string) string {
	if isSecret("", text) || isSecretName(text) {
		return "a secret"
	}
	return quoted(text)
}
