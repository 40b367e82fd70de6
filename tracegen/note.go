package tracegen

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Note tells something about a spec that is no error: what was assumed, left
// out or has no effect. It is one line for people.
type Note struct {
	// File, Line and Name are those of an Assignment; all are empty where the
	// note is about no single property.
	File string
	Line int
	Name string
	Text string
}

// String returns the note as one line without its end.
func (n Note) String() string {
	switch {
	case n.Name == "":
		return place(n.File, n.Line) + n.Text
	case n.File == overrideFile:
		return n.File + " " + n.Name + ": " + n.Text
	case n.File != "" && n.Line == 0: // a flag
		return n.File + ": " + n.Text
	}
	return place(n.File, n.Line) + n.Name + ": " + n.Text
}

// SpecError is one fault of a spec.
type SpecError struct {
	// File, Line, Name and Value are those of an Assignment. File is empty
	// where nothing was given, Name where a line could not be read. The value
	// of a secret is left out.
	File        string
	Line        int
	Name, Value string
	// Reason says what is wrong and what is known instead.
	Reason string
	// Hint says what to do about it, for a line of its own; it may be empty.
	Hint string
}

// Error returns the fault as one line, without the hint.
func (e *SpecError) Error() string { return e.subject() + e.Reason }

func (e *SpecError) subject() string {
	switch {
	case e.Name == "":
		return place(e.File, e.Line)
	case e.File == "":
		return e.Name + ": "
	case e.File == overrideFile:
		return fmt.Sprintf("%s %s=%s: ", e.File, e.Name, quoted(e.Value))
	case e.Line == 0:
		return fmt.Sprintf("%s %s: ", e.File, quoted(e.Value))
	}
	return fmt.Sprintf("%s%s=%s: ", place(e.File, e.Line), e.Name, quoted(e.Value))
}

// SpecErrors returns the faults that an error of Parse consists of.
func SpecErrors(err error) []*SpecError {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*SpecError
		for _, e := range joined.Unwrap() {
			all = append(all, SpecErrors(e)...)
		}
		return all
	}
	var one *SpecError
	if errors.As(err, &one) {
		return []*SpecError{one}
	}
	return nil
}

func place(file string, line int) string {
	switch {
	case file == "":
		return ""
	case line == 0:
		return file + ": "
	}
	return fmt.Sprintf("%s:%d: ", file, line)
}

// maxQuoted is how much of a value a message shows, in bytes.
const maxQuoted = 80

func quoted(s string) string {
	if len(s) <= maxQuoted {
		return fmt.Sprintf("%q", s)
	}
	cut := maxQuoted
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%q...", s[:cut])
}
