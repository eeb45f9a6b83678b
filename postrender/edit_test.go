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
