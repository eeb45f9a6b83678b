package flux

import (
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
