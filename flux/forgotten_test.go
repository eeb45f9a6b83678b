package flux

import (
	"maps"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/postrender/engine"
)

// TestForgottenPolicy renders with a flag, then without: that is an error, not the
// end of all listeners. To opt out, or never to have been rendered, is none.
func TestForgottenPolicy(t *testing.T) {
	const annotation = "    gatewright.dev/policy: \"issuerRef: {name: le, kind: ClusterIssuer}\" # opted in\n"
	empty := strings.Replace(edgeRelease, annotation, "    gatewright.dev/policy: \"\"\n", 1)
	options := renders(edge, route)
	options.Policies.Flags = engine.Keys{"issuerRef": map[string]any{"name": "le"}}
	rendered, _ := mustRender(t, repo{"edge.yaml": empty, "source.yaml": source}, options)

	_, err := Render(t.Context(), rendered.files(), renders(edge, route))
	if err == nil || !strings.Contains(err.Error(), "which no policy is given for any more, so all of its listeners would go; give --policy or the flags") {
		t.Errorf("without the flag: %v", err)
	}
	if _, err := Render(t.Context(), (repo{"edge.yaml": empty, "source.yaml": source}).files(), renders(edge, route)); err != nil {
		t.Errorf("never rendered: %v", err)
	}
	rendered["edge.yaml"] = strings.Replace(rendered["edge.yaml"], "    gatewright.dev/policy: \"\"\n", "    a: b\n", 1)
	out, _ := mustRender(t, rendered, renders(edge, route))
	if out["edge.gatewright.yaml"] != "" || strings.Contains(out["edge.yaml"], patchHead[:len(patchHead)-1]) {
		t.Errorf("opted out, and it stays:\n%s", out["edge.yaml"])
	}
}

// TestNotWholeKeepsItsPatches has a HelmRelease that was rendered and cannot be any
// more: nothing is taken out unless it opts out.
func TestNotWholeKeepsItsPatches(t *testing.T) {
	first, _ := mustRender(t, repo{"edge.yaml": edgeRelease, "source.yaml": source}, renders(edge, route))
	for name, change := range map[string]*strings.Replacer{
		"old API":  strings.NewReplacer("helm.toolkit.fluxcd.io/v2", "helm.toolkit.fluxcd.io/v2beta2"),
		"no chart": strings.NewReplacer("  chart:\n    spec: {chart: edge, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}\n", ""),
	} {
		t.Run(name, func(t *testing.T) {
			in := maps.Clone(first)
			in["edge.yaml"] = change.Replace(first["edge.yaml"])
			if result, err := Render(t.Context(), in.files(), renders(edge, route)); err == nil || !strings.Contains(err.Error(), "all of its listeners would go") {
				t.Errorf("got %v, %v", result, err)
			}
			in["edge.yaml"] = strings.Replace(in["edge.yaml"], "gatewright.dev/policy", "example.com/policy", 1)
			if out, _ := mustRender(t, in, renders(edge, route)); strings.Contains(out["edge.yaml"], "postRenderers") || out["edge.gatewright.yaml"] != "" {
				t.Errorf("opted out, and left:\n%s", out["edge.yaml"])
			}
		})
	}
}
