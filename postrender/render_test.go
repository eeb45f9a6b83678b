package postrender

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/postrender"

	"github.com/gatewright/gatewright/postrender/engine"
)

// Helm 4 has the same interface under another name.
var _ postrender.PostRenderer = (*Renderer)(nil)

const edge = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
spec:
  gatewayClassName: example
  listeners:
  - name: http
    port: 80
    protocol: HTTP
`

const foreign = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"

// route returns a route that asks edge for a hostname.
func route(name, hostname string) string {
	return fmt.Sprintf(`apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: %s
spec:
  parentRefs:
  - name: edge
  hostnames:
  - %q
`, name, hostname)
}

// routes returns documents of routes for h0.example.com and so on.
func routes(n int) (docs []string) {
	for i := range n {
		docs = append(docs, route(fmt.Sprintf("r%d", i), fmt.Sprintf("h%d.example.com", i)))
	}
	return docs
}

func stream(docs ...string) string { return strings.Join(docs, "---\n") }

// issuing returns the options of a release with an issuer.
func issuing(namespace string) Options {
	return Options{Namespace: namespace, Policies: engine.PolicySources{
		Flags: engine.Keys{"issuerRef": map[string]any{"kind": "ClusterIssuer", "name": "letsencrypt"}},
	}}
}

func rendered(t *testing.T, in string, options Options) string {
	t.Helper()
	result, err := Render([]byte(in), options)
	if err != nil {
		t.Fatal(err)
	}
	return string(written(t, result))
}

// TestShuffled renders the documents of a release in other orders: listeners,
// Certificates and names do not depend on it.
func TestShuffled(t *testing.T) {
	docs := append(routes(20), edge, foreign)
	random := rand.New(rand.NewPCG(1, 2))
	want := ""
	for range 10 {
		random.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		parts := split([]byte(rendered(t, stream(docs...), issuing("apps"))))
		var ours []string
		for _, doc := range parts {
			if bytes.Contains(doc, []byte("gatewright.dev/")) {
				ours = append(ours, strings.TrimPrefix(string(doc), "---\n"))
			}
		}
		got := stream(ours...)
		if want == "" {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("another order, another result (-first +this):\n%s", diff)
		}
	}
}

// TestLimit asks for as many listeners as a Gateway takes, and for one more.
func TestLimit(t *testing.T) {
	in := stream(append(routes(63), edge)...)
	out := rendered(t, in, issuing("apps"))
	if n := strings.Count(out, "kind: Certificate\n"); n != 63 {
		t.Errorf("%d Certificates", n)
	}
	if added := (len(out) - len(in)) / 63; added >= 1024 {
		t.Errorf("%d bytes are added for each hostname; a release record holds 1 MiB", added)
	}
	result, err := Render([]byte(stream(append(routes(64), edge)...)), issuing("apps"))
	var e *engine.Error
	if result != nil || !errors.As(err, &e) || e.Object != "Gateway apps/edge" {
		t.Errorf("65 listeners: %v", err)
	}
}

// TestOutputIsManifests parses all of the output: what is no manifest would be
// seen there.
func TestOutputIsManifests(t *testing.T) {
	out := rendered(t, stream(edge, route("a", "a.example.com"), route("b", "b.example.com"), foreign), issuing("apps"))
	var kinds []string
	for _, doc := range split([]byte(out)) {
		parsed, err := parse(doc)
		if err != nil {
			t.Fatal(err)
		}
		value, err := parsed.decode()
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, fmt.Sprint(lookup(value, keyPath{"kind"})))
	}
	want := []string{"Gateway", "HTTPRoute", "HTTPRoute", "ConfigMap", "Certificate", "Certificate"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("unexpected kinds (-want +got):\n%s", diff)
	}
}

// TestRenderer runs it as Helm does.
func TestRenderer(t *testing.T) {
	in := stream(edge, route("a", "a.example.com"))
	out, err := (&Renderer{issuing("apps")}).Run(bytes.NewBufferString(in))
	if err != nil {
		t.Fatal(err)
	}
	if want := rendered(t, in, issuing("apps")); out.String() != want {
		t.Errorf("got %q, want %q", out, want)
	}
	if out, err := new(Renderer).Run(bytes.NewBufferString("kind: Gateway\na: b: c\n")); err == nil || out != nil {
		t.Errorf("invalid YAML: got %v and the error %v", out, err)
	}
}

// TestSnapshot gives knowledge that adds no claim and is not written.
func TestSnapshot(t *testing.T) {
	known := `{"kind": "List", "apiVersion": "v1", "items": [
{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "k", "namespace": "apps"}, "spec": {"parentRefs": [{"name": "edge"}], "hostnames": ["known.example.com"]}},
{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "edge-a-example-com-90fac53406be-tls", "namespace": "apps"}}]}`
	options := issuing("apps")
	options.Snapshot = []File{{Name: "cluster.json", Data: []byte(known)}}
	result, err := Render([]byte(stream(edge, route("a", "a.example.com"))), options)
	if err != nil {
		t.Fatal(err)
	}
	if out := string(written(t, result)); strings.Contains(out, "known.example.com") || strings.Contains(out, "kind: Certificate") {
		t.Errorf("a known route claims, or a known Secret is overwritten:\n%s", out)
	}
	options.Snapshot[0].Data = []byte("kind: Gateway\na: b: c\n")
	if _, err := Render([]byte(edge), options); err == nil || !strings.Contains(err.Error(), "document 1 (cluster.json): line 2: invalid YAML") {
		t.Errorf("an invalid snapshot: %v", err)
	}
}

// TestRelease names the release where no template is named.
func TestRelease(t *testing.T) {
	_, err := Render([]byte("---\n---\n"+foreign+"---\nkind: Gateway\n a: b\n"), Options{Release: "shop"})
	want := "document 2 (release shop): line 8: invalid YAML: mapping values are not allowed in this context; correct the template that renders it"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	result, err := Render([]byte(foreign+"---\n"+route("a", "a.example.com")), Options{Release: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if findings, _ := json.Marshal(result.Plan.Findings); !strings.Contains(string(findings), `"source":"release shop, document 2"`) {
		t.Errorf("the findings name no source: %s", findings)
	}
}

// TestWriteFails passes on the error of a writer.
func TestWriteFails(t *testing.T) {
	result, err := Render([]byte(edge), Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := result.WriteTo(w); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got the error %v", err)
	}
}
