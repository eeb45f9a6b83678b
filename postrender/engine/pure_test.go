package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// impure are the packages that reach beyond the arguments of a function.
var impure = []string{"os", "io", "net", "log", "syscall", "math/rand", "crypto/rand", "flag", "path/filepath", "plugin", "unsafe", "sync", "context",
	"k8s.io/client-go", "k8s.io/klog", "sigs.k8s.io/controller-runtime", "helm.sh", "github.com/spf13"}

// pureBelow are the packages below impure ones that are pure.
var pureBelow = []string{"net/netip"}

// clocks are the functions of pure packages that ask the clock or wait for it.
var clocks = map[string][]string{"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "LoadLocation", "Local"}}

// TestPure: the engine is a function of its arguments: no I/O, clock,
// environment, logger, client or randomness.
func TestPure(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range impurities(file) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

func impurities(file *ast.File) []string {
	var out []string
	for _, imported := range file.Imports {
		path, _ := strconv.Unquote(imported.Path.Value)
		if isImpure(path) {
			out = append(out, "it imports "+path)
		}
		if imported.Name != nil && clocks[path] != nil {
			out = append(out, "it gives "+path+" another name, so that this test does not see what it uses")
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if pkg, ok := selector.X.(*ast.Ident); ok {
				for _, name := range clocks[pkg.Name] {
					if selector.Sel.Name == name {
						out = append(out, "it uses "+pkg.Name+"."+name)
					}
				}
			}
		}
		return true
	})
	return out
}

func isImpure(path string) bool {
	for _, pure := range pureBelow {
		if path == pure {
			return false
		}
	}
	for _, root := range impure {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}

// TestPureCanFail: what is impure is seen.
func TestPureCanFail(t *testing.T) {
	for source, want := range map[string]int{
		`import "os"`:                                   1,
		`import "net/http"`:                             1,
		`import "net/netip"`:                            0,
		`import "math/rand/v2"`:                         1,
		`import clock "time"`:                           1,
		`import "log/slog"`:                             1,
		`import "k8s.io/client-go/rest"`:                1,
		"import \"time\"\nvar now = time.Now()":         1,
		"import \"time\"\nvar now = time.Unix(0, 0)":    0,
		"import \"time\"\nvar wait = time.After":        1,
		"import \"time\"\nfunc f() { time.Sleep(1) }":   1,
		"import \"time\"\nvar d = time.Second\nvar x x": 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := impurities(file); len(got) != want {
			t.Errorf("%s: %q, want %d", source, got, want)
		}
	}
}
