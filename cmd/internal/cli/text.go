package cli

import (
	"strings"
	"unicode/utf8"
)

// text lays the report out for a terminal: aligned columns, and below a row
// the sentence that belongs to it.
func (r report) text(l look) string {
	var b strings.Builder
	for _, s := range r.sections {
		b.WriteString(l.paint(titleTone, oneLine(s.title)) + "\n")
		if len(s.rows) == 0 {
			b.WriteString("  " + s.empty + "\n\n")
			continue
		}
		widths := s.widths()
		writeRow(&b, l, faintTone, s.header, widths)
		for _, row := range s.rows {
			writeRow(&b, l, row.tone, row.cells, widths)
			b.WriteString(wrap(oneLine(row.note), "      ", l.width))
		}
		b.WriteString("\n")
	}
	return b.String() + l.paint(titleTone, "Plan: ") + r.summary + "\n"
}

func (s section) widths() []int {
	widths := make([]int, len(s.header))
	measure := func(cells []string) {
		for i, c := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(oneLine(c)))
		}
	}
	measure(s.header)
	for _, r := range s.rows {
		measure(r.cells)
	}
	return widths
}

func writeRow(b *strings.Builder, l look, t tone, cells []string, widths []int) {
	var line strings.Builder
	for i, c := range cells {
		c = oneLine(c)
		line.WriteString("  " + c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)))
	}
	b.WriteString(l.paint(t, strings.TrimRight(line.String(), " ")) + "\n")
}

// wrap breaks s between words so that no line is wider than width, each line
// behind indent. With width 0, or nothing but a sliver, it stays one line.
func wrap(s, indent string, width int) string {
	if s == "" {
		return ""
	}
	room := width - len(indent)
	if room < 20 {
		return indent + s + "\n"
	}
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
			b.WriteString(indent)
		case used+1+n > room:
			b.WriteString("\n" + indent)
			used = 0
		default:
			b.WriteString(" ")
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String() + "\n"
}
