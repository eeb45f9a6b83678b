package postrender

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEditList(t *testing.T) {
	patch := map[string]any{"kustomize": map[string]any{"patches": []any{map[string]any{
		"target": map[string]any{"kind": "Gateway"}, "patch": "# ours\n- op: add\n",
	}}}}
	const ours = `  - kustomize:
      patches:
      - target:
          kind: Gateway
        patch: |
          # ours
          - op: add
`
	path := []any{"spec", "postRenderers"}
	tests := []struct {
		name, in string
		edit     ListEdit
		want     string
	}{
		{"a list that is missing", "# head\nspec:\n  a: 1 # one\n# foot\n", ListEdit{Add: []any{patch}},
			"# head\nspec:\n  a: 1 # one\n  postRenderers:\n" + ours + "# foot\n"},
		{"behind another", "spec:\n  postRenderers:\n  - kustomize: {} # theirs\n  b: 2\n", ListEdit{Add: []any{patch}},
			"spec:\n  postRenderers:\n  - kustomize: {} # theirs\n" + ours + "  b: 2\n"},
		{"in place of the last", "spec:\n  postRenderers:\n  - kustomize: {} # theirs\n  - old: 1\n  b: 2\n", ListEdit{[]int{1}, []any{patch}},
			"spec:\n  postRenderers:\n  - kustomize: {} # theirs\n" + ours + "  b: 2\n"},
		{"the last one", "spec:\n  a: 1\n  postRenderers:\n" + ours + "  # of b\n  b: 2\n", ListEdit{Remove: []int{0}},
			"spec:\n  a: 1\n  # of b\n  b: 2\n"},
		{"the last one at the end", "spec:\n  a: 1\n  postRenderers:\n" + ours, ListEdit{Remove: []int{0}}, "spec:\n  a: 1\n"},
		{"one of two", "spec:\n  postRenderers:\n  - kustomize: {} # theirs\n" + ours, ListEdit{Remove: []int{1}},
			"spec:\n  postRenderers:\n  - kustomize: {} # theirs\n"},
		{"flow with comments", "spec:\n  postRenderers: [\n    b, # b, too\n    'c#' # c\n  ]\n", ListEdit{Add: []any{"d"}},
			"spec:\n  postRenderers: [\n    b, # b, too\n    'c#', # c\n    \"d\"\n  ]\n"},
		{"flow with a last comma and a comment", "spec:\n  postRenderers: [\n    b, # b\n  ]\n", ListEdit{Add: []any{"d"}},
			"spec:\n  postRenderers: [\n    b, # b\n    \"d\"\n  ]\n"},
		{"flow", "spec: {a: 1, postRenderers: [{b: 1}]}\n", ListEdit{Remove: []int{0}}, "spec: {a: 1}\n"},
		{"CRLF", "spec:\r\n  a: 1\r\n", ListEdit{Add: []any{patch}},
			"spec:\r\n  a: 1\r\n" + strings.ReplaceAll("  postRenderers:\n"+ours, "\n", "\r\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := EditList([]byte(tt.in), path, tt.edit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEncodeText(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n\n  b\n":    "|\n  a: 1\n\n    b\n",
		"one line\n":       "\"one line\\n\"\n",
		"a\nb":             "\"a\\nb\"\n",
		"a\n b \n":         "\"a\\n b \\n\"\n",
		" a\nb\n":          "\" a\\nb\\n\"\n",
		"a\nb\n\n":         "\"a\\nb\\n\\n\"\n",
		"tab\tin\na row\n": "\"tab\\u0009in\\na row\\n\"\n",
	} {
		object := map[string]any{"key": text}
		got := Encode(object)
		if string(got) != "key: "+want || !says(got, map[string]any{"key": text}) {
			t.Errorf("Encode(%q):\n%s\nwant\n%s", text, got, want)
		}
	}
}
