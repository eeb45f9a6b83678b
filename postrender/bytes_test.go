package postrender

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestBlank renders releases of nothing: Helm 4 refuses an empty output.
func TestBlank(t *testing.T) {
	for in, want := range map[string]string{
		"":                 nothing,
		"\n":               "\n" + nothing,
		" \r\n\t":          " \r\n\t\n" + nothing,
		"---\n":            "---\n",
		"---":              "---",
		"# c":              "# c",
		"\ufeff":           "\ufeff",
		"# Source: a\n...": "# Source: a\n...",
		nothing:            nothing,
	} {
		if got := rendered(t, in, issuing("apps")); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestBytes is about bytes that an archive of text cannot hold.
func TestBytes(t *testing.T) {
	for _, c := range []struct{ name, in string }{
		{"text that ends without a line end", stream(edge, route("a", "a.example.com"), foreign+"data:\n  a: |\n    x\n    y\n", foreign+"data:\n  cfg: |\n    z")},
		{"a collection that ends without a line end", stream(edge, route("a", "a.example.com"), foreign+"resources: {}")},
		{"a comment that ends without a line end", stream(edge, route("a", "a.example.com"), foreign+"# end")},
		{"the Gateway ends without a line end", stream(route("a", "a.example.com"), strings.TrimSuffix(edge, "\n"))},
		{"a marked end", stream(edge, route("a", "a.example.com"), foreign+"...")},
		{"CRLF", strings.ReplaceAll(stream(edge, route("a", "a.example.com"), foreign), "\n", "\r\n")},
		{"CRLF below LF, as Helm 3 hands it over", "---\n# Source: c/templates/a.yaml\n" + crlfBelow(edge) + "---\n# Source: c/templates/b.yaml\n" + crlfBelow(route("a", "a.example.com")) +
			"---\n# Source: c/templates/c.yaml\n" + crlfBelow(foreign+"data:\n  a: |\n    x\n    y\n")},
		{"a byte order mark", "\ufeff" + stream(edge, route("a", "a.example.com"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := rendered(t, c.in, issuing("apps"))
			in, got := split([]byte(c.in)), split([]byte(out))
			if len(got) != len(in)+1 {
				t.Fatalf("%d documents and a Certificate became %d:\n%s", len(in), len(got), out)
			}
			place := len(in)
			if c.name == "text that ends without a line end" {
				place--
				if !strings.HasSuffix(out, "\n    z") {
					t.Errorf("the text has another end: %q", got[place+1])
				}
			}
			added := string(got[place])
			got = slices.Delete(got, place, place+1)
			for i, doc := range in {
				isGateway := bytes.Contains(doc, []byte("kind: Gateway"))
				if !isGateway && !bytes.Equal(bytes.TrimSuffix(got[i], []byte("\n")), bytes.TrimSuffix(doc, []byte("\n"))) {
					t.Errorf("%q became %q", doc, got[i])
				}
				if isGateway && !bytes.Contains(got[i], []byte("hostname: a.example.com")) {
					t.Errorf("no listener in %q", got[i])
				}
			}
			if !strings.HasPrefix(added, "---\n") || !strings.Contains(added, "kind: Certificate\n") || strings.Contains(added, "\r") {
				t.Errorf("added is %q", added)
			}
			if again := rendered(t, out, issuing("apps")); again != out {
				t.Errorf("the second run changed\n%q to\n%q", out, again)
			}
		})
	}
}

// TestOpenEnd has last documents whose value a line end behind them would
// change, all but the last two: those keep their place and get a line end.
func TestOpenEnd(t *testing.T) {
	a := route("a", "a.example.com")
	const open = "data:\n  cfg: |\n    z"
	list := "kind: List\napiVersion: v1\nitems:\n" + asItem(edge) + asItem(a) + strings.TrimSuffix(asItem(foreign+open), "\n")
	for _, c := range []struct {
		name, in, tail string
	}{
		{"behind others", stream(edge, a, foreign+open), "---\n" + foreign + open},
		{"folded", stream(edge, a, foreign+"data:\n  cfg: >\n    z"), "---\n" + foreign + "data:\n  cfg: >\n    z"},
		{"kept line ends", stream(edge, a, foreign+"data:\n  cfg: |+\n    z"), "---\n" + foreign + "data:\n  cfg: |+\n    z"},
		{"behind a marked end", stream(edge, a) + "...\n" + foreign + open, "---\n" + foreign + open},
		{"in a List", list, strings.TrimSuffix(asItem(foreign+open), "\n")},
		{"below a directive", stream(edge, a) + "...\n%YAML 1.2\n---\n" + foreign + open, "      gatewright.dev/for: edge\n"},
		{"no line end lost", stream(edge, a, foreign+"data:\n  cfg: |-\n    z"), "      gatewright.dev/for: edge\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := rendered(t, c.in, issuing("apps"))
			if !strings.HasSuffix(out, c.tail) || strings.Count(out, "kind: Certificate\n") != 1 {
				t.Errorf("it does not end with %q:\n%s", c.tail, out)
			}
			if again := rendered(t, out, issuing("apps")); again != out {
				t.Errorf("the second run changed\n%q to\n%q", out, again)
			}
		})
	}
}

// crlfBelow returns a text in CRLF whose last line ends with LF.
func crlfBelow(text string) string {
	return strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\r\n"), "\r\n") + "\n"
}

// TestLarge renders what has been too much for line scanners.
func TestLarge(t *testing.T) {
	line := foreign + "data:\n  a: " + strings.Repeat("x", 1<<20) + "\n"
	crd := "kind: CustomResourceDefinition\nspec:\n" + strings.Repeat("  description: kind of a Gateway\n", 100_000)
	in := stream(line, crd, strings.Repeat(foreign+"---\n", 5_000)+foreign, route("a", "a.example.com"))
	if got := rendered(t, in, issuing("apps")); got != in {
		t.Error("it changed")
	}
}
