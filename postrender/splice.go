package postrender

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// span is a stretch of text and what replaces it.
type span struct {
	from, to int
	with     string
}

// replace returns the text with the spans replaced, which do not overlap.
func (t *tree) replace(spans []span) []byte {
	var out []byte
	at := 0
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for _, s := range spans {
		if s.from < at || s.to < s.from || s.to > len(t.text) {
			return nil // a wrong guess: no document says what is wanted
		}
		out = append(append(out, t.text[at:s.from]...), s.with...)
		at = s.to
	}
	return append(out, t.text[at:]...)
}

// lines returns the span that puts whole lines at an offset, with the line
// ends that the document has.
func (t *tree) lines(at int, block string) span {
	if at > 0 && t.text[at-1] != '\n' {
		block = "\n" + block
	}
	return span{at, at, strings.ReplaceAll(block, "\n", t.lineBreak(at))}
}

// lineBreak returns how the line before an offset ends; of a line that has no
// end, how the one before it does.
func (t *tree) lineBreak(at int) string {
	if i := bytes.LastIndexByte(t.text[:at], '\n'); i > 0 && t.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// behind returns where a block collection ends, given the offset of the last
// thing in it, of the line that follows it, and the column of its keys or more.
// The first offset is right behind its last line; the others are where lines
// can be added to it, best first: behind comments of the same depth, right
// behind the last line, and right before what follows (in a block scalar
// comments and blank lines are none).
func (t *tree) behind(last, end, column int) (int, []int) {
	trimmed, limit := end, lineEnd(t.text, last)
	for trimmed > limit {
		start := bytes.LastIndexByte(t.text[:trimmed-1], '\n') + 1
		if line := t.text[start:trimmed]; !isBlank(line) && !isComment(line) {
			break
		}
		trimmed = start
	}
	extended := trimmed
	for extended < end && isComment(t.text[extended:]) && skipBlanks(t.text, extended)-extended >= column {
		extended = lineEnd(t.text, extended)
	}
	return trimmed, slices.Compact([]int{extended, trimmed, end})
}

// addKey adds a key to a mapping, at its end.
func (t *tree) addKey(m *yaml.Node, after int, key string, value any) [][]span {
	if isFlow(m) {
		return t.insertFlow(m, flowPair(key, value))
	}
	if len(m.Content) == 0 {
		return nil
	}
	column := m.Content[0].Column - 1
	block := encodePair(key, value, column, t.style(0))
	_, points := t.behind(t.offset(m.Content[len(m.Content)-1]), after, column)
	if start := t.lineStart(m.Content[0]); isBlank(t.text[start:t.offset(m.Content[0])]) {
		points = append(points, start)
	}
	var out [][]span
	for _, point := range points {
		out = append(out, []span{t.lines(point, block)})
	}
	return out
}

// emptyValue is the rest of a line behind a key that has no value or an empty
// one, and perhaps a comment.
var emptyValue = regexp.MustCompile(`^[ \t]*:([ \t]*(?:null|Null|NULL|~|\[[ \t]*\]|\{[ \t]*\}))?[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$)`)

// fillKey gives a value to a key whose value is null or empty.
func (t *tree) fillKey(p place, value any) [][]span {
	if isFlow(p.parent) {
		return t.fillFlow(p.value, value)
	}
	start := t.offset(p.key)
	colon := bytes.IndexByte(t.text[start:], ':') + start
	found := emptyValue.FindSubmatchIndex(t.text[max(colon, start):])
	if found == nil {
		return nil
	}
	var spans []span
	if found[2] >= 0 {
		spans = append(spans, span{colon + found[2], colon + found[3], ""})
	}
	indent := p.key.Column - 1
	block := encodeUnder(value, indent, t.style(0))
	return [][]span{append(spans, t.lines(colon+found[1], block))}
}

// itemStart returns where the line begins on which the dash of an item stands.
// That may be above the line of the item.
func (t *tree) itemStart(n *yaml.Node) int {
	start := t.lineStart(n)
	for at := start; at > t.base; at = bytes.LastIndexByte(t.text[:at-1], '\n') + 1 {
		if dash := skipBlanks(t.text, at); dash < len(t.text) && t.text[dash] == '-' && endsWord(t.text[dash+1:]) {
			return at
		}
	}
	return start
}

// setBlockItems takes items out of a block list and adds others at its end.
func (t *tree) setBlockItems(p place, remove map[int]bool, add []any) [][]span {
	items := p.value.Content
	start := t.itemStart(items[0])
	dash := skipBlanks(t.text, start)
	if dash == len(t.text) || t.text[dash] != '-' {
		return nil
	}
	indent := p.key.Column - 1
	block := encodeItems(add, dash-start, t.style(dash-start-indent))
	end, points := t.behind(t.offset(items[len(items)-1]), p.afterValue, indent+1)
	var out [][]span
	for _, point := range points {
		out = append(out, append(t.cuts(items, remove, end), t.lines(point, block)))
	}
	return out
}

// cuts returns the spans of items of a block list that ends at an offset.
// Comments above an item that stays stay.
func (t *tree) cuts(items []*yaml.Node, remove map[int]bool, end int) []span {
	var out []span
	for i, item := range items {
		if !remove[i] {
			continue
		}
		to := end
		if i+1 < len(items) {
			to, _ = t.behind(t.offset(item), t.itemStart(items[i+1]), 0)
		}
		out = append(out, span{t.itemStart(item), to, ""})
	}
	return out
}

// style returns how the document indents: its mappings by its own step, lists
// by the given number of columns.
func (t *tree) style(dash int) style {
	step := indentStep(t.root)
	if step < 1 {
		step = 2
	}
	return style{step: step, dash: dash}
}

// indentStep returns by how many columns the first nested block mapping stands
// deeper than its key, or 0.
func indentStep(n *yaml.Node) int {
	for i, child := range n.Content {
		isValue := n.Kind == yaml.MappingNode && i%2 == 1
		if isValue && child.Kind == yaml.MappingNode && !isFlow(child) && len(child.Content) > 0 {
			return child.Content[0].Column - n.Content[i-1].Column
		}
		if step := indentStep(child); step > 0 {
			return step
		}
	}
	return 0
}
