package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// foldHelp makes the help of all commands as wide as the terminal.
func (a *app) foldHelp(root *cobra.Command) {
	whole := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var b strings.Builder
		cmd.SetOut(&b)
		whole(cmd, args)
		cmd.SetOut(nil)
		_, _ = io.WriteString(cmd.OutOrStdout(), fold(b.String(), widthOf(a.stdout)))
	})
}

// fold wraps what stands in the second column of the lists of flags and
// commands. Other text is narrow already, and examples are to be copied.
func fold(help string, width int) string {
	if width == 0 {
		return help
	}
	var b strings.Builder
	for line := range strings.Lines(help) {
		column := secondColumn(line)
		if column > 0 && len(line)-1 > width {
			line = wrap(strings.TrimSpace(line[column:]), line[:column], strings.Repeat(" ", column), width)
		}
		b.WriteString(line)
	}
	return b.String()
}

// secondColumn is where the second column of a list begins, or 0.
func secondColumn(line string) int {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	gap := strings.Index(line[indent:], "  ")
	if indent == 0 || gap < 0 {
		return 0
	}
	rest := line[indent+gap:]
	return len(line) - len(strings.TrimLeft(rest, " "))
}
