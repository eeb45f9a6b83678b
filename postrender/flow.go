package postrender

import (
	"bytes"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// insertFlow adds an entry at the end of a flow collection, on a line of its
// own where the last entry has one.
func (t *tree) insertFlow(n *yaml.Node, entry string) [][]span {
	open := t.offset(n)
	closing, found := flowEnd(t.text, open)
	if !found {
		return nil
	}
	last := len(bytes.TrimRight(t.text[:closing], " \t\r\n"))
	end := flowContentEnd(t.text, open, closing)
	comma, gap := ",", " "
	if len(n.Content) == 0 {
		comma, gap = "", ""
	} else if t.text[end-1] == ',' {
		comma = ""
	}
	if len(n.Content) > 0 {
		gap = t.gap(n)
	}
	switch {
	case end == last:
		return [][]span{{{last, last, comma + gap + entry}}}
	case gap == " ": // a comment ends the last line
		return [][]span{{{end, end, comma}, {closing, closing, entry}}}
	}
	return [][]span{{{end, end, comma}, {last, last, gap + entry}}}
}

// flowContentEnd returns where the content of a flow collection ends, from its
// opening bracket: in front of blanks and comments.
func flowContentEnd(text []byte, open, closing int) int {
	end := open + 1
	begins := false // a quote opens a string here, and # a comment
	for i := open; i < closing; i++ {
		switch c := text[i]; {
		case begins && (c == '"' || c == '\''):
			if past, found := quoteEnd(text, i); found {
				i = past - 1
			}
			end = i + 1
		case begins && c == '#':
			i = lineEnd(text, i) - 1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			end = i + 1
		}
		begins = beginsFlow(text[i])
	}
	return end
}

// beginsFlow tells whether a quote behind a byte opens a string, in flow style.
func beginsFlow(c byte) bool { return strings.IndexByte("[{,: \t\r\n", c) >= 0 }

// gap returns what stands between two entries of a flow collection: a blank,
// or a line break and the indentation of the last entry.
func (t *tree) gap(n *yaml.Node) string {
	last := n.Content[len(n.Content)-1]
	if n.Kind == yaml.MappingNode {
		last = n.Content[len(n.Content)-2]
	}
	start := t.lineStart(last)
	if indent := t.text[start:max(start, t.offset(last))]; start > t.base && isBlank(indent) {
		return t.lineBreak(start) + string(indent)
	}
	return " "
}

// setFlowItems takes items out of a flow list and adds others at its end.
func (t *tree) setFlowItems(n *yaml.Node, remove map[int]bool, add []any) [][]span {
	entries := flowEntries(add, listenerKeys)
	gap := t.gap(n)
	if len(remove) == 0 {
		return t.insertFlow(n, strings.Join(entries, ","+gap))
	}
	open := t.offset(n)
	closing, found := flowEnd(t.text, open)
	if !found {
		return nil
	}
	var all []string
	for i, item := range n.Content {
		if remove[i] {
			continue
		}
		from := t.offset(item)
		to, found := flowEnd(t.text, from)
		if !found {
			return nil
		}
		all = append(all, string(t.text[from:to+1]))
	}
	last := len(bytes.TrimRight(t.text[:closing], " \t\r\n"))
	return [][]span{{{t.offset(n.Content[0]), last, strings.Join(append(all, entries...), ","+gap)}}}
}

// fillFlow gives a value to a key of a flow mapping whose value is null or
// empty.
func (t *tree) fillFlow(n *yaml.Node, value any) [][]span {
	at := t.offset(n)
	end := at + len(n.Value)
	if n.Kind != yaml.ScalarNode {
		closing, found := flowEnd(t.text, at)
		if !found {
			return nil
		}
		end = closing + 1
	}
	return [][]span{
		{{at, end, flow(value, listenerKeys)}},
		{{at, end, " " + flow(value, listenerKeys)}}, // there was nothing behind the colon
	}
}

// replaceScalar replaces a scalar that stands on one line.
func (t *tree) replaceScalar(n *yaml.Node, inFlow bool, value string) [][]span {
	at := t.offset(n)
	end, found := scalarEnd(t.text, at, inFlow)
	if !found || n.Kind != yaml.ScalarNode {
		return nil
	}
	with := quote(value)
	if inFlow {
		with = doubleQuote(value)
	}
	return [][]span{{{at, end, with}}, {{at, end, " " + with}}}
}

// flowEnd returns the offset of the bracket that closes the one at an offset.
func flowEnd(text []byte, at int) (int, bool) {
	if at >= len(text) || text[at] != '[' && text[at] != '{' {
		return 0, false
	}
	depth := 0
	begins := true // a quote opens a string here
	for i := at; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i, true
			}
		case begins && (c == '"' || c == '\''):
			end, found := quoteEnd(text, i)
			if !found {
				return 0, false
			}
			i = end - 1
		case begins && c == '#':
			i = lineEnd(text, i) - 1
		}
		begins = beginsFlow(text[i])
	}
	return 0, false
}

// quoteEnd returns where the quoted string that begins at an offset ends.
func quoteEnd(text []byte, at int) (int, bool) {
	mark := text[at]
	for i := at + 1; i < len(text); i++ {
		switch {
		case mark == '"' && text[i] == '\\':
			i++
		case text[i] == mark && mark == '\'' && i+1 < len(text) && text[i+1] == mark:
			i++
		case text[i] == mark:
			return i + 1, true
		}
	}
	return 0, false
}

// scalarEnd returns where the scalar that begins at an offset ends, if it
// stands on one line.
func scalarEnd(text []byte, at int, inFlow bool) (int, bool) {
	if at < len(text) && (text[at] == '"' || text[at] == '\'') {
		return quoteEnd(text, at)
	}
	line := text[at:lineEnd(text, at)]
	if i := bytes.Index(line, []byte(" #")); i >= 0 {
		line = line[:i]
	}
	if i := bytes.IndexAny(line, ",]}"); inFlow && i >= 0 {
		line = line[:i]
	}
	return at + len(bytes.TrimRight(line, " \t\r\n")), true
}
