package cli

import (
	"errors"
	"slices"

	"github.com/gatewright/gatewright/jobs/report"
)

// dryRun is the value of --dry-run.
type dryRun report.DryRun

func isDryRun(word string) bool {
	return slices.Contains([]report.DryRun{report.DryRunClient, report.DryRunServer}, report.DryRun(word))
}

// String and Set make it the value of a flag.
func (d *dryRun) String() string { return string(*d) }

// Set takes a dry run by its word.
func (d *dryRun) Set(word string) error {
	if !isDryRun(word) {
		return errors.New("want client or server")
	}
	*d = dryRun(word)
	return nil
}

// Type is for pflag, which shows the value of a "string" in quotes.
func (d *dryRun) Type() string { return "word" }
