package flux

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

// TestOptIn says which HelmReleases are rendered.
func TestOptIn(t *testing.T) {
	const annotation = "    gatewright.dev/policy: \"issuerRef: {name: le, kind: ClusterIssuer}\" # opted in\n"
	without := strings.Replace(edgeRelease, "  annotations:\n"+annotation, "", 1)
	refused := strings.Replace(edgeRelease, annotation, annotation+"    gatewright.dev/manage: 'false'\n", 1)
	for _, tt := range []struct {
		name, release string
		all, want     bool
	}{
		{"annotated", edgeRelease, false, true},
		{"annotated and all", edgeRelease, true, true},
		{"not annotated", without, false, false},
		{"not annotated and all", without, true, true},
		{"refused", refused, false, false},
		{"refused and all", refused, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options := renders(edge, route)
			options.All, options.Policies.Flags = tt.all, engine.Keys{"issuerRef": map[string]any{"name": "le"}}
			r, _ := mustRender(t, repo{"edge.yaml": tt.release, "source.yaml": source}, options)
			if got := strings.Contains(r["edge.yaml"], patchHead[:len(patchHead)-1]) && r["edge.gatewright.yaml"] != ""; got != tt.want {
				t.Errorf("rendered: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestReleaseGone removes a HelmRelease from its file, the file, or moves it to
// another one: the companion file goes, too.
func TestReleaseGone(t *testing.T) {
	const listed = "resources:\n- edge.yaml\n- other.yaml\n"
	other := strings.Replace(edgeRelease, "name: edge\n", "name: other\n", 1)
	in := repo{"a/edge.yaml": edgeRelease, "a/other.yaml": other, "source.yaml": source, "a/kustomization.yaml": listed}
	first, _ := mustRender(t, in, renders(edge, route))
	for name, change := range map[string]func(repo){
		"file":    func(r repo) { delete(r, "a/edge.yaml") },
		"release": func(r repo) { r["a/edge.yaml"] = "kind: Namespace\n" },
		"moved":   func(r repo) { r["a/moved.yaml"], r["a/edge.yaml"] = r["a/edge.yaml"], "" },
	} {
		t.Run(name, func(t *testing.T) {
			changed := maps.Clone(first)
			change(changed)
			last, _ := mustRender(t, changed, renders(edge, route))
			if last["a/edge.gatewright.yaml"] != "" || strings.Contains(last["a/kustomization.yaml"], "edge.gatewright.yaml") {
				t.Errorf("the companion file stays, or is listed: %v", last)
			}
			if last["a/other.gatewright.yaml"] != first["a/other.gatewright.yaml"] || (last["a/moved.gatewright.yaml"] == "") == (name == "moved") {
				t.Errorf("other companion files: %v", last)
			}
			if again, _ := mustRender(t, last, renders(edge, route)); !maps.Equal(last, again) {
				t.Errorf("a second run changes:\n%s", cmp.Diff(last, again))
			}
		})
	}
}

// TestStepsInOrder has post-renderers, common metadata and the labels of Flux by
// turns: none sees what comes after it. Hooks are there by the strategy.
func TestStepsInOrder(t *testing.T) {
	patch := func(selector, host string) string {
		return "  - kustomize:\n      patches:\n      - target: {kind: HTTPRoute, labelSelector: '" + selector + "'}\n        patch: |\n          - {op: add, path: /spec/hostnames/-, value: " + host + "}\n"
	}
	text := edgeRelease + "  commonMetadata: {labels: {common: 'yes'}, annotations: {common: 'yes'}}\n  postRenderers:\n" +
		"  - kustomize:\n      patches:\n      - target: {kind: HTTPRoute}\n        patch: |\n          - {op: add, path: /metadata/labels, value: {first: 'yes', common: 'no'}}\n" +
		patch("first=yes", "second.example.com") + patch("common=yes", "never.example.com") + patch("helm.toolkit.fluxcd.io/name", "never.example.com")
	hook := strings.NewReplacer("{name: shop}", "{name: hook, annotations: {helm.sh/hook: pre-install}}").Replace(route)
	for strategy, hooks := range map[string]int{"": 1, "combined": 1, "nohooks": 0, "separate": 0} {
		hr := decoded(t, text)
		hr.Spec.PostRenderStrategy = v2.PostRenderStrategy(strategy)
		out, err := Steps(&hr, Rendered{chart(edge, route).Manifests, []byte(hook)})
		if err != nil {
			t.Fatal(err)
		}
		for want, times := range map[string]int{
			"second.example.com": 1 + hooks, "never.example.com": 0, "    common: \"yes\"\n": 2 * (2 + hooks),
			"helm.toolkit.fluxcd.io/name: edge\n": 2 + hooks, "helm.toolkit.fluxcd.io/namespace: infra\n": 2 + hooks,
		} {
			if got := strings.Count(string(out), want); got != times {
				t.Errorf("strategy %q: %q is there %d times, want %d:\n%s", strategy, want, got, times, out)
			}
		}
	}
}

// TestChartSeesItsRelease has what a chart can see of its release.
func TestChartSeesItsRelease(t *testing.T) {
	text := edgeRelease + "  releaseName: own\n  targetNamespace: shop\n  storageNamespace: store\n  install: {disableSchemaValidation: true}\n  values: {a: 1}\n"
	var got Chart
	mustRender(t, repo{"edge.yaml": text, "source.yaml": source}, Options{RenderChart: func(_ context.Context, c Chart) (Rendered, error) {
		got = c
		return Rendered{}, nil
	}})
	want := Chart{Ref: "edge", Repo: "https://charts.example.com", Version: "1.0.0", ReleaseName: "own", Namespace: "shop", Values: map[string]any{"a": 1.0}, SkipSchema: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestOptOutIsSaid: that all of a HelmRelease goes is no silent thing; --all may
// have been forgotten.
func TestOptOutIsSaid(t *testing.T) {
	first, _ := mustRender(t, repo{"edge.yaml": edgeRelease, "source.yaml": source}, renders(edge, route))
	first["edge.yaml"] = strings.Replace(first["edge.yaml"], "    gatewright.dev/policy: ", "    not.gatewright.dev/policy: ", 1)
	last, result := mustRender(t, first, renders(edge, route))
	said := func(f engine.Finding) bool { return f.Code == CodeTakenOut && strings.Contains(f.Message, "--all") }
	if !slices.ContainsFunc(result.Findings, said) || last["edge.gatewright.yaml"] != "" {
		t.Errorf("findings %v, files %v", result.Findings, last)
	}
	if _, result = mustRender(t, last, renders(edge, route)); slices.ContainsFunc(result.Findings, said) {
		t.Error("it is said although nothing is there any more")
	}
}
