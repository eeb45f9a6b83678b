//go:build unix

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A page shows commands in fenced blocks, which the first word after the fence
// tells apart; a word after it says more:
//
//	```console            run in the order of the page; helm is Helm 3
//	```console helm4      the same with Helm 4 as helm
//	```console cluster    the same with a cluster in reach
//	```console not-run    cannot run here; the test's log lists it
//	```yaml file=NAME     written to NAME before the commands below it
//
// In a console block a line that begins with "$ " is a command, which a
// backslash at its end continues, and "# exit N" after it is its exit code. The
// lines below are what it prints, all of it; a line "..." stands for any lines.
// A command without lines below may print anything.

// step is one command of a page, or one file.
type step struct {
	line    int
	command string
	exit    int
	want    []string // what it prints, from line wantAt of the page
	wantAt  int
	indent  string // of the block in the page
	helm4   bool
	cluster bool
	notRun  bool

	file, content string
}

// block is a fenced block.
type block struct {
	line    int
	indent  string
	words   []string // after the fence
	content []string
}

func (b block) is(kind string) bool  { return len(b.words) > 0 && b.words[0] == kind }
func (b block) has(word string) bool { return slices.Contains(b.words, word) }
func (b block) file() (string, bool) {
	for _, word := range b.words {
		if name, ok := strings.CutPrefix(word, "file="); ok {
			return name, true
		}
	}
	return "", false
}

func parsePage(text string) ([]step, error) {
	var steps []step
	for _, b := range blocks(text) {
		if name, ok := b.file(); ok {
			steps = append(steps, step{line: b.line, file: name, content: strings.Join(b.content, "\n") + "\n"})
		}
		if !b.is("console") {
			continue
		}
		commands, err := b.commands()
		if err != nil {
			return nil, err
		}
		steps = append(steps, commands...)
	}
	return steps, nil
}

func blocks(text string) []block {
	var found []block
	var open *block
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			open = &block{line: i + 1, indent: line[:len(line)-len(trimmed)], words: strings.Fields(strings.TrimLeft(trimmed, "`"))}
		case open != nil && strings.TrimSpace(line) == "```":
			found = append(found, *open)
			open = nil
		case open != nil:
			open.content = append(open.content, strings.TrimPrefix(line, open.indent))
		}
	}
	return found
}

var exitComment = regexp.MustCompile(`\s+# exit (\d+)$`)

func (b block) commands() ([]step, error) {
	var steps []step
	continued := false
	for i, line := range b.content {
		text, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case continued:
			last := &steps[len(steps)-1]
			last.command += "\n" + line
			text = line
		case isCommand:
			steps = append(steps, step{line: b.line + i + 1, indent: b.indent, command: text, helm4: b.has("helm4"), cluster: b.has("cluster"), notRun: b.has("not-run")})
		case len(steps) == 0:
			return nil, fmt.Errorf("line %d: a console block begins with a command, \"$ ...\"", b.line+i+1)
		default:
			last := &steps[len(steps)-1]
			if len(last.want) == 0 {
				last.wantAt = b.line + i + 1
			}
			last.want = append(last.want, strings.TrimRight(line, " "))
			continue
		}
		continued = strings.HasSuffix(text, `\`)
	}
	for i := range steps {
		if match := exitComment.FindStringSubmatch(steps[i].command); match != nil {
			steps[i].exit, _ = strconv.Atoi(match[1])
		}
		steps[i].want = trimBlank(steps[i].want)
	}
	return steps, nil
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// printed returns the lines of a command's output.
func printed(output string) []string {
	var lines []string
	for line := range strings.Lines(output) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return trimBlank(lines)
}

// matchLines says whether want shows what was printed.
func matchLines(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == "...":
		for i := 0; i <= len(got); i++ {
			if matchLines(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && want[0] == got[0] && matchLines(want[1:], got[1:])
}

// rewrite puts what a command printed in the place of what the page shows.
func rewrite(page string, s step, got []string) string {
	lines := strings.Split(page, "\n")
	for i := range got {
		got[i] = strings.TrimRight(s.indent+got[i], " ")
	}
	return strings.Join(slices.Replace(lines, s.wantAt-1, s.wantAt-1+len(s.want), got...), "\n")
}
