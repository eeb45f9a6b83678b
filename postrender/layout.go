package postrender

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// bodyStart returns where the YAML of a document begins: behind a byte order
// mark, the dashes of the separator and the blanks behind them. Whatever a
// template glued to the dashes thus stands at column 0 again.
func bodyStart(text []byte) int {
	at := 0
	if bytes.HasPrefix(text, byteOrderMark) {
		at = len(byteOrderMark)
	}
	if isSeparator(text[at:]) {
		at = skipBlanks(text, at+len("---"))
	}
	return at
}

func skipBlanks(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

// content returns where the content of a document begins, at the start of its
// line unless it shares that with the separator: behind comments, blank lines
// and directives. It is the length of the text if there is none.
func content(text []byte) int {
	for at := bodyStart(text); at < len(text); {
		end := lineEnd(text, at)
		line := text[at:end]
		switch {
		case isSeparator(line): // behind directives
			at = skipBlanks(text, at+len("---"))
		case line[0] == '%', isEnd(line), isComment(line), isBlank(line):
			at = end
		default:
			return at
		}
	}
	return len(text)
}

// contentEnd returns where the content of a document ends: at its "..." line
// if it has one, else with the text.
func contentEnd(text []byte) int {
	last := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
	if isEnd(text[last:]) {
		return last
	}
	return len(text)
}

// endsOpen tells whether a document ends in the middle of a line and says
// something else if the line is ended: the last text of it is a block scalar.
// Neither Helm sends that, but pipes do. Nothing can be put behind such a
// document without a line end, and in front of it only where no byte order mark
// and no directive has to come first.
func endsOpen(text []byte) bool {
	head := text[:content(text)]
	if bytes.HasSuffix(text, []byte("\n")) || bytes.HasPrefix(text, byteOrderMark) || bytes.HasPrefix(head, []byte("%")) || bytes.Contains(head, []byte("\n%")) {
		return false
	}
	t, err := parse(text)
	if err != nil {
		return false
	}
	value, err := t.decode()
	return err == nil && !says(append(bytes.Clone(text), '\n'), value)
}

// onlyDirectives tells whether a text holds directives and no content.
func onlyDirectives(text []byte) bool {
	text = bytes.TrimPrefix(text, byteOrderMark)
	found := false
	for line := range bytes.Lines(text) {
		switch {
		case line[0] == '%':
			found = true
		case !isComment(line) && !isBlank(line):
			return false
		}
	}
	return found
}

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

func isComment(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && line[0] == '#'
}

// sourceComment returns the template that Helm 3 names above the content of a
// document, or "". We write such comments, too, so nothing is taken for a name
// that a reader of YAML might take for the end of a line.
func sourceComment(text []byte) string {
	for line := range bytes.Lines(text[bodyStart(text):content(text)]) {
		name, found := strings.CutPrefix(string(line), "# Source: ")
		if name = strings.TrimSpace(name); found && isName(name) {
			return name
		}
	}
	return ""
}

func isName(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// filenameIn returns the template that Helm 4 names in a document, even in one
// that cannot be parsed, or "".
func filenameIn(text []byte) string {
	_, rest, found := bytes.Cut(text, []byte(filenameAnnotation+":"))
	if !found {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimLeft(string(rest[:lineEnd(rest, 0)]), " '\""), "'")
	return strings.TrimRight(name, " \"}\r\n")
}
