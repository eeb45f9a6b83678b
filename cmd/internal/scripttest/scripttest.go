// Package scripttest sets up the script tests of the commands.
package scripttest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

const dir = "testdata/script"

// Params run the scripts of testdata/script. UPDATE=1 rewrites what they
// compare with, and a rewrite fails, so that nobody takes it for passing.
func Params(t *testing.T) testscript.Params {
	t.Helper()
	update := os.Getenv("UPDATE") != ""
	if update {
		before := scripts(t)
		t.Cleanup(func() { // after the scripts, which run in parallel
			if diff := cmp.Diff(before, scripts(t)); diff != "" {
				t.Errorf("rewritten, look at the difference and run again (-was +is):\n%s", diff)
			}
		})
	}
	return testscript.Params{
		Dir:                 dir,
		UpdateScripts:       update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	}
}

// scripts are the texts of the scripts by file.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	return texts
}
