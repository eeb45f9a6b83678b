package cli

import "strings"

// markdown lays the report out for a comment on a pull request.
func (r planReport) markdown() string {
	var b strings.Builder
	b.WriteString("### gatewright plan\n\n" + r.summary + "\n")
	for _, s := range r.sections {
		b.WriteString("\n#### " + plainMarkdown(s.title) + "\n\n")
		if len(s.rows) == 0 {
			b.WriteString(s.empty + "\n")
			continue
		}
		s.markdownTable(&b)
	}
	return b.String()
}

func (s section) markdownTable(b *strings.Builder) {
	notes := false
	for _, r := range s.rows {
		notes = notes || r.note != ""
	}
	header := s.header
	if notes {
		header = append(header[:len(header):len(header)], "NOTE")
	}
	b.WriteString("|")
	for _, h := range header {
		b.WriteString(" " + strings.ToLower(h) + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(header)) + "\n")
	for _, r := range s.rows {
		b.WriteString("|")
		for _, c := range r.cells {
			b.WriteString(" " + plainMarkdown(c) + " |")
		}
		if notes {
			b.WriteString(" " + plainMarkdown(r.note) + " |")
		}
		b.WriteString("\n")
	}
}

// plainMarkdown makes text from a manifest mean nothing to a markdown renderer.
func plainMarkdown(s string) string {
	return strings.NewReplacer(
		`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`,
		"<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "@", "&#64;", "#", `\#`,
	).Replace(oneLine(s))
}

// markdownDiff folds a diff away, behind a fence that nothing in it can close.
func markdownDiff(diff string) string {
	if diff == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(diff, fence) {
		fence += "`"
	}
	return "\n<details><summary>Change to the manifests</summary>\n\n" + fence + "diff\n" + diff + fence + "\n\n</details>\n"
}
