package postrender

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string // joined they are the input
	}{
		{"nothing", nil},
		{"one document", []string{"a: 1\n"}},
		{"no final newline", []string{"a: 1\n", "---\nb: 2"}},
		{"a separator in front", []string{"---\na: 1\n", "---\nb: 2\n"}},
		{"separators alone", []string{"---\n", "---\n", "---"}},
		{"blanks and comments behind separators", []string{"---  \na: 1\n", "---\t# b\nb: 2\n", "--- # c\n"}},
		{"content behind separators", []string{"--- null\n", "--- {a: 1}\n", "--- a\n"}},
		{"glued keys", []string{"---apiVersion: v1\n", "---kind: B\n", "---a-b_c1: x\n", "---x:\n  y: 1\n"}},
		{"glued JSON and comments", []string{"---{\"a\": 1}\n", "---# Source: a\nb: 1\n"}},
		{"rulers and PEM blocks", []string{"----\n-----BEGIN CERTIFICATE-----\n---x\n---- a: 1\n---1: 2\n---a:b\n", "--- a\n"}},
		{"indented separators", []string{"a: |\n ---\n  ---\n b\n"}},
		{"CRLF", []string{"---\r\na: 1\r\n", "---\r\nb: 2\r\n...\r\n", "c: 3\r\n"}},
		{"ends", []string{"...\n", "a: 1\n...\n", "b: 2\n... # end\n", "---\nc: 3\n...\n", "---\nd: 4\n"}},
		{"no ends", []string{"a: |\n ...\n....\n...x\n..\n"}},
		{"directives", []string{"%YAML 1.2\n# a\n%TAG ! tag:a:\n---\na: 1\n...\n", "# b\n%YAML 1.2\n\n--- b\n", "---\n%c: 1\n"}},
		{"a directive without a document", []string{"a: 1\n...\n", "%YAML 1.2\n"}},
		{"a byte order mark", []string{"\ufeff---\na: 1\n", "---\nb: 2\n"}},
		{"text above the first separator", []string{"\n# a\n", "---\nb: 2\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := []byte(strings.Join(c.want, ""))
			var got []string
			for _, doc := range split(in) {
				got = append(got, string(doc))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("unexpected documents (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSplitKeepsApart makes sure that nobody who appends to a document writes
// into the next one.
func TestSplitKeepsApart(t *testing.T) {
	in := []byte("a: 1\n---\nb: 2\n")
	docs := split(in)
	_ = append(docs[0], "xxxx"...)
	if !bytes.Equal(docs[1], []byte("---\nb: 2\n")) {
		t.Errorf("the second document is %q", docs[1])
	}
}

// TestSplitIsLinear splits streams on which a careless search starts over again
// and again.
func TestSplitIsLinear(t *testing.T) {
	for _, line := range []string{"...\n", "---\n", "----\n", "\n", "%\n", "#\n", "---x\n", "....\n"} {
		in := bytes.Repeat([]byte(line), 2_000_000)
		if got := bytes.Join(split(in), nil); !bytes.Equal(got, in) {
			t.Errorf("%q repeated came out as %d bytes", line, len(got))
		}
	}
}

func TestContent(t *testing.T) {
	for _, c := range []struct{ in, content, source string }{
		{"", "", ""},
		{"---\n# Source: c/templates/a.yaml\na: 1\n", "a: 1\n", "c/templates/a.yaml"},
		{"---\r\n# Source: c/templates/a.yaml\r\n\r\n  # x\r\na: 1\r\n", "a: 1\r\n", "c/templates/a.yaml"},
		{"--- {a: 1}\n", "{a: 1}\n", ""},
		{"---a: 1\n", "a: 1\n", ""},
		{"--- # c\na: 1\n# Source: b\n", "a: 1\n# Source: b\n", ""},
		{"---# Source: a\nb: 1\n", "b: 1\n", "a"},
		{"# Source: a\n# Source: b\n...\n", "", "a"},
		{"\ufeff%YAML 1.2\n# Source: a\n--- \n  a: 1\n", "  a: 1\n", "a"},
		{"  a: 1\n", "  a: 1\n", ""},
		{"# Source: a\x01b\n# Source: c\u0085d\n# Source: e\xff\n# Source: \n", "", ""},
	} {
		text := []byte(c.in)
		if got := string(text[content(text):]); got != c.content {
			t.Errorf("the content of %q is %q, want %q", c.in, got, c.content)
		}
		if got := sourceComment(text); got != c.source {
			t.Errorf("the source of %q is %q, want %q", c.in, got, c.source)
		}
	}
}
