package cli

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// table says how a section's rows are set.
type table struct {
	// widths are those of the columns that stand side by side. The other
	// columns, on the right, stand below the row, each on a line of its own.
	widths []int
	// list is the column with a line for each member of a list, -1 for none.
	list int
}

// below is the indent of what stands below a row.
const below = "      "

// text writes the rows so that they fit the width. Where nobody has a width, in
// a pipe, each row is one line, so that tools can work on it.
func (s section) text(b *strings.Builder, l look) {
	t := s.fit(l.width)
	t.write(b, l, faintTone, s.header)
	for _, row := range s.rows {
		t.write(b, l, row.tone, row.cells)
		for i := len(t.widths); i < len(row.cells); i++ {
			if row.cells[i] != "" {
				b.WriteString(l.lines(plainTone, below, strings.ToLower(s.header[i])+": "+row.cells[i]))
			}
		}
		b.WriteString(wrap(oneLine(row.note), below, below, l.width))
	}
}

// fit breaks lists first, and then puts as few columns as it must below the
// rows. What a row is about stays in it, even where it is too wide.
func (s section) fit(width int) table {
	least := 1
	if s.header[0] == "" {
		least = 2
	}
	list := -1
	if s.list != "" {
		list = slices.Index(s.header, s.list)
	}
	for columns := len(s.header); ; columns-- {
		if t := s.table(columns, -1); width == 0 || t.width() <= width {
			return t
		}
		if t := s.table(columns, list); t.width() <= width || columns == least {
			return t
		}
	}
}

// table is the one with this many columns side by side.
func (s section) table(columns, list int) table {
	t := table{make([]int, columns), list}
	measure := func(cells []string) {
		for i := range t.widths {
			for _, line := range t.cell(cells, i) {
				t.widths[i] = max(t.widths[i], utf8.RuneCountInString(line))
			}
		}
	}
	measure(s.header)
	for _, r := range s.rows {
		measure(r.cells)
	}
	return t
}

// width is that of a line, with two spaces before each column.
func (t table) width() int {
	sum := 0
	for _, w := range t.widths {
		sum += 2 + w
	}
	return sum
}

// cell is a cell's lines.
func (t table) cell(cells []string, column int) []string {
	lines := []string{oneLine(cells[column])}
	if column == t.list {
		lines = strings.SplitAfter(lines[0], ", ")
		for i := range lines {
			lines[i] = strings.TrimSuffix(lines[i], " ")
		}
	}
	return lines
}

// write writes the cells that stand side by side, on as many lines as the one
// with most lines takes.
func (t table) write(b *strings.Builder, l look, tone tone, cells []string) {
	more := true
	for n := 0; more; n++ {
		var line strings.Builder
		more = false
		for i, width := range t.widths {
			lines := t.cell(cells, i)
			text := ""
			if n < len(lines) {
				text = lines[n]
			}
			more = more || n+1 < len(lines)
			line.WriteString("  " + text + strings.Repeat(" ", width-utf8.RuneCountInString(text)))
		}
		b.WriteString(l.paint(tone, strings.TrimRight(line.String(), " ")) + "\n")
	}
}
