package flux

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

// The chart of most tests: a Gateway and a route.
const edge = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  gatewayClassName: example
  listeners:
  - {name: http, port: 80, protocol: HTTP}
`

const route = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop}
spec:
  parentRefs: [{name: edge}]
  hostnames: [shop.example.com]
`

const source = `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: infra}
spec: {url: https://charts.example.com}
`

const edgeRelease = `# The edge.
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: edge
  namespace: infra
  annotations:
    gatewright.dev/policy: "issuerRef: {name: le, kind: ClusterIssuer}" # opted in
spec:
  interval: 10m
  chart:
    spec: {chart: edge, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}
`

// repo is a repository by the paths of its files.
type repo map[string]string

func (r repo) files() []File {
	var out []File
	for _, name := range slices.Sorted(maps.Keys(r)) {
		out = append(out, File{name, []byte(r[name])})
	}
	return out
}

// after returns the repository with the changes made.
func (r repo) after(changes []Change) repo {
	out := maps.Clone(r)
	for _, c := range changes {
		out[c.Path] = string(c.After)
		if c.After == nil {
			delete(out, c.Path)
		}
	}
	return out
}

// renders returns options whose charts all render the same.
func renders(documents ...string) Options {
	return Options{RenderChart: func(context.Context, Chart) (Rendered, error) {
		return Rendered{Manifests: []byte(strings.Join(documents, "---\n"))}, nil
	}}
}

func mustRender(t *testing.T, r repo, options Options) (repo, *Result) {
	t.Helper()
	result, err := Render(t.Context(), r.files(), options)
	if err != nil {
		t.Fatal(err)
	}
	return r.after(result.Changes), result
}

// TestRenderAgain renders, renders again, and opts out: the second run changes
// nothing, and the last one gives the first files back.
func TestRenderAgain(t *testing.T) {
	kustomization := "# of ours\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: # all\n- ./edge.yaml # it\n"
	theirs := edgeRelease + "  postRenderers: # theirs\n  - kustomize:\n      images: [{name: a, newTag: b}]\n  # end\n"
	for name, in := range map[string]repo{
		"alone":                {"edge.yaml": edgeRelease, "source.yaml": source},
		"in one file":          {"all.yaml": source + "---\n" + edgeRelease + "---\n# nothing\n"},
		"with a kustomization": {"a/edge.yaml": edgeRelease, "source.yaml": source, "a/kustomization.yaml": kustomization},
		"listed from above":    {"a/b/edge.yaml": edgeRelease, "source.yaml": source, "a/kustomization.yaml": strings.Replace(kustomization, "./edge", "b/edge", 1)},
		"listed from aside":    {"a/edge.yaml": edgeRelease, "source.yaml": source, "b/kustomization.yaml": strings.Replace(kustomization, "./edge", "../a/edge", 1)},
		"two in one folder": {"a/edge.yaml": edgeRelease, "a/other.yaml": strings.Replace(edgeRelease, "name: edge\n", "name: other\n", 1), "source.yaml": source,
			"a/kustomization.yaml": kustomization + "- other.yaml\n"},
		"with anchors":     {"edge.yaml": edgeRelease + "  values: &v {a: &b 1, c: *b}\n  valuesX: *v\n", "source.yaml": source},
		"with keys behind": {"edge.yaml": strings.Replace(edgeRelease, "spec:\n", "spec:\n  postRenderers:\n    # deep\n    -   kustomize: {images: [{name: a}]} # x\n\n  # of interval\n", 1) + "# foot\nstatus: {}\n...\n", "source.yaml": source},
		"in flow style":    {"edge.yaml": edgeRelease[:strings.Index(edgeRelease, "spec:")] + "spec: {interval: 10m, chart: {spec: {chart: edge, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}}, postRenderers: [{kustomize: {images: []}}]} # all\n", "source.yaml": source},
		"behind others":    {"edge.yaml": theirs, "source.yaml": source},
		"CRLF":             {"edge.yaml": strings.ReplaceAll(theirs, "\n", "\r\n"), "source.yaml": source},
		"in a List": {"source.yaml": source, "edge.yaml": "kind: List\napiVersion: v1\nitems:\n- " +
			strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(theirs, "# The edge.\n"), "\n"), "\n", "\n  ") + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			first, _ := mustRender(t, in, renders(edge, route))
			if len(first) < len(in)+1 || !strings.Contains(strings.Join(slices.Collect(maps.Values(first)), ""), strings.TrimSpace(patchHead)) {
				t.Fatalf("nothing was rendered: %v", first)
			}
			second, _ := mustRender(t, first, renders(edge, route))
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("a second run changes (-first +second):\n%s", diff)
			}
			for name, text := range second {
				second[name] = strings.ReplaceAll(text, "gatewright.dev/policy", "example.com/policy")
			}
			last, _ := mustRender(t, second, renders(edge, route))
			for name, text := range last {
				last[name] = strings.ReplaceAll(text, "example.com/policy", "gatewright.dev/policy")
			}
			if diff := cmp.Diff(in, last); diff != "" {
				t.Errorf("not what it was before (-before +after):\n%s", diff)
			}
		})
	}
}

// applied is what helm-controller makes of a chart with the post-renderers that
// a file has by now.
func applied(t *testing.T, r repo, file, namespace string, chart Rendered) string {
	t.Helper()
	found, err := read(r.files(), kustomizations(r.files(), ""), namespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, hr := range found.releases {
		if hr.file == file {
			out, err := Steps(&hr.HelmRelease, chart)
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
	}
	t.Fatalf("no HelmRelease in %s", file)
	return ""
}

// TestPatchesAreApplied runs what was written through kustomize as
// helm-controller does, also on a chart that changed since.
func TestPatchesAreApplied(t *testing.T) {
	reordered := strings.Replace(edge, "  - {name: http", "  - {name: other, port: 8080, protocol: HTTP}\n  - {name: http", 1)
	hook := strings.Replace(strings.Replace(route, "{name: shop}", "{name: hook, annotations: {helm.sh/hook: pre-install}}", 1), "shop.example", "hook.example", 1)
	elsewhere := strings.Replace(edge, "{name: edge}", "{name: edge, namespace: other}", 1)
	dotted := strings.ReplaceAll(edge, "name: edge", "name: e.dge")
	undotted := strings.ReplaceAll(edge, "name: edge", "name: e-dge")
	empty := strings.Replace(edge, "listeners:\n  - {name: http, port: 80, protocol: HTTP}", "listeners: []", 1)
	for _, tt := range []struct {
		name          string
		before, after Rendered
		patched       int // Gateways with our listener
	}{
		{"same chart", chart(edge, route), chart(edge, route), 1},
		{"reordered", chart(edge, route), chart(route, reordered), 1},
		{"renamed", chart(edge, route), chart(strings.ReplaceAll(edge, "edge", "new"), route), 0},
		{"with hooks", Rendered{chart(edge, route).Manifests, []byte(hook)}, Rendered{chart(edge, route).Manifests, []byte(hook)}, 1},
		{"one name in two namespaces", chart(edge, elsewhere, route), chart(edge, elsewhere, route), 1},
		{"a name that is a pattern, too", chart(dotted, undotted, strings.ReplaceAll(route, "edge", "e.dge")), chart(dotted, undotted, route), 1},
		{"an empty list", chart(empty, strings.Replace(route, "name: edge", "name: edge, port: 443", 1)), chart(empty, route), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options := Options{RenderChart: func(context.Context, Chart) (Rendered, error) { return tt.before, nil }}
			r, _ := mustRender(t, repo{"edge.yaml": edgeRelease, "source.yaml": source}, options)
			out := applied(t, r, "edge.yaml", "", tt.after)
			if got := strings.Count(out, "name: https-shop-example-com-"); got != tt.patched {
				t.Errorf("%d Gateways have the listener, want %d:\n%s", got, tt.patched, out)
			}
			if tt.patched > 0 && !strings.Contains(out, engine.AnnotationRendered) {
				t.Errorf("the annotation is missing:\n%s", out)
			}
		})
	}
}

func chart(documents ...string) Rendered {
	return Rendered{Manifests: []byte(strings.Join(documents, "---\n"))}
}

func TestRenderWritesNamespaces(t *testing.T) {
	moved := strings.Replace(edgeRelease, "  interval", "  targetNamespace: shop\n  interval", 1)
	r, result := mustRender(t, repo{"edge.yaml": moved, "source.yaml": source}, renders(edge, route))
	if !strings.Contains(r["edge.gatewright.yaml"], "  namespace: shop\n") {
		t.Errorf("the Certificate does not name the namespace of the release:\n%s", r["edge.gatewright.yaml"])
	}
	if name := result.Releases[0].Plan.Certificates[0].Namespace; name != "shop" {
		t.Errorf("planned in %s", name)
	}
}

func TestCommonMetadataCounts(t *testing.T) {
	plain := strings.Replace(edgeRelease, `"issuerRef: {name: le, kind: ClusterIssuer}"`, `""`, 1) +
		"  commonMetadata:\n    annotations:\n      gatewright.dev/policy: '{issuerRef: {name: common, kind: ClusterIssuer}}'\n"
	r, _ := mustRender(t, repo{"edge.yaml": plain, "source.yaml": source}, renders(edge, route))
	if !strings.Contains(r["edge.gatewright.yaml"], "name: common\n") {
		t.Errorf("the policy of the common annotation is not heeded: %v", r)
	}
}

func TestPostRenderersOfOthersCount(t *testing.T) {
	renamed := edgeRelease + `  postRenderers:
  - kustomize:
      patches:
      - target: {kind: HTTPRoute}
        patch: |
          - {op: replace, path: /spec/hostnames/0, value: patched.example.com}
`
	r, _ := mustRender(t, repo{"edge.yaml": renamed, "source.yaml": source}, renders(edge, route))
	out := applied(t, r, "edge.yaml", "", chart(edge, route))
	if !strings.Contains(out, "name: https-patched-example-com-") || strings.Contains(out, "https-shop") {
		t.Errorf("the post-renderer before ours is not heeded:\n%s", out)
	}
}

func TestRenderRefuses(t *testing.T) {
	noNamespace := strings.Replace(edgeRelease, "  namespace: infra\n", "", 1)
	hooked := Rendered{chart(edge, route).Manifests, []byte(strings.Replace(route, "{name: shop}", "{name: shop, annotations: {helm.sh/hook: pre-install}}", 1))}
	rendered := strings.Replace(edge, "{name: edge}", `{name: edge, annotations: {gatewright.dev/rendered: '{"version":"v1alpha1","listeners":["https-old"]}'}}`, 1) +
		"  - {name: https-old, port: 443, protocol: HTTPS, hostname: old.example.com}\n"
	git := strings.NewReplacer("HelmRepository", "GitRepository", "{url: https://charts.example.com}", "{url: 'https://me:pass-word@git.example.com/charts', ref: {branch: main}}").Replace(source)
	for _, tt := range []struct {
		name  string
		files repo
		chart Rendered
		want  []string
	}{
		{"no namespace", repo{"edge.yaml": noNamespace, "source.yaml": source}, chart(edge), []string{"HelmRelease edge (edge.yaml)", "--namespace"}},
		{"no source", repo{"edge.yaml": edgeRelease}, chart(edge), []string{"HelmRepository infra/charts", "--source HelmRepository/infra/charts=PATH"}},
		{"a GitRepository", repo{"edge.yaml": strings.Replace(edgeRelease, "HelmRepository", "GitRepository", 1), "source.yaml": git}, chart(edge), []string{"clone https://git.example.com/charts (branch main) and give the folder with --source GitRepository/infra/charts=PATH"}},
		{"no source that is YAML", repo{"edge.yaml": edgeRelease, "source.yaml": "---\n" + source + "  a: b: c\n"}, chart(edge), []string{"which is not at hand; no YAML, and so passed over: source.yaml, document 1; give"}},
		{"no values", repo{"edge.yaml": edgeRelease + "  valuesFrom: [{kind: Secret, name: v}]\n", "source.yaml": source}, chart(edge), []string{"Secret infra/v", "--ignore-missing-values"}},
		{"bad policy", repo{"edge.yaml": strings.Replace(edgeRelease, "issuerRef", "isuerRef", 1), "source.yaml": source}, chart(edge), []string{"HelmRelease infra/edge", "isuerRef"}},
		{"file-only key", repo{"edge.yaml": strings.Replace(edgeRelease, "issuerRef: {name: le, kind: ClusterIssuer}", "maxListeners: 3", 1), "source.yaml": source}, chart(edge), []string{"maxListeners is not read here"}},
		{"duplicate identities", repo{"edge.yaml": edgeRelease, "source.yaml": source}, hooked, []string{"HelmRelease infra/edge", "postRenderStrategy: separate"}},
		{"rendered chart", repo{"edge.yaml": edgeRelease, "source.yaml": source}, chart(rendered), []string{"already holds the listener https-old"}},
		{"foreign companion", repo{"edge.yaml": edgeRelease, "source.yaml": source, "edge.gatewright.yaml": "a: 1\n"}, chart(edge, route), []string{"edge.gatewright.yaml", "gatewright did not write it"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options := Options{RenderChart: func(context.Context, Chart) (Rendered, error) { return tt.chart, nil }}
			result, err := Render(t.Context(), tt.files.files(), options)
			if err == nil {
				t.Fatalf("no error, and changes %v", result.Changes)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pass-word") {
					t.Errorf("want %q in:\n%v", want, err)
				}
			}
		})
	}
	strategy := repo{"edge.yaml": edgeRelease + "  postRenderStrategy: separate\n", "source.yaml": source}
	options := Options{RenderChart: func(context.Context, Chart) (Rendered, error) { return hooked, nil }}
	if r, _ := mustRender(t, strategy, options); !bytes.Contains([]byte(r["edge.yaml"]), []byte(patchHead)) {
		t.Errorf("separate does not help: %v", r)
	}
}
