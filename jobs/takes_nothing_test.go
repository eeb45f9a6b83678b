package jobs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/postrender/engine"
)

// TestWritesTakeNothingOver: nothing is written by force, and of a Gateway or a
// ListenerSet the sweep owns its listeners and its state alone: its class, its
// policy, and what the release renders are others'.
func TestWritesTakeNothingOver(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	record := &clustertest.Recorder{}
	g.config = clustertest.Wrapped(g.config, record.Wrap)
	g.apply("me", full)
	g.sweeps()
	writes := 0
	for _, call := range record.Calls() {
		if call.Writes() {
			writes++
		}
		if call.Query.Get("force") == "true" {
			t.Errorf("by force: %s", call)
		}
	}
	owned := 0
	for _, object := range append(g.list(gateways), g.list(listenerSets)...) {
		for _, path := range ownedPaths(t, &object) {
			owned++
			if path != "f:spec f:listeners" && path != "f:metadata f:annotations f:"+engine.AnnotationState {
				t.Errorf("the sweep owns %s of %s %s", path, object.GetKind(), object.GetName())
			}
		}
	}
	if writes < 10 || owned < 5 {
		t.Errorf("only %d writes, %d fields", writes, owned)
	}
}

// ownedPaths are the fields that the sweep's manager owns, no deeper than the
// listeners.
func ownedPaths(t *testing.T, object *unstructured.Unstructured) []string {
	t.Helper()
	var out []string
	var walk func(string, map[string]any)
	walk = func(path string, fields map[string]any) {
		if len(fields) == 0 || strings.HasSuffix(path, "f:listeners") {
			out = append(out, strings.TrimSpace(path))
			return
		}
		for key, value := range fields {
			walk(path+" "+key, value.(map[string]any))
		}
	}
	for _, entry := range object.GetManagedFields() {
		if entry.Manager != engine.FieldManager {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			t.Fatal(err)
		}
		walk("", fields)
	}
	return out
}

// TestOneApplyOfAGateway: new listeners and marks of stale ones go in one write.
func TestOneApplyOfAGateway(t *testing.T) {
	t.Parallel()
	g := simple(t, "a.example.com")
	g.remove(httpRoutes, "a")
	g.claim("b.example.com")
	record := &clustertest.Recorder{}
	if got, err := g.sweepBy(t.Context(), clustertest.Wrapped(g.config, record.Wrap)); err != nil {
		t.Fatal(told(got, err))
	}
	calls := slices.DeleteFunc(record.Calls(), func(c clustertest.Call) bool { return !c.Writes() || c.Resource != gateways.Resource })
	if len(calls) != 1 {
		t.Errorf("the Gateway is written by %v", calls)
	}
	state, err := engine.ParseState(g.get("gateway", "edge").GetAnnotations()[engine.AnnotationState])
	if err != nil {
		t.Fatal(err)
	}
	if _, marked := state.Stale[engine.ListenerName("a.example.com", 443)]; !marked || g.listener("edge", "b.example.com") == nil {
		t.Errorf("the one write brings no mark, or no listener; stale: %v", state.Stale)
	}
}
