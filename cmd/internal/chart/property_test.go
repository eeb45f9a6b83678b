package chart

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// TestPostRenderOfEveryChart: what a post-render of a chart does not edit stays
// the same to the byte and in its order, a second run changes nothing, and the
// order of the documents does not matter.
func TestPostRenderOfEveryChart(t *testing.T) {
	isolate(t)
	charts, err := filepath.Glob(filepath.Join(root, "testdata/charts/*/Chart.yaml"))
	if err != nil || len(charts) < 8 {
		t.Fatalf("charts: got %v, error %v, want at least 8 in testdata/charts", charts, err)
	}
	changed := 0
	for _, file := range charts {
		chart := filepath.Dir(file)
		stream := mustRender(t, cli.ChartRequest{Chart: chart, ReleaseName: "rel", Namespace: "infra"})
		for name, flags := range map[string]engine.Keys{
			"its own policy": nil,
			"flags":          {"issuerRef": map[string]any{"kind": "ClusterIssuer", "name": "le"}, "attach": map[string]any{"from": engine.FromAll}},
		} {
			t.Run(filepath.Base(chart)+" with "+name, func(t *testing.T) {
				if checkChart(t, stream, flags) {
					changed++
				}
			})
		}
	}
	if changed < len(charts) {
		t.Errorf("only %d of %d renders change something", changed, 2*len(charts))
	}
}

// checkChart says whether the render changed something.
func checkChart(t *testing.T, stream string, flags engine.Keys) bool {
	t.Helper()
	out, plan := postRender(t, stream, flags)
	rest, documents := out, documentsOf(stream)
	for _, document := range documents {
		if strings.Contains(document, "kind: Gateway\n") || strings.Contains(document, "kind: ListenerSet\n") || strings.Contains(document, "kind: List\n") {
			continue // which may be edited
		}
		_, after, found := strings.Cut(rest, strings.TrimSuffix(document, "\n"))
		if !found {
			t.Errorf("a document that nothing is added to is not there any more, or not in its order:\n%s", document)
		}
		rest = after
	}
	again, _ := postRender(t, out, flags)
	if diff := cmp.Diff(out, again); diff != "" {
		t.Errorf("the second run changes something:\n%s", diff)
	}
	for range 5 {
		rand.Shuffle(len(documents), func(i, j int) { documents[i], documents[j] = documents[j], documents[i] })
		if _, shuffled := postRender(t, strings.Join(documents, ""), flags); shuffled != plan {
			t.Errorf("the order of the documents matters:\n%s", cmp.Diff(plan, shuffled))
		}
	}
	return out != stream
}

// documentsOf splits what Helm renders; each document keeps its marker.
func documentsOf(stream string) []string {
	var out []string
	for document := range strings.SplitSeq("\n"+stream, "\n---\n") {
		if strings.TrimSpace(document) != "" {
			out = append(out, "---\n"+strings.TrimSuffix(document, "\n")+"\n")
		}
	}
	return out
}

func postRender(t *testing.T, stream string, flags engine.Keys) (out, plan string) {
	t.Helper()
	result, err := postrender.Render([]byte(stream), postrender.Options{Namespace: "infra", Release: "rel", Policies: engine.PolicySources{Flags: flags}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := result.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(result.Plan, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), string(data)
}
