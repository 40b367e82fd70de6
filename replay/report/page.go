package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// pageWidth is the greatest width of a line in characters, single words
	// that are longer aside.
	pageWidth = 110
	// labelWidth is the width of the labels at the left of entries.
	labelWidth = 11
	// columnGap stands between the columns of a table.
	columnGap = 2
)

// page is a text report in the making.
type page struct{ bytes.Buffer }

// line adds a line.
func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

// paragraph adds text behind a first part, wrapped between words, with further
// lines indented as far as indent says.
func (p *page) paragraph(first string, indent int, text string) {
	line := first
	empty := true
	for _, word := range strings.Fields(text) {
		switch {
		case empty:
			line += word
		case width(line)+1+width(word) <= pageWidth:
			line += " " + word
		default:
			p.line("%s", strings.ReplaceAll(line, glue, " "))
			line = strings.Repeat(" ", indent) + word
		}
		empty = false
	}
	p.line("%s", strings.TrimRight(strings.ReplaceAll(line, glue, " "), " "))
}

// glue stands for a blank at which paragraph does not wrap. It is no character
// that plain lets through.
const glue = "\x00"

// gluedMax is the width up to which an item of an entry stays on one line.
const gluedMax = 45

// entry adds a labelled paragraph of the items that are not empty.
func (p *page) entry(indent int, label string, items ...string) {
	var given []string
	for _, item := range items {
		if width(item) <= gluedMax {
			item = strings.ReplaceAll(item, " ", glue)
		}
		if item != "" {
			given = append(given, item)
		}
	}
	if len(given) == 0 {
		return
	}
	first := strings.Repeat(" ", indent) + label
	first += strings.Repeat(" ", max(indent+labelWidth-width(first), 1))
	p.paragraph(first, indent+labelWidth, strings.Join(given, ", "))
}

// table adds rows under a head, the first column to the left and the others to
// the right. Columns that don't fit on the page follow below, in a table of
// their own with the first column repeated.
func (p *page) table(indent int, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	for i, piece := range pieces(widths, pageWidth-indent) {
		if i > 0 {
			p.line("")
		}
		for _, row := range rows {
			line := strings.Repeat(" ", indent) + row[0] + blanks(widths[0], row[0])
			for i := piece[0]; i < piece[1]; i++ {
				line += strings.Repeat(" ", columnGap) + blanks(widths[i], row[i]) + row[i]
			}
			p.line("%s", strings.TrimRight(line, " "))
		}
	}
}

// pieces cuts the columns behind the first into ranges that fit beside it into
// the given room, as few as can be and of like numbers of columns.
func pieces(widths []int, room int) [][2]int {
	for n := 1; ; n++ {
		each := (len(widths) - 1 + n - 1) / n
		var out [][2]int
		fits := true
		for from := 1; from < len(widths); from += each {
			to := min(from+each, len(widths))
			used := widths[0]
			for _, w := range widths[from:to] {
				used += columnGap + w
			}
			fits = fits && used <= room
			out = append(out, [2]int{from, to})
		}
		if fits || each <= 1 {
			return out
		}
	}
}

// blanks returns what cell lacks to the given width.
func blanks(to int, cell string) string { return strings.Repeat(" ", max(to-width(cell), 0)) }

// width returns the number of characters of s.
func width(s string) int { return utf8.RuneCountInString(s) }

// plain returns s fit for a line of a report: what would not show, or would
// move a terminal's cursor, is written as an escape.
func plain(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

func hidden(r rune) bool { return !unicode.IsPrint(r) }

// messageMax is the greatest number of characters of a message that are printed.
const messageMax = 200

// message returns the message of an error as one quoted word.
func message(s string) string {
	if runes := []rune(s); len(runes) > messageMax {
		s = string(runes[:messageMax]) + "…"
	}
	return strconv.Quote(s)
}
