package cli

import (
	"strings"
	"unicode/utf8"
)

// text lays the report out for a terminal: aligned columns, and below a row
// the sentence that belongs to it.
func (r planReport) text(l look) string { return r.textAs("Plan: ", l) }

// textAs is text with another word before the summary.
func (r planReport) textAs(word string, l look) string {
	var b strings.Builder
	for _, s := range r.sections {
		b.WriteString(l.lines(titleTone, "", s.title))
		if len(s.rows) == 0 {
			b.WriteString(l.lines(plainTone, "  ", s.empty))
		} else {
			s.text(&b, l)
		}
		b.WriteString("\n")
	}
	summary := l.lines(plainTone, "", word+r.summary)
	return b.String() + l.paint(titleTone, word) + strings.TrimPrefix(summary, word)
}

// lines is text from a manifest, wrapped, with all lines but the first further
// in, and painted.
func (l look) lines(t tone, indent, s string) string {
	var b strings.Builder
	for line := range strings.Lines(wrap(oneLine(s), indent, indent+"  ", l.width)) {
		b.WriteString(l.paint(t, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

// wrap breaks s between words so that no line is wider than width, the first
// line behind first and the others behind rest. With width 0, or nothing but a
// sliver, it stays one line.
func wrap(s, first, rest string, width int) string {
	if s == "" {
		return ""
	}
	if width-len(rest) < 20 {
		return first + s + "\n"
	}
	var b strings.Builder
	column, between := len(first), first
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		if i > 0 && column+1+n > width {
			column, between = len(rest), "\n"+rest
		} else if i > 0 {
			column, between = column+1, " "
		}
		b.WriteString(between + word)
		column += n
	}
	return b.String() + "\n"
}
