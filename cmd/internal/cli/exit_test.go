package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExitCodeAndLines(t *testing.T) {
	two := errors.Join(errors.New("first"), errors.New("second\nline"))
	tests := []struct {
		name  string
		err   error
		code  int
		lines []string
	}{
		{"done", nil, 0, nil},
		{"an error", errors.New("no such file"), 1, []string{"no such file"}},
		{"joined errors", two, 1, []string{"first", "second line"}},
		{"changes", &exitError{code: exitChanges}, 2, nil},
		{"refused", &exitError{exitRefused, two}, 3, []string{"first", "second line"}},
		{"usage", &usageError{"gatewright plan", errors.New("bad flag")}, 64, []string{"bad flag; see gatewright plan --help"}},
		{"wrapped", fmt.Errorf("more: %w", &exitError{exitRefused, errors.New("x")}), 3, []string{"more: x"}},
		{"control characters", errors.New("a\x1b[31mb\u202ec"), 1, []string{"a�[31mb�c"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := exitCode(test.err); got != test.code {
				t.Errorf("exit code %d, want %d", got, test.code)
			}
			if diff := cmp.Diff(test.lines, errorLines(test.err)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
