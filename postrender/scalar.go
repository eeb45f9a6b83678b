package postrender

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words are what a reader of YAML 1.1 or 1.2 takes for a bool or for nothing.
var words = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

// quote returns a string as a scalar of a block collection: plain only where
// no reader of YAML can take it for anything else.
func quote(s string) string {
	switch {
	case isPlain(s):
		return s
	case strings.Contains(s, `"`) && isPrintable(s):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return doubleQuote(s)
}

// isPlain tells whether a string begins with a letter or a slash, and so is no
// number and no date, goes on with characters that mean nothing to YAML, and is
// no word.
func isPlain(s string) bool {
	if s == "" || !isLetter(s[0]) && s[0] != '/' || slices.Contains(words, strings.ToLower(s)) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("-_./", r) && (r > 'z' || !isWord(byte(r)))
	})
}

// isBlock tells whether a string is text of several lines that reads the same
// as a block.
func isBlock(s string) bool {
	if strings.Count(s, "\n") < 2 || !strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\n\n") || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") {
		return false
	}
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasSuffix(line, " ") || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// isPrintable tells whether a string can stand between single quotes, on one
// line.
func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// doubleQuote returns a string in the quotes that JSON and YAML share.
func doubleQuote(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r >= ' ' && r <= '~', r > 0x9f && unicode.IsPrint(r):
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08X`, r)
		default:
			fmt.Fprintf(&out, `\u%04X`, r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
