package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggestFlag says of a flag that does not exist which one is meant, and of a
// duration that is none how to write one.
func suggestFlag(cmd *cobra.Command, err error) error {
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is && wrong.GetFlag().Value.Type() == "duration" {
		return fmt.Errorf("%w; write hours or minutes, such as 24h or 30m", err)
	}
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return fmt.Errorf("%w%s", err, nearest(unknown.GetSpecifiedName(), "--", names))
}

// commandNames are the commands and topics.
func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// nearest asks whether those of the names are meant that are like the word, or is
// "". The prefix stands before each name.
func nearest(word, prefix string, names []string) string {
	best, found := len(word)+1, []string(nil)
	for _, name := range names {
		d := levenshtein.ComputeDistance(word, name)
		switch {
		case d > likeness(word, name) || d > best:
			continue
		case d < best:
			found = nil
		}
		best, found = d, append(found, prefix+name)
	}
	if len(found) == 0 {
		return ""
	}
	return ", did you mean " + strings.Join(found, " or ") + "?"
}

// likeness is how many letters may differ: a third of them, and three where the
// beginning is right.
func likeness(word, name string) int {
	const beginning = 4
	if len(word) > beginning && len(name) > beginning && word[:beginning] == name[:beginning] {
		return 3
	}
	return len(word) / 3
}
