package cli

import (
	"bytes"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// unifiedDiff is the change of one input as patch reads it, or "" for none.
func unifiedDiff(source string, before, after []byte) (string, error) {
	if bytes.Equal(before, after) {
		return "", nil
	}
	if source == "" {
		source = "chart"
	}
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A:        lines(before),
		B:        lines(after),
		FromFile: "a/" + strings.TrimPrefix(source, "/"),
		ToFile:   "b/" + strings.TrimPrefix(source, "/"),
		Context:  3,
	})
}

// lines splits after each line break; a last line without one says so, as in
// any patch.
func lines(data []byte) []string {
	all := strings.SplitAfter(string(data), "\n")
	last := len(all) - 1
	if all[last] == "" {
		return all[:last]
	}
	all[last] += "\n\\ No newline at end of file\n"
	return all
}

func (l look) paintDiff(diff string) string {
	if !l.colour {
		return diff
	}
	var b strings.Builder
	for line := range strings.Lines(diff) {
		text := strings.TrimSuffix(line, "\n")
		b.WriteString(l.paint(diffTone(text), text) + line[len(text):])
	}
	return b.String()
}

func diffTone(line string) tone {
	switch {
	case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		return titleTone
	case strings.HasPrefix(line, "@@"):
		return hunkTone
	case strings.HasPrefix(line, "+"):
		return goodTone
	case strings.HasPrefix(line, "-"):
		return badTone
	default:
		return plainTone
	}
}
