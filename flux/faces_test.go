package flux

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/flux/facetest"
	"github.com/gatewright/gatewright/postrender"
)

// TestGatewaysWithoutListeners compares post-render and flux where the chart
// leaves it to others to give a Gateway its first listener. A patch can append
// to a list, even to an empty one, but not to one that is missing: that is the
// one case in which Flux cannot get the same. With the first listener come the
// plain one, which Auto adds only to a Gateway that has none, and its redirect.
func TestGatewaysWithoutListeners(t *testing.T) {
	const listeners = "  listeners:\n  - {name: http, port: 80, protocol: HTTP}\n"
	for name, tt := range map[string]struct {
		with string
		same bool
	}{
		"an empty list": {"  listeners: []\n", true},
		"no list":       {"", false},
		"null":          {"  listeners:\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			gateway := strings.Replace(edge, listeners, tt.with, 1)
			stream := chart(gateway, route)
			policies, err := new(run).policiesFor(&release{HelmRelease: decoded(t, edgeRelease)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			rendered, err := (&postrender.Renderer{Options: postrender.Options{Policies: policies, Namespace: "infra"}}).Run(buffer(stream.Manifests))
			if err != nil {
				t.Fatal(err)
			}
			r, result := mustRender(t, repo{"edge.yaml": edgeRelease, "source.yaml": source}, renders(gateway, route))
			got := face(t, applied(t, r, "edge.yaml", "", stream)+"---\n"+r["edge.gatewright.yaml"])
			switch want := face(t, rendered.String()); {
			case tt.same && cmp.Diff(want, got) != "":
				t.Errorf("post-render (-), flux (+):\n%s", cmp.Diff(want, got))
			case tt.same && len(want.Companions) != 2:
				t.Errorf("no redirect: %s", want)
			case !tt.same && (len(got.Listeners)+len(got.Companions) > 0 || len(want.Listeners) != 2):
				t.Errorf("post-render gives:\n%sflux gives:\n%s", want, got)
			case !tt.same && !has(result, CodeChartWithoutListeners):
				t.Errorf("findings %v, want %s", result.Findings, CodeChartWithoutListeners)
			}
		})
	}
}

func face(t *testing.T, stream string) facetest.Face {
	t.Helper()
	f, err := facetest.OfStream([]byte(stream))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
