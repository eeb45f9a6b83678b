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
		{line: 10, command: "cat a.yaml # exit 2", exit: 2, want: []string{"a: 1", "", "b: 2"}},
		{line: 15, command: "true"},
		{line: 18, command: "helm list \\\n    --all", helm4: true},
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

func TestShows(t *testing.T) {
	output := "\na  \nb\n\nc\n"
	tests := []struct {
		want string
		ok   bool
	}{
		{"", true},
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
		var want []string
		if tt.want != "" {
			want = strings.Split(tt.want, "|")
		}
		if got := shows(want, output); got != tt.ok {
			t.Errorf("shows(%q) = %v, want %v", tt.want, got, tt.ok)
		}
	}
}
