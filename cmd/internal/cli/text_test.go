package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	tests := []struct {
		name, text string
		width      int
		want       string
	}{
		{"nothing", "", 40, ""},
		{"no width", "one two three", 0, "  one two three\n"},
		{"no room", "one two three", 10, "  one two three\n"},
		{"breaks between words", "one two three four five six 7 9", 24, "  one two three four\n    five six 7 9\n"},
		{"exactly full", "one two three four 67x one two three 4567 9 x", 24, "  one two three four 67x\n    one two three 4567 9\n    x\n"},
		{"a word that is too long", "a " + strings.Repeat("x", 30) + " b", 24, "  a\n    " + strings.Repeat("x", 30) + "\n    b\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, wrap(test.text, "  ", "    ", test.width)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDiffIsAPatch has git, which every machine that builds this has, carry the
// diff out.
func TestDiffIsAPatch(t *testing.T) {
	long := strings.Repeat("same: line\n", 300)
	tests := []struct{ name, before, after string }{
		{"in the middle", "a\nb\nc\n", "a\nx\nc\n"},
		{"at the end", "a\n", "a\n---\nb\n"},
		{"the last line had no end", "a", "a\n---\nb\n"},
		{"the last line has no end", "a\nb", "x\nb"},
		{"from nothing", "", "a\n"},
		{"carriage returns", "a\r\nb\r\n", "a\r\nx\r\nb\r\n"},
		{"many equal lines", long + "a\n" + long, long + "b\n" + long + "c\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			diff, err := unifiedDiff("in.yaml", []byte(test.before), []byte(test.after))
			if err != nil {
				t.Fatal(err)
			}
			got := carryOut(t, diff, test.before)
			if diff := cmp.Diff(test.after, got); diff != "" {
				t.Errorf("after git apply (-want +got):\n%s", diff)
			}
		})
	}
}

func carryOut(t *testing.T, diff, before string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "in.yaml")
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)) // of no repository
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, diff)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestTablesFitTheWidth(t *testing.T) {
	certificates := section{
		title: "Certificates", header: []string{"", "HOSTNAMES", "ISSUER", "WHY"}, list: "HOSTNAMES",
		rows: []row{
			{cells: []string{"add", "a.example, b.example, c.example", "Issuer/le", "HTTPRoute infra/shop"}},
			{cells: []string{"remove", "d.example", "", "nothing in the release claims it"}, note: "one two three four five six"},
		},
	}
	tests := []struct {
		name  string
		width int
		want  string
	}{
		{"in a pipe a row is a line", 0, `Certificates
          HOSTNAMES                        ISSUER     WHY
  add     a.example, b.example, c.example  Issuer/le  HTTPRoute infra/shop
  remove  d.example                                   nothing in the release claims it
      one two three four five six
`},
		{"exactly full", 86, `Certificates
          HOSTNAMES                        ISSUER     WHY
  add     a.example, b.example, c.example  Issuer/le  HTTPRoute infra/shop
  remove  d.example                                   nothing in the release claims it
      one two three four five six
`},
		{"lists break", 85, `Certificates
          HOSTNAMES   ISSUER     WHY
  add     a.example,  Issuer/le  HTTPRoute infra/shop
          b.example,
          c.example
  remove  d.example              nothing in the release claims it
      one two three four five six
`},
		{"the last columns go below", 52, `Certificates
          HOSTNAMES                        ISSUER
  add     a.example, b.example, c.example  Issuer/le
      why: HTTPRoute infra/shop
  remove  d.example
      why: nothing in the release claims it
      one two three four five six
`},
		{"both", 28, `Certificates
          HOSTNAMES
  add     a.example,
          b.example,
          c.example
      issuer: Issuer/le
      why: HTTPRoute
        infra/shop
  remove  d.example
      why: nothing in the
        release claims it
      one two three four
      five six
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := planReport{sections: []section{certificates}, summary: "none"}.text(look{width: test.width})
			if diff := cmp.Diff(test.want+"\nPlan: none\n", got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFold(t *testing.T) {
	help := "Flags:\n      --set KEY=VALUE   value for the chart, KEY=VALUE\n  a long example | of a pipe\nUse a sentence  that is long\n"
	tests := []struct {
		width int
		want  string
	}{
		{0, help},
		{47, "Flags:\n      --set KEY=VALUE   value for the chart,\n                        KEY=VALUE\n  a long example | of a pipe\nUse a sentence  that is long\n"},
		{54, help},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, fold(help, test.width)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", test.width, diff)
		}
	}
}
