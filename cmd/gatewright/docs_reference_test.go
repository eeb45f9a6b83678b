//go:build unix

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

// The tables of the reference page list what the code knows, no less and no
// more.
func TestReferencePageIsComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "postrender/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		heading string
		want    []string
	}{
		{"Policy", append(policyKeys(), "match")},
		{"Findings", constants(t, "postrender/engine/findings.go", "Code")},
		{"Verdicts", constants(t, "postrender/engine/plan.go", "Reason")},
		{"Annotations and labels", append(constants(t, "postrender/engine/policy_sources.go", "Annotation"), engine.LabelFor)},
		{"Exit codes", constants(t, "cmd/internal/cli/exit.go", "exit")},
	}
	for _, tt := range tests {
		t.Run(tt.heading, func(t *testing.T) {
			slices.Sort(tt.want)
			got := slices.Sorted(slices.Values(firstColumn(string(text), tt.heading)))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("table below %q: the code has (-), the page has (+):\n%s", tt.heading, diff)
			}
		})
	}
}

func policyKeys() []string {
	var keys []string
	for field := range reflect.TypeFor[engine.Policy]().Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			keys = append(keys, name)
		}
	}
	return keys
}

// constants returns the values of a file's constants whose names begin with the
// prefix.
func constants(t *testing.T, file, prefix string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository, file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
			values = append(values, strings.Trim(literal.Value, `"`))
		}
		return true
	})
	if len(values) == 0 {
		t.Fatalf("%s has no constant %s...", file, prefix)
	}
	return values
}

// firstColumn returns what stands in backquotes, or as a number, in the first
// column of the tables below a heading.
func firstColumn(page, heading string) []string {
	_, section, _ := strings.Cut(page, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var cells []string
	for line := range strings.Lines(section) {
		columns := strings.Split(line, "|")
		if len(columns) < 3 {
			continue
		}
		cell := strings.TrimSpace(columns[1])
		if _, err := strconv.Atoi(cell); err == nil || strings.HasPrefix(cell, "`") {
			cells = append(cells, strings.Trim(cell, "`"))
		}
	}
	return cells
}
