//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePage(t *testing.T) {
	page := `
Text with $ signs.

~~~yaml file=a.yaml
a: 1

b: 2
~~~
~~~console
$ cat a.yaml # exit 2
a: 1

b: 2

$ true
~~~
  ~~~console helm4
  $ helm list \
      --all
  ~~~
~~~console not-run
$ make test
~~~
~~~yaml
$ no command
~~~
`
	want := []step{
		{line: 4, file: "a.yaml", content: "a: 1\n\nb: 2\n"},
		{line: 10, command: "cat a.yaml # exit 2", exit: 2, want: []string{"a: 1", "", "b: 2"}, wantAt: 11},
		{line: 15, command: "true"},
		{line: 18, command: "helm list \\\n    --all", indent: "  ", helm4: true},
		{line: 22, command: "make test", notRun: true},
	}
	got, err := parsePage(strings.ReplaceAll(page, "~~~", "```"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" {
		t.Errorf("parsePage (-want +got):\n%s", diff)
	}
	if _, err := parsePage("```console\nno command\n```\n"); err == nil {
		t.Error("a console block without a command is no error")
	}
}

func TestMatchLines(t *testing.T) {
	got := printed("a  \nb\n\nc\n\n")
	tests := []struct {
		want string
		ok   bool
	}{
		{"a|b||c", true},
		{"a|...|c", true},
		{"...|b|...", true},
		{"...|a|b||c|...", true},
		{"a|b", false},
		{"b||c", false},
		{"a|b|c", false},
		{"...|c|b|...", false},
		{"...|d|...", false},
	}
	for _, tt := range tests {
		if match := matchLines(strings.Split(tt.want, "|"), got); match != tt.ok {
			t.Errorf("matchLines(%q) = %v, want %v", tt.want, match, tt.ok)
		}
	}
}

func TestRewrite(t *testing.T) {
	page := "text\n  ~~~console\n  $ cat a\n  old\n  older\n\n  $ true\n  ~~~\n"
	page = strings.ReplaceAll(page, "~~~", "```")
	steps, err := parsePage(page)
	if err != nil {
		t.Fatal(err)
	}
	got := rewrite(page, steps[0], []string{"new", "", " newer"})
	if want := strings.Replace(page, "  old\n  older\n", "  new\n\n   newer\n", 1); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
