package postrender

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/gatewright/gatewright/postrender/engine"
)

var update = flag.Bool("update", false, "rewrite the expected texts (the run still fails)")

// TestSplice adds an annotation and two listeners to Gateways in all the forms
// that YAML has. A file of testdata/splice holds the Gateway and how it looks
// afterwards: added if all of its lines are still there, changed if a value in
// one had to give way or the document had to be encoded anew.
func TestSplice(t *testing.T) {
	for _, file := range glob(t, "testdata/splice/*.txtar") {
		t.Run(caseName(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) != 2 {
				t.Fatalf("want two sections, found %d: %v", len(archive.Files), err)
			}
			in, want := archive.Files[0], &archive.Files[1]
			got := edited(t, string(in.Data))
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("unexpected text (-want +got):\n%s", diff)
				want.Data = []byte(got)
				rewriteCase(t, file, archive)
			}
			if is := holdsLines(got, string(in.Data)); is != (want.Name == "added") {
				t.Errorf("it holds the lines of the original: %v, and is said to be %s", is, want.Name)
			}
		})
	}
}

// TestSpliceBytes is about bytes that an archive of text cannot hold.
func TestSpliceBytes(t *testing.T) {
	const block = "metadata:\n  name: edge\nspec:\n  listeners:\n  - name: http\n    port: 80\n"
	want := edited(t, block)
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	mixed := func(s string) string {
		return strings.Replace(strings.TrimSuffix(crlf(s), "\r\n"), "spec:\r", "---\n# Source: a/b.yaml\nspec:\r", 0)
	}
	for _, c := range []struct{ name, in, want string }{
		{"no final newline", strings.TrimSuffix(block, "\n"), want},
		{"CRLF", crlf(block), crlf(want)},
		{"CRLF below LF, no final newline", "---\n# Source: c/templates/gw.yaml\n" + mixed(block), "---\n# Source: c/templates/gw.yaml\n" + crlf(want)},
		{"CRLF below LF, LF at the end", "---\n# Source: c/templates/gw.yaml\n" + mixed(block) + "\n", ""},
		{"byte order mark", "\ufeff" + block, "\ufeff" + want},
		{"byte order mark and separator", "\ufeff---\n" + block, "\ufeff---\n" + want},
		{"blanks behind the separator", "---  \t\n" + block, "---  \t\n" + want},
		{"flow, no final newline", `{"metadata": {"name": "edge"}, "spec": {"listeners": []}}`, ""},
		{"CRLF that must be encoded anew", crlf("metadata: &m\n  name: edge\nspec:\n  listeners: &l []\n  copy: *l\n"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edited(t, c.in)
			if c.want != "" && got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if strings.Contains(c.name, "CRLF that") && strings.Count(got, "\n") != strings.Count(got, "\r\n") {
				t.Errorf("mixed line ends: %q", got)
			}
		})
	}
}

// edited adds an annotation and two listeners to a Gateway.
func edited(t *testing.T, in string) string {
	t.Helper()
	text := []byte(in)
	for _, c := range []change{
		setText{keyPath{"metadata", "annotations"}, engine.AnnotationRendered, `{"version":"1"}`},
		setItems{at: keyPath{"spec", "listeners"}, add: twoListeners()},
	} {
		out, err := apply(text, c)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		text = out
	}
	return string(text)
}

func twoListeners() []any {
	return []any{
		map[string]any{"name": "https-a", "hostname": "*.example.com", "port": int64(443)},
		map[string]any{"name": "https-b", "tls": map[string]any{"certificateRefs": []any{map[string]any{"group": "", "kind": "Secret"}}}},
	}
}

// holdsLines tells whether the lines of a text, in order, begin with those of
// another one.
func holdsLines(text, lines string) bool {
	at := strings.Split(text, "\n")
	for line := range strings.SplitSeq(strings.TrimSuffix(lines, "\n"), "\n") {
		i := slices.IndexFunc(at, func(l string) bool { return strings.HasPrefix(l, line) })
		if i < 0 {
			return false
		}
		at = at[i+1:]
	}
	return true
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return files
}

func caseName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

// rewriteCase writes what was got into a file of expectations, if asked to.
func rewriteCase(t *testing.T, file string, archive *txtar.Archive) {
	t.Helper()
	if !*update {
		return
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
