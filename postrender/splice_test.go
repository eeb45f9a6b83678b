package postrender

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/gatewright/gatewright/postrender/engine"
)

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
	const source = "---\n# Source: c/templates/gw.yaml\n"
	for _, c := range []struct{ name, in, want string }{
		{"no final newline", strings.TrimSuffix(block, "\n"), want},
		{"CRLF", crlf(block), crlf(want)},
		{"CRLF below LF", source + crlf(block), source + crlf(want)},
		{"CRLF below LF, no final newline", source + strings.TrimSuffix(crlf(block), "\r\n"), source + crlf(want)},
		{"CRLF below LF, LF at the end", source + crlfBelow(block), ""},
		{"byte order mark", "\ufeff" + block, "\ufeff" + want},
		{"byte order mark and separator", "\ufeff---\n" + block, "\ufeff---\n" + want},
		{"blanks behind the separator", "---  \t\n" + block, "---  \t\n" + want},
		{"content behind the separator, encoded anew", "---  metadata:\n  name: edge\nspec:\n  listeners: [\n  ]\n", ""},
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

// TestSpliceRefused are Gateways that cannot be edited.
func TestSpliceRefused(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no spec", "metadata: {name: edge}\n", "spec is missing or no mapping"},
		{"a directive, and aliases", "%TAG ! tag:x:\n---\nmetadata: {name: edge}\nspec:\n  listeners: &l\n  - a: !b c\n  copy: *l\n", errNoEdit.message},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := apply([]byte(c.in), setItems{at: keyPath{"spec", "listeners"}, add: twoListeners()})
			if err == nil || err.Error() != c.want {
				t.Errorf("got the error %v and %q, want %q", err, out, c.want)
			}
		})
	}
}

// TestSpliceRemoves takes listeners out.
func TestSpliceRemoves(t *testing.T) {
	const head, tail = "spec:\n  listeners:\n", "  other: 1\n"
	items := []string{"  # of a\n  - name: a # a\n    port: 1\n", "\n  # of b\n  - {name: b}\n", "  # of c\n  - name: c\n    note: |\n      x\n"}
	flow := func(items ...string) string { return "spec: {listeners: [" + strings.Join(items, ", ") + "]}\n" }
	for _, c := range []struct {
		name, in string
		remove   []int
		want     string
	}{
		{"the first", head + strings.Join(items, "") + tail, []int{0}, head + "  # of a\n" + items[1] + items[2] + tail},
		{"one between", head + strings.Join(items, "") + tail, []int{1}, head + items[0] + "\n  # of b\n" + items[2] + tail},
		{"the last", head + strings.Join(items, "") + tail, []int{2}, head + items[0] + items[1] + "  # of c\n" + tail},
		{"the last of the document", head + strings.Join(items, ""), []int{2, 1}, head + items[0] + "\n  # of b\n  # of c\n"},
		{"all", head + strings.Join(items, "") + tail, []int{0, 1, 2}, "spec:\n  listeners: []\n  other: 1\n"},
		{"flow, the first", flow("{name: a, x: [1]}", "{name: 'b]'}", "{}"), []int{0}, flow("{name: 'b]'}", "{}")},
		{"flow, the last", flow("{name: a, x: [1]}", "{name: 'b]'}", "{}"), []int{2, 1}, flow("{name: a, x: [1]}")},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := setItems{at: keyPath{"spec", "listeners"}, remove: map[int]bool{}}
			for _, i := range c.remove {
				change.remove[i] = true
			}
			got, err := apply([]byte(c.in), change)
			if diff := cmp.Diff(c.want, string(got)); diff != "" || err != nil {
				t.Errorf("unexpected text, error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestSpliceAliasOfItem edits a Gateway that a List holds twice: the other one
// stays.
func TestSpliceAliasOfItem(t *testing.T) {
	in := "kind: List\nitems:\n- &gw\n  spec:\n    listeners: []\n- *gw # again\n"
	out, err := apply([]byte(in), setItems{at: keyPath{"items", 1, "spec", "listeners"}, add: []any{map[string]any{"name": "a"}}})
	want := "kind: List\nitems:\n  - spec:\n      listeners: []\n  # again\n  - spec:\n      listeners:\n        - name: a\n"
	if diff := cmp.Diff(want, string(out)); diff != "" || err != nil {
		t.Errorf("unexpected text, error %v (-want +got):\n%s", err, diff)
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
		was := string(text)
		out, err := apply(text, c)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if string(text) != was {
			t.Fatalf("%q was written to: %q", was, text)
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

// rewriteCase writes what was got into a file of expectations, if UPDATE=1 asks
// for it. The run still fails, so that the difference is looked at.
func rewriteCase(t *testing.T, file string, archive *txtar.Archive) {
	t.Helper()
	if os.Getenv("UPDATE") == "" {
		return
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
