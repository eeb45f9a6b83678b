package postrender

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"
)

// tree is one parsed document. The places of its nodes are places in its text.
type tree struct {
	text []byte
	base int        // where the YAML begins in text
	line []int      // where the lines begin in text
	wide bool       // whether it holds more than ASCII
	end  int        // where the content ends in text
	root *yaml.Node // nil if the document has no content
	// document is the node around root that holds comments.
	document *yaml.Node
}

// syntaxError is what is wrong with a document, at a line of it (from 1), or 0
// if the parser does not say where.
type syntaxError struct {
	line    int
	message string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.message) }

// parse reads the text of one document.
func parse(text []byte) (*tree, error) {
	base := bodyStart(text)
	decoder := yaml.NewDecoder(bytes.NewReader(withoutVersion(text[base:])))
	var document, more yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return &tree{text: text, base: base}, nil
	case err != nil:
		return nil, syntax(err)
	}
	// A parser that is asked for one document is silent about what follows it.
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, &syntaxError{more.Line, "a second document begins here without a separator of its own"}
	case !errors.Is(err, io.EOF):
		return nil, syntax(err)
	}
	return &tree{text: text, base: base, document: &document, root: document.Content[0], end: contentEnd(text)}, nil
}

// withoutVersion makes a comment of a %YAML directive: the parser accepts one
// version only, and reads all of them alike.
func withoutVersion(body []byte) []byte {
	end := content(body)
	if !bytes.HasPrefix(body, []byte("%YAML")) && !bytes.Contains(body[:end], []byte("\n%YAML")) {
		return body
	}
	out := bytes.Clone(body)
	for at := 0; at < end; at = lineEnd(body, at) {
		if bytes.HasPrefix(out[at:], []byte("%YAML")) {
			out[at] = '#'
		}
	}
	return out
}

var (
	yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)
	// Of these the parser gives the line before the one it means.
	lineBefore = regexp.MustCompile(`^did not find expected (key|',' or|'-'|node content|<document start>)`)
)

func syntax(err error) *syntaxError {
	found := yamlError.FindStringSubmatch(err.Error())
	if found == nil {
		return &syntaxError{message: "invalid YAML: " + err.Error()}
	}
	line, _ := strconv.Atoi(found[1]) // "" is 0
	if line > 0 && lineBefore.MatchString(found[2]) {
		line++
	}
	return &syntaxError{line, "invalid YAML: " + found[2]}
}

// offset returns where a node begins in the text.
func (t *tree) offset(n *yaml.Node) int {
	at := t.lineStart(n)
	if !t.wide { // a List of JSON may be one long line
		return min(at+max(n.Column-1, 0), len(t.text))
	}
	for column := 1; column < n.Column && at < len(t.text); column++ {
		at += runeLen(t.text[at])
	}
	return min(at, len(t.text))
}

// lineStart returns where the line of a node begins in the text.
func (t *tree) lineStart(n *yaml.Node) int {
	if t.line == nil {
		t.line = lineStarts(t.text, t.base)
		t.wide = bytes.ContainsFunc(t.text, func(r rune) bool { return r >= utf8.RuneSelf })
	}
	if n.Line < 1 || n.Line > len(t.line) {
		return len(t.text)
	}
	return t.line[n.Line-1]
}

func runeLen(first byte) int {
	switch {
	case first < 0xC0:
		return 1
	case first < 0xE0:
		return 2
	case first < 0xF0:
		return 3
	}
	return 4
}

// lineStarts returns where lines begin, by the parser's idea of a line: a lone
// carriage return and the breaks of Unicode end one, too.
func lineStarts(text []byte, base int) []int {
	starts := []int{base}
	for at := base; at < len(text); {
		n := breakLen(text[at:])
		if n == 0 {
			at++
			continue
		}
		at += n
		starts = append(starts, at)
	}
	return starts
}

func breakLen(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("\r\n")), bytes.HasPrefix(text, []byte("\u0085")):
		return 2
	case text[0] == '\n', text[0] == '\r':
		return 1
	case bytes.HasPrefix(text, []byte("\u2028")), bytes.HasPrefix(text, []byte("\u2029")):
		return 3
	}
	return 0
}
