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

// TestOneNamespace compares post-render and flux where a hostname belongs to one
// namespace: both know the claims of the release alone, and admit its namespace.
// The sweep cannot be the same: it knows who else claims the name, and who holds
// it since when.
func TestOneNamespace(t *testing.T) {
	const own = "hostnameOwnership: OneNamespace, attach: {from: All}, "
	text := strings.Replace(edgeRelease, "issuerRef:", own+"issuerRef:", 1)
	text = strings.Replace(text, "policy: \""+own, "policy: \"{"+own, 1)
	text = strings.Replace(text, "ClusterIssuer}\"", "ClusterIssuer}}\"", 1)
	elsewhere := strings.NewReplacer("{name: shop}", "{name: shop, namespace: team}", "{name: edge}", "{name: edge, namespace: infra}").Replace(route)
	for name, tt := range map[string]struct {
		routes []string
		want   string // the namespace that is admitted, "" if the claims are refused
	}{
		"its own":     {[]string{route}, "infra"},
		"another one": {[]string{elsewhere}, "team"},
		"two":         {[]string{route, elsewhere}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			documents := append([]string{edge}, tt.routes...)
			policies, err := new(run).policiesFor(&release{HelmRelease: decoded(t, text)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			rendered, err := (&postrender.Renderer{Options: postrender.Options{Policies: policies, Namespace: "infra"}}).Run(buffer(chart(documents...).Manifests))
			if err != nil {
				t.Fatal(err)
			}
			r, _ := mustRender(t, repo{"edge.yaml": text, "source.yaml": source}, renders(documents...))
			want, got := face(t, rendered.String()), face(t, applied(t, r, "edge.yaml", "", chart(documents...))+"---\n"+r["edge.gatewright.yaml"])
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("post-render (-), flux (+):\n%s", diff)
			}
			admitted := "\"values\":[\"" + tt.want + "\"]"
			if tt.want == "infra" {
				admitted = "\"from\":\"Same\""
			}
			if listeners := strings.Join(got.Listeners, "\n"); strings.Contains(listeners, "shop.example.com") != (tt.want != "") || tt.want != "" && !strings.Contains(listeners, admitted) {
				t.Errorf("want %s admitted in\n%s", tt.want, listeners)
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
