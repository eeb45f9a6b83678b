package postrender

import "bytes"

// split cuts a stream into documents. Each is a sub-slice of the input that
// begins with its separator line, if it has one, so that all of them joined
// are the input again.
func split(in []byte) [][]byte {
	var docs [][]byte
	start := 0
	cut := func(end int) {
		docs = append(docs, in[start:end:end])
		start = end
	}
	for at := 0; at < len(in); {
		next := nextSeparator(in, at)
		for end := nextEnd(in, at, next); end > 0; end = nextEnd(in, at, next) {
			cut(end)
			at = end
		}
		// Directives belong to the document that the separator opens.
		if next > start && !onlyDirectives(in[start:next]) {
			cut(next)
		}
		at = next
	}
	if start < len(in) {
		cut(len(in))
	}
	return docs
}

// nextSeparator returns the start of the first separator line behind the line
// at from, or the end of the input.
func nextSeparator(in []byte, from int) int {
	for {
		i := bytes.Index(in[from:], []byte("\n---"))
		if i < 0 {
			return len(in)
		}
		from += i + 1
		if isSeparator(in[from:]) {
			return from
		}
	}
}

// nextEnd returns where the line behind the first "..." line between the
// offsets begins, or 0. The offset from is the start of a line.
func nextEnd(in []byte, from, to int) int {
	for at := from; at < to; {
		if isEnd(in[at:to]) {
			return lineEnd(in, at)
		}
		i := bytes.Index(in[at:to], []byte("\n..."))
		if i < 0 {
			return 0
		}
		at += i + 1
	}
	return 0
}

// isSeparator tells whether a line separates documents: three dashes, alone or
// before a blank, or glued to what a template wrote behind them, which both
// Helms accept. Longer runs of dashes are rulers and PEM blocks.
func isSeparator(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte("---"))
	return found && (endsWord(rest) || rest[0] == '{' || rest[0] == '#' || beginsWithKey(rest))
}

// isEnd tells whether a line ends a document.
func isEnd(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte("..."))
	return found && endsWord(rest)
}

func endsWord(rest []byte) bool {
	return len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n'
}

// beginsWithKey tells whether a line begins with a plain key such as
// "apiVersion:".
func beginsWithKey(line []byte) bool {
	n := 0
	for n < len(line) && (isLetter(line[n]) || n > 0 && (isDigit(line[n]) || line[n] == '-' || line[n] == '_')) {
		n++
	}
	return n > 0 && n < len(line) && line[n] == ':' && endsWord(line[n+1:])
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// lineEnd returns where the line behind the one at the offset begins.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
