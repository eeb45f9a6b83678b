package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gatewright/gatewright/postrender/internal/crdtest"
)

// TestWorldsOnServer has an API server judge what is planned for generated
// worlds: every object is valid in both channels, and a release and a sweep
// may both write it.
func TestWorldsOnServer(t *testing.T) {
	counts := map[any]int{}
	for seed := range uint64(150) {
		w := newWorld(seed)
		plan, err := w.compute(w.objects)
		if err != nil {
			continue // FuzzEngine judges errors
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			for _, object := range madeBy(plan) {
				counts[object["kind"]]++
				if below(object, "metadata", "labels")[LabelFor] == nil {
					continue // kept as somebody else wrote it
				}
				crdtest.Validate(t, object)
				if err := crdtest.ApplyTwice(object); err != nil {
					t.Error(err)
				}
			}
			for _, object := range w.objects {
				if _, after, planned := listenersOf(plan, object); planned != nil && len(after) > 0 {
					counts[object["kind"]]++
					checkWritten(t, w, object, after, planned)
				}
			}
		})
	}
	for _, kind := range []string{KindGateway, KindListenerSet, KindCertificate, KindHTTPRoute, KindGrant} {
		if counts[kind] < 10 {
			t.Errorf("only %d of kind %s are written", counts[kind], kind)
		}
	}
}

// checkWritten has a release write a parent, with what was computed for it where
// that was rendered, and a sweep write its part.
func checkWritten(t *testing.T, w *world, object map[string]any, after []map[string]any, planned *GatewayPlan) {
	t.Helper()
	ours := slices.DeleteFunc(slices.Clone(after), func(l map[string]any) bool {
		return !slices.ContainsFunc(planned.Listeners, func(p Listener) bool { return p.Name == l["name"] })
	})
	whole := written(object, after)
	crdtest.Validate(t, whole)
	release := whole
	if w.complete && len(ours) < len(after) {
		release = written(object, slices.DeleteFunc(slices.Clone(after), func(l map[string]any) bool {
			return slices.ContainsFunc(ours, func(o map[string]any) bool { return o["name"] == l["name"] })
		}))
	}
	sweep := written(object, ours)
	sweep["spec"] = map[string]any{"listeners": sweep["spec"].(map[string]any)["listeners"]}
	if err := crdtest.ApplyInTurn(release, sweep); err != nil {
		t.Error(err)
	}
}

// written is a parent with these listeners, as a release writes it.
func written(object map[string]any, listeners []map[string]any) map[string]any {
	list := []any{}
	for _, l := range listeners {
		list = append(list, l)
	}
	spec := with(object["spec"].(map[string]any), "listeners", list)
	if object["kind"] == KindGateway {
		spec["gatewayClassName"] = "any"
	}
	name := map[string]any{"name": metadata(object)["name"], "namespace": metadata(object)["namespace"]}
	return map[string]any{"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": name, "spec": spec}
}
