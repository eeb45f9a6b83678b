package flux

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// halves of the HelmRelease of most tests: down to its spec, and what is in that.
var head, inSpec, _ = strings.Cut(edgeRelease, "spec:\n")

func deeper(text string, by string) string {
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by) + "\n"
}

// oddFiles are files as people, editors and other tools write them.
var oddFiles = map[string]string{
	"anchor on spec":             strings.Replace(edgeRelease, "spec:\n", "spec: &s\n", 1),
	"merge key":                  "x: &base\n  interval: 10m\n" + head + "spec:\n  <<: *base\n" + strings.Replace(inSpec, "  interval: 10m\n", "", 1),
	"merge key with everything":  "x: &base\n" + inSpec + head + "spec:\n  <<: *base\n",
	"merge key with renderers":   "x: &base\n  postRenderers: [{kustomize: {images: [{name: a}]}}]\n" + head + "spec:\n  <<: *base\n" + inSpec,
	"spec is an alias":           "x: &s\n" + inSpec + head + "spec: *s\n",
	"renderers are an alias":     "x: &p [{kustomize: {images: [{name: a}]}}]\n" + edgeRelease + "  postRenderers: *p\n",
	"renderers have an anchor":   edgeRelease + "  postRenderers: &p\n  - kustomize: {images: [{name: a}]}\nx: *p\n",
	"flow over lines":            head + "spec: {\n  interval: 10m, # often\n  chart: {spec: {chart: edge, version: 1.0.0,\n    sourceRef: {kind: HelmRepository, name: charts}}}\n  }\n",
	"flow with a last comma":     head + "spec: {interval: 10m, chart: {spec: {chart: edge, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}},}\n",
	"flow sequence":              edgeRelease + "  postRenderers: [\n    {kustomize: {images: [{name: a}]}}, # theirs\n  ]\n",
	"flow sequence, no comma":    edgeRelease + "  postRenderers: [\n    {kustomize: {images: [{name: a}]}} # theirs\n  ]\n",
	"null":                       edgeRelease + "  postRenderers: null\n",
	"tilde":                      edgeRelease + "  postRenderers: ~ # none\n",
	"no value":                   edgeRelease + "  postRenderers:\n",
	"empty list":                 edgeRelease + "  postRenderers: []\n",
	"tabs":                       strings.Replace(edgeRelease, "  interval: 10m\n", "  interval: 10m\t# tab\n", 1),
	"byte order mark":            "\xef\xbb\xbf" + edgeRelease,
	"comments on separators":     "--- # first\n---   # HelmRelease\n" + edgeRelease + "---   # last\n...\n",
	"directive":                  "%YAML 1.1\n---\n" + edgeRelease,
	"no line end":                strings.TrimSuffix(edgeRelease, "\n"),
	"CR":                         strings.ReplaceAll(edgeRelease, "\n", "\r"),
	"mixed line ends":            strings.Replace(edgeRelease, "\n", "\r\n", 4),
	"quoted keys":                strings.NewReplacer("spec:\n  interval", "\"spec\":\n  'interval'", "kind: HelmRelease", "\"kind\": \"HelmRelease\"").Replace(edgeRelease),
	"JSON":                       `{"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": "edge", "namespace": "infra", "annotations": {"gatewright.dev/policy": "issuerRef: {name: le, kind: ClusterIssuer}"}}, "spec": {"interval": "10m", "chart": {"spec": {"chart": "edge", "version": "1.0.0", "sourceRef": {"kind": "HelmRepository", "name": "charts"}}}}}` + "\n",
	"deep indentation":           strings.ReplaceAll(edgeRelease, "  ", "      "),
	"tags":                       strings.Replace(edgeRelease, "spec:\n", "spec: !!map\n", 1),
	"explicit key":               strings.Replace(edgeRelease, "  interval: 10m\n", "  ? interval\n  : 10m\n", 1),
	"a List in a List":           "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - " + deeper(strings.TrimPrefix(edgeRelease, "# The edge.\n"), "    "),
	"HelmReleaseList":            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmReleaseList\nitems:\n- " + deeper(strings.TrimPrefix(edgeRelease, "# The edge.\n"), "  "),
	"two in one file":            edgeRelease + "---\n" + strings.Replace(edgeRelease, "name: edge\n", "name: other\n", 1),
	"more than 1 MB of values":   edgeRelease + "  values: {a: " + strings.Repeat("x", 1<<20) + "}\n",
	"a block scalar at the end":  edgeRelease + "  values:\n    a: |+\n      x\n\n\n",
	"a HelmRelease in a literal": edgeRelease + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x.yaml: |\n    " + deeper(edgeRelease, "    "),
}

// changedForGood are those that do not get every byte back when they opt out, but
// say the same then: an editor would have to remember how they were written.
var changedForGood = []string{
	"merge key with renderers", "spec is an alias", "renderers are an alias", "renderers have an anchor", // written out
	"flow over lines", "flow with a last comma", "explicit key", // laid out in another way
	"flow sequence", "flow sequence, no comma", // a comment goes with the last comma
	"null", "tilde", "no value", "empty list", // nothing is left
	"no line end", "CR", // a line end is added
}

// TestOddFiles renders, renders again and opts out.
func TestOddFiles(t *testing.T) {
	for name, text := range oddFiles {
		t.Run(name, func(t *testing.T) {
			in := repo{"edge.yaml": text, "source.yaml": source}
			first, result := mustRender(t, in, renders(edge, route))
			if len(result.Releases) == 0 || first["edge.gatewright.yaml"] == "" {
				t.Fatalf("nothing is rendered: %v", result.Findings)
			}
			if out := applied(t, first, "edge.yaml", "", chart(edge, route)); !strings.Contains(out, "hostname: shop.example.com") {
				t.Errorf("the listener is missing:\n%s", out)
			}
			if second, _ := mustRender(t, first, renders(edge, route)); !maps.Equal(first, second) {
				t.Errorf("a second run changes:\n%s", cmp.Diff(first, second))
			}
			optOut := maps.Clone(first)
			optOut["edge.yaml"] = strings.ReplaceAll(first["edge.yaml"], "gatewright.dev/policy", "example.com/policy")
			last, _ := mustRender(t, optOut, renders(edge, route))
			last["edge.yaml"] = strings.ReplaceAll(last["edge.yaml"], "example.com/policy", "gatewright.dev/policy")
			if same := maps.Equal(in, last); same == slices.Contains(changedForGood, name) {
				t.Errorf("every byte is back: %v\n%s", same, cmp.Diff(in, last))
			}
			if before, after := specOf(t, text), specOf(t, last["edge.yaml"]); !reflect.DeepEqual(before, after) {
				t.Errorf("it says something else (-before +after):\n%s", cmp.Diff(before, after))
			}
		})
	}
}

// specOf returns what the documents of a file say, where a missing list of
// post-renderers and an empty one are the same.
func specOf(t *testing.T, text string) []any {
	t.Helper()
	found, err := read([]File{{"a.yaml", []byte(text)}}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var out []any
	for _, hr := range found.releases {
		if len(hr.Spec.PostRenderers) == 0 {
			hr.Spec.PostRenderers = nil
		}
		out = append(out, hr.Spec)
	}
	return out
}

// TestOddKustomizations has kustomizations of all sorts list the HelmRelease.
func TestOddKustomizations(t *testing.T) {
	for _, tt := range []struct{ name, file, text, want string }{
		{"yml", "kustomization.yml", "resources:\n- edge.yaml\n", "resources:\n- edge.yaml\n- edge.gatewright.yaml\n"},
		{"Kustomization", "Kustomization", "resources:\n- edge.yaml\n", "resources:\n- edge.yaml\n- edge.gatewright.yaml\n"},
		{"flow", "kustomization.yaml", "resources: [edge.yaml]\n", "resources: [edge.yaml, \"edge.gatewright.yaml\"]\n"},
		{"flow over lines", "kustomization.yaml", "resources: [\n  edge.yaml, # it\n]\n", "resources: [\n  edge.yaml, # it\n  \"edge.gatewright.yaml\"\n]\n"},
		{"separator", "kustomization.yaml", "--- # ours\nresources:\n- edge.yaml\n", "--- # ours\nresources:\n- edge.yaml\n- edge.gatewright.yaml\n"},
		{"two lists of it", "kustomization.yaml", "resources:\n- edge.yaml\n- edge.yaml\n", "resources:\n- edge.yaml\n- edge.yaml\n- edge.gatewright.yaml\n"},
		{"Component", "kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources:\n- edge.yaml\n", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources:\n- edge.yaml\n- edge.gatewright.yaml\n"},
		{"CRLF", "kustomization.yaml", "resources:\r\n- edge.yaml # it\r\n", "resources:\r\n- edge.yaml # it\r\n- edge.gatewright.yaml\r\n"},
		{"alias", "kustomization.yaml", "x: &all\n- edge.yaml\nresources: *all\n", "x: &all\n  - edge.yaml\nresources:\n  - edge.yaml\n  - edge.gatewright.yaml\n"},
		{"no resources", "kustomization.yaml", "kind: Kustomization\n", "kind: Kustomization\n"}, // a finding says so
		{"no YAML", "kustomization.yaml", "resources: [a: b: c]\n", "resources: [a: b: c]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first, _ := mustRender(t, repo{"a/edge.yaml": edgeRelease, "source.yaml": source, "a/" + tt.file: tt.text}, renders(edge, route))
			if diff := cmp.Diff(tt.want, first["a/"+tt.file]); diff != "" {
				t.Error(diff)
			}
			if second, _ := mustRender(t, first, renders(edge, route)); !maps.Equal(first, second) {
				t.Errorf("a second run changes:\n%s", cmp.Diff(first, second))
			}
			first["a/edge.yaml"] = strings.Replace(first["a/edge.yaml"], "gatewright.dev/policy", "example.com/policy", 1)
			last, _ := mustRender(t, first, renders(edge, route))
			if text := last["a/"+tt.file]; strings.Contains(text, "edge.gatewright.yaml") {
				t.Errorf("it is still listed:\n%s", text)
			}
			var before, after any
			if yaml.Unmarshal([]byte(tt.text), &before) == nil && yaml.Unmarshal([]byte(last["a/"+tt.file]), &after) == nil && cmp.Diff(before, after) != "" {
				t.Errorf("it says something else (-before +after):\n%s", cmp.Diff(before, after))
			}
		})
	}
}

// TestOddFilesFail has files that Flux refuses, too.
func TestOddFilesFail(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a key twice", edgeRelease + "  interval: 5m\n", "HelmRelease infra/edge (edge.yaml): Flux refuses its manifest: the key interval stands twice in one mapping, again in line 13; take one out"},
		{"renderers twice", edgeRelease + "  postRenderers: []\n  postRenderers: []\n", "the key postRenderers stands twice"},
		{"a tab as indentation", strings.Replace(edgeRelease, "  interval", "\tinterval", 1), "edge.yaml, document 1: "},
		{"a NUL", edgeRelease + "\x00", "edge.yaml, document 1: "},
		{"Latin-1", edgeRelease + "# caf\xe9\n", "edge.yaml, document 1: "},
		{"renderers are no list", edgeRelease + "  postRenderers: {a: b}\n", "edge.yaml, document 1: HelmRelease edge: "},
		{"a number as annotation", strings.Replace(edgeRelease, "  annotations:\n", "  annotations:\n    a: 1\n", 1), "edge.yaml, document 1: HelmRelease edge: "},
		{"an unknown alias", edgeRelease + "  values: *none\n", "edge.yaml, document 1: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Render(t.Context(), repo{"edge.yaml": tt.text, "source.yaml": source}.files(), renders(edge, route))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestSomeFail has one HelmRelease of three that cannot be rendered: nothing is,
// and the error says which.
func TestSomeFail(t *testing.T) {
	bad := strings.NewReplacer("name: edge\n", "name: bad\n", "name: charts}", "name: none}").Replace(edgeRelease)
	files := repo{"a.yaml": edgeRelease, "b.yaml": bad, "c.yaml": strings.Replace(edgeRelease, "name: edge\n", "name: other\n", 1), "source.yaml": source}
	_, err := Render(t.Context(), files.files(), renders(edge, route))
	if err == nil || !strings.Contains(err.Error(), "HelmRelease infra/bad (b.yaml)") || strings.Contains(err.Error(), "infra/edge") ||
		!strings.HasSuffix(err.Error(), "\nnothing is written for any: 1 of 3 HelmReleases is wrong") {
		t.Errorf("error %v", err)
	}
	files["c.yaml"] = strings.NewReplacer("name: edge\n", "name: other\n", "name: charts}", "name: none}").Replace(edgeRelease)
	if _, err := Render(t.Context(), files.files(), renders(edge, route)); err == nil || !strings.HasSuffix(err.Error(), "\nnothing is written for any: 2 of 3 HelmReleases are wrong") {
		t.Errorf("with two that are wrong, error %v", err)
	}
}

// TestCompanionNames has files whose companion files might be mistaken for one
// another, or for something else.
func TestCompanionNames(t *testing.T) {
	other := strings.Replace(edgeRelease, "name: edge\n", "name: other\n", 1)
	first, _ := mustRender(t, repo{"edge.yaml": edgeRelease, "edge.yml": other, "source.yaml": source}, renders(edge, route))
	if got := first["edge.gatewright.yaml"]; !strings.Contains(got, "# For HelmRelease infra/edge.\n") || !strings.Contains(got, "# For HelmRelease infra/other.\n") {
		t.Errorf("of two files with one companion file:\n%s", got)
	}
	if second, _ := mustRender(t, first, renders(edge, route)); !maps.Equal(first, second) {
		t.Errorf("a second run changes:\n%s", cmp.Diff(first, second))
	}
	own, _ := mustRender(t, repo{"my.gatewright.yaml": edgeRelease, "source.yaml": source}, renders(edge, route))
	if own["my.gatewright.gatewright.yaml"] == "" {
		t.Errorf("a HelmRelease in a file of that name is passed over: %v", own)
	}
	windows, _ := mustRender(t, repo{"edge.yaml": edgeRelease, "source.yaml": source}, renders(edge, route))
	for name, text := range windows {
		windows[name] = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if again, _ := mustRender(t, windows, renders(edge, route)); !maps.Equal(windows, again) {
		t.Errorf("a checkout with CRLF changes:\n%s", cmp.Diff(windows, again))
	}
	windows["edge.yaml"] = strings.Replace(windows["edge.yaml"], "gatewright.dev/policy", "example.com/policy", 1)
	if last, _ := mustRender(t, windows, renders(edge, route)); last["edge.gatewright.yaml"] != "" {
		t.Error("a companion file with CRLF stays when its release opts out")
	}
}
