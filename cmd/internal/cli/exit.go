package cli

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// The exit codes. Scripts depend on them.
const (
	exitDone    = 0
	exitFailed  = 1  // nothing was written
	exitChanges = 2  // --detailed-exitcode: the plan changes something; flux check: a file is out of date
	exitRefused = 3  // --strict: a claim is refused, or something is found
	exitPartial = 4  // some was written, some failed, or somebody has to look
	exitUsage   = 64 // wrong usage, EX_USAGE of sysexits(3)
)

// usageError is a mistake in the command line.
type usageError struct {
	command string // "gatewright plan"
	err     error
}

func (e *usageError) Error() string {
	return fmt.Sprintf("%v; see %s --help", e.err, e.command)
}

func (e *usageError) Unwrap() error { return e.err }

// UsageError is what a function of [Program] returns if the command line is to
// blame.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// exitError ends the program with a code of its own, silently without err.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitCode is the exit code that err stands for.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// errorLines gives each of the errors joined in err a line of its own.
func errorLines(err error) []string {
	if exit, ok := err.(*exitError); ok {
		err = exit.err
	}
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var lines []string
		for _, e := range joined.Unwrap() {
			lines = append(lines, errorLines(e)...)
		}
		return lines
	}
	return []string{oneLine(err.Error())}
}

// oneLine keeps text from a manifest from breaking a line or steering the
// terminal.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, s)
}
