package postrender

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

// TestTwoOfOneName has a Gateway twice, from one template. Only one of them is
// planned, and that one is edited, wherever it stands.
func TestTwoOfOneName(t *testing.T) {
	const above = "# Source: c/templates/gw.yaml\n"
	serves := above + strings.Replace(edge, "name: http\n    port: 80\n    protocol: HTTP", "{name: own, port: 443, protocol: HTTPS, hostname: a.example.com, tls: {certificateRefs: [{name: own}]}}", 1)
	plain := above + edge
	a := route("a", "a.example.com")
	for _, docs := range [][]string{{serves, plain, a}, {plain, serves, a}, {plain, a, plain}} {
		in := stream(docs...)
		out := rendered(t, in, issuing("apps"))
		got := split([]byte(out))
		edits := 0
		for i, doc := range split([]byte(in)) {
			if bytes.Equal(doc, got[i]) {
				continue
			}
			edits++
			if docs[i] != plain || !bytes.Contains(got[i], []byte("  - name: https-a-example-com-")) {
				t.Errorf("%q became %q", doc, got[i])
			}
		}
		if edits != 1 {
			t.Errorf("%d edits in\n%s", edits, out)
		}
	}
}

// TestTwoOfOneNameInTwoStreams has them in two streams of one plan.
func TestTwoOfOneNameInTwoStreams(t *testing.T) {
	texts := []string{"# Source: c/templates/gw.yaml\n" + edge, "# Source: c/templates/gw.yaml\n" + edge, route("a", "a.example.com")}
	out := editedStreams(t, texts...)
	if got := []bool{out[0] != texts[0], out[1] != texts[1], out[2] != texts[2]}; cmp.Diff([]bool{true, false, false}, got) != "" {
		t.Errorf("not the first alone changed: %v\n%s", got, out)
	}
}

// TestStreams has the objects of a release in several streams: what is new
// stands with its parent, and what stands somewhere stands there only.
func TestStreams(t *testing.T) {
	a, b := route("a", "a.example.com"), route("b", "b.example.com")
	first := editedStreams(t, a, edge, b)
	if first[0] != a || first[2] != b || strings.Count(first[1], "kind: Certificate\n") != 2 {
		t.Errorf("not with the parent alone:\n%q", first)
	}
	docs := split([]byte(first[1]))
	again := []string{string(docs[0]), a, string(docs[1]), b, string(docs[2])}
	if diff := cmp.Diff(again, editedStreams(t, again...)); diff != "" {
		t.Errorf("there is nothing to do, and yet (-in +out):\n%s", diff)
	}
	gone := []string{again[0], a, again[2], again[4]}
	got := editedStreams(t, gone...)
	if got[1] != gone[1] || got[2] != gone[2] || strings.Contains(got[0], "b.example.com") || strings.Contains(got[3], "Certificate") {
		t.Errorf("not the one Certificate is gone:\n%q", got)
	}
}

// editedStreams carries out the plan of several streams.
func editedStreams(t *testing.T, texts ...string) (out []string) {
	t.Helper()
	var snapshot engine.Snapshot
	var streams []*Stream
	for _, text := range texts {
		read, err := Read([]byte(text), ReadOptions{Namespace: "apps"})
		if err != nil {
			t.Fatal(err)
		}
		if err := read.AddTo(&snapshot); err != nil {
			t.Fatal(err)
		}
		streams = append(streams, read)
	}
	plan, err := engine.Compute(&snapshot, issuing("apps").Policies)
	if err != nil {
		t.Fatal(err)
	}
	for _, read := range streams {
		result, err := read.Edit(plan)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(written(t, result)))
	}
	return out
}

// TestForeignMetadata updates what was rendered before, to which others have
// added labels and annotations since.
func TestForeignMetadata(t *testing.T) {
	first := rendered(t, stream(edge, route("a", "a.example.com")), issuing("apps"))
	other := issuing("apps")
	other.Policies.Flags["issuerRef"] = map[string]any{"name": "other"}
	foreign := strings.NewReplacer(
		"    gatewright.dev/for: edge\n  annotations:\n", "    gatewright.dev/for: edge\n    team: shop\n  annotations:\n    helm.sh/resource-policy: keep\n",
		"    acme.cert-manager.io/http01-parentrefname: edge\n", "    acme.cert-manager.io/http01-parentrefname: edge\n    acme.cert-manager.io/http01-parentrefnamespace: old\n",
	).Replace(first)
	for _, in := range []string{foreign, asList(foreign)} {
		got := rendered(t, in, other)
		for part, n := range map[string]int{"team: shop\n": 1, "helm.sh/resource-policy: keep\n": 1, "name: other\n": 1, "name: letsencrypt\n": 0, "parentrefname: edge\n": 1, "parentrefnamespace": 0} {
			if strings.Count(got, part) != n {
				t.Errorf("not %d of %q in\n%s", n, part, got)
			}
		}
		if again := rendered(t, got, other); again != got {
			t.Errorf("the second run changed\n%s\nto\n%s", got, again)
		}
	}
}

// TestTwiceRendered updates and drops a Certificate that stands twice.
func TestTwiceRendered(t *testing.T) {
	a := route("a", "a.example.com")
	docs := split([]byte(rendered(t, stream(edge, a), issuing("apps"))))
	gateway, certificate := string(docs[0]), string(docs[2])
	other := issuing("apps")
	other.Policies.Flags["issuerRef"] = map[string]any{"name": "other"}
	if got := rendered(t, gateway+certificate+"---\n"+a+certificate, other); strings.Count(got, "name: other\n") != 2 || strings.Contains(got, "name: letsencrypt\n") {
		t.Errorf("not both are updated:\n%s", got)
	}
	if got := rendered(t, gateway+certificate+certificate, issuing("apps")); strings.Contains(got, "kind: Certificate") {
		t.Errorf("not both are gone:\n%s", got)
	}
}

// TestTaken carries out a plan that adds an object which stands there already.
func TestTaken(t *testing.T) {
	docs := split([]byte(rendered(t, stream(edge, route("a", "a.example.com")), issuing("apps"))))
	certificate := "# Source: c/templates/cert.yaml\n" + strings.Replace(string(docs[2])[len("---\n"):], "gatewright.dev/for", "app", 1)
	read, err := Read([]byte(stream(edge, route("a", "a.example.com"), certificate)), ReadOptions{Namespace: "apps"})
	if err != nil {
		t.Fatal(err)
	}
	var snapshot engine.Snapshot
	if err := read.AddTo(&snapshot); err != nil {
		t.Fatal(err)
	}
	snapshot.Certificates = nil
	plan, err := engine.Compute(&snapshot, issuing("apps").Policies)
	if err != nil {
		t.Fatal(err)
	}
	_, err = read.Edit(plan)
	want := "Certificate apps/edge-a-example-com-90fac53406be-tls (c/templates/cert.yaml): an object of this name must be added for Gateway apps/edge, and this one, which gatewright did not make, has its place; give it another name, or remove it"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
