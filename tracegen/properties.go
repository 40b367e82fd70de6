package tracegen

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Assignment is one property and where it was given.
type Assignment struct {
	Name, Value string
	// File is the name of the source; "-p" or a flag such as "--records" where
	// the property came from the command line.
	File string
	// Line is where the assignment begins, from 1; 0 if File is no file.
	Line int
}

// ParseProperties reads text in the format of Java's properties, as
// java.util.Properties describes it, and returns the assignments in their
// order. The format: one assignment a line, the name ending at the first `=`,
// `:` or blank; lines that begin with `#` or `!` are remarks; a line that ends
// in an odd number of backslashes goes on in the next one; `\t`, `\n`, `\r`,
// `\f`, `\uXXXX` and a backslash before any other character are escapes in
// names and values. Lines end in LF, CR or both. Blanks behind a value belong
// to it.
//
// Unlike Java it takes UTF-8, with or without a byte order mark. Bytes outside
// remarks that are no UTF-8, malformed escapes, halves of surrogate pairs and
// lines without a name are errors. All of them are returned, with file and
// line, beside the assignments that could be read.
func ParseProperties(file string, text []byte) ([]Assignment, []*SpecError) {
	lines := propertyLines{rest: bytes.TrimPrefix(text, []byte("\uFEFF"))}
	var found []Assignment
	var errs []*SpecError
	for {
		line, number, reason, ok := lines.logical()
		if !ok {
			return found, errs
		}
		a := Assignment{File: file, Line: number}
		if reason == "" {
			a.Name, a.Value, reason = splitProperty(line)
		}
		if reason != "" {
			errs = append(errs, &SpecError{File: file, Line: number, Reason: reason})
			continue
		}
		found = append(found, a)
	}
}

// propertyLines cuts a text into logical lines.
type propertyLines struct {
	rest []byte
	// read is the number of natural lines taken from rest.
	read int
}

// natural returns the next line of the text without the blanks it begins with.
func (l *propertyLines) natural() (line []byte, ok bool) {
	if len(l.rest) == 0 {
		return nil, false
	}
	l.read++
	end := bytes.IndexAny(l.rest, "\r\n")
	if end < 0 {
		line, l.rest = l.rest, nil
	} else {
		next := end + 1
		if bytes.HasPrefix(l.rest[end:], []byte("\r\n")) {
			next++
		}
		line, l.rest = l.rest[:end], l.rest[next:]
	}
	return bytes.TrimLeft(line, propertyBlanks), true
}

// logical returns the next line that is neither blank nor a remark, with the
// lines that continue it, and the number of its first natural line. Where its
// text can't be used, reason says why and number is that of the line at fault.
// As in Java, a line with nothing but the backslash that continues it has not
// begun yet.
func (l *propertyLines) logical() (line []byte, number int, reason string, ok bool) {
	for {
		part, ok := l.natural()
		if !ok {
			return line, number, reason, len(line) > 0 || reason != ""
		}
		if len(line) == 0 && reason == "" {
			if len(part) == 0 || part[0] == '#' || part[0] == '!' {
				continue
			}
			number = l.read
		}
		if reason == "" && !utf8.Valid(part) {
			number, reason = l.read, notUTF8(part)
		}
		more := backslashes(part)%2 == 1
		if more {
			part = part[:len(part)-1]
		}
		line = append(line, part...)
		if !more {
			return line, number, reason, true
		}
	}
}

func notUTF8(line []byte) string {
	for i, r := range string(line) {
		if _, size := utf8.DecodeRune(line[i:]); r == utf8.RuneError && size == 1 {
			return fmt.Sprintf("byte 0x%02X is not UTF-8: save the file as UTF-8 or write the character as \\uXXXX", line[i])
		}
	}
	return ""
}

func backslashes(line []byte) int {
	return len(line) - len(bytes.TrimRight(line, `\`))
}

const propertyBlanks = " \t\f"

func isPropertyBlank(c byte) bool { return strings.IndexByte(propertyBlanks, c) >= 0 }

// splitProperty cuts a logical line into name and value and resolves escapes.
func splitProperty(line []byte) (name, value, reason string) {
	end, escaped := 0, false
	for ; end < len(line); end++ {
		c := line[end]
		if !escaped && (c == '=' || c == ':' || isPropertyBlank(c)) {
			break
		}
		escaped = c == '\\' && !escaped
	}
	start := end
	for separated := false; start < len(line); start++ {
		c := line[start]
		if (c == '=' || c == ':') && !separated {
			separated = true
		} else if !isPropertyBlank(c) {
			break
		}
	}
	if name, reason = unescapeProperty(line[:end]); reason != "" {
		return "", "", reason
	}
	if name == "" {
		return "", "", "a line without the name of a property"
	}
	value, reason = unescapeProperty(line[start:])
	return name, value, reason
}

var propertyEscapes = map[byte]byte{'t': '\t', 'n': '\n', 'r': '\r', 'f': '\f'}

// unescapeProperty resolves escapes; reason says what is wrong with one.
func unescapeProperty(raw []byte) (text, reason string) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw), ""
	}
	var out strings.Builder
	for len(raw) > 0 {
		c := raw[0]
		if c != '\\' || len(raw) == 1 {
			if c != '\\' {
				out.WriteByte(c)
			}
			raw = raw[1:]
			continue
		}
		if raw[1] == 'u' {
			r, size, reason := unescapeUnicode(raw)
			if reason != "" {
				return "", reason
			}
			out.WriteRune(r)
			raw = raw[size:]
			continue
		}
		if control, ok := propertyEscapes[raw[1]]; ok {
			out.WriteByte(control)
		} else {
			out.WriteByte(raw[1])
		}
		raw = raw[2:]
	}
	return out.String(), ""
}

// unescapeUnicode reads the \uXXXX that raw begins with, or two of them that
// are a surrogate pair.
func unescapeUnicode(raw []byte) (r rune, size int, reason string) {
	first, ok := codeUnit(raw)
	if !ok {
		return 0, 0, fmt.Sprintf("malformed escape %q, known is \\u with four hexadecimal digits", raw[:min(len(raw), 6)])
	}
	if !utf16.IsSurrogate(first) {
		return first, 6, ""
	}
	if second, ok := codeUnit(raw[6:]); ok {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, 12, ""
		}
	}
	return 0, 0, fmt.Sprintf("escape %q is half of a surrogate pair", raw[:6])
}

func codeUnit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	for _, c := range raw[2:6] {
		if strings.IndexByte("0123456789abcdefABCDEF", c) < 0 {
			return 0, false
		}
	}
	unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(unit), err == nil
}
