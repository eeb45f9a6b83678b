package flux

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	v2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// patchHead begins each patch of ours. It is part of the string, so it also
// tells them in the cluster.
const patchHead = "# gatewright flux render\n"

// isOurs tells whether a post-renderer was written by us.
func isOurs(step v2.PostRenderer) bool {
	return step.Kustomize != nil && len(step.Kustomize.Images) == 0 && len(step.Kustomize.Patches) > 0 && !slices.ContainsFunc(
		step.Kustomize.Patches, func(p kustomizePatch) bool { return !strings.HasPrefix(p.Patch, patchHead) })
}

// parents are the Gateways and ListenerSets of a rendered release.
type parents []map[string]any

// find returns the one that is planned, nil if there is none.
func (all parents) find(kind string, plan engine.GatewayPlan, namespace string) map[string]any {
	for _, p := range all {
		if p["kind"] == kind && text(p, "metadata", "name") == plan.Name && namespaceIn(p, namespace) == plan.Namespace {
			return p
		}
	}
	return nil
}

func namespaceIn(value map[string]any, otherwise string) string {
	if own := text(value, "metadata", "namespace"); own != "" {
		return own
	}
	return otherwise
}

// text returns the string at a path of keys, or "".
func text(value map[string]any, path ...string) string {
	for _, name := range path[:len(path)-1] {
		value, _ = value[name].(map[string]any)
	}
	found, _ := value[path[len(path)-1]].(string)
	return found
}

// postRenderer returns our entry for spec.postRenderers, nil if nothing is to
// be patched.
func (r *run) postRenderer(hr *release, plan *engine.Plan, content content) (map[string]any, error) {
	var patches []any
	add := func(kind string, plans []engine.GatewayPlan) error {
		for _, g := range plans {
			parent := content.parents.find(kind, g, hr.GetReleaseNamespace())
			ops, err := r.operations(hr, kind, g, parent)
			if err != nil {
				return err
			}
			if len(ops) > 0 {
				patches = append(patches, map[string]any{
					"target": target(kind, parent, slices.Concat(content.parents, content.hooked)),
					"patch":  patchHead + string(postrender.EncodeList(ops)),
				})
			}
		}
		return nil
	}
	if err := add(engine.KindGateway, plan.Gateways); err != nil {
		return nil, err
	}
	if err := add(engine.KindListenerSet, plan.ListenerSets); err != nil {
		return nil, err
	}
	if len(patches) == 0 {
		return nil, nil
	}
	return map[string]any{"kustomize": map[string]any{"patches": patches}}, nil
}

// operations are those that make a Gateway of the chart what the plan says. They
// append, without a guard: a mere change of order must not fail the release, and
// a real clash is refused by the API.
func (r *run) operations(hr *release, kind string, g engine.GatewayPlan, parent map[string]any) ([]any, error) {
	var ops []any
	for _, l := range g.Listeners {
		switch l.Action {
		case engine.Add:
			ops = append(ops, map[string]any{"op": "add", "path": "/spec/listeners/-", "value": l.Object()})
		case engine.Update, engine.Remove:
			return nil, hr.fault(fmt.Sprintf("%s %s of its chart already holds the listener %s, which gatewright rendered", kind, g.Name, l.Name),
				"take what was rendered out of the chart and of the other post-renderers")
		}
	}
	if len(ops) > 0 && !hasListeners(parent) {
		r.skipped[key{kind, g.Namespace, g.Name}] = true
		r.find(engine.Warning, CodeChartWithoutListeners, hr, fmt.Sprintf("%s %s has no spec.listeners in its chart, and a patch can only append to what is there, so nothing is added; give it one listener by hand, such as {name: http, port: 80, protocol: HTTP}", kind, g.Name))
		return nil, nil
	}
	metadata, _ := parent["metadata"].(map[string]any)
	if text(metadata, "annotations", engine.AnnotationRendered) != g.Rendered {
		ops = append(ops, map[string]any{
			"op": "add", "path": "/metadata/annotations/" + pointer.Replace(engine.AnnotationRendered), "value": g.Rendered,
		})
	}
	return ops, nil
}

func hasListeners(parent map[string]any) bool {
	spec, _ := parent["spec"].(map[string]any)
	_, isList := spec["listeners"].([]any)
	return isList
}

// pointer escapes a key for a JSON pointer.
var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// target selects one object. Its fields are patterns that must match in full,
// and a namespace that a manifest does not name is "default" to kustomize.
func target(kind string, parent map[string]any, all parents) map[string]any {
	name := text(parent, "metadata", "name")
	out := map[string]any{"group": engine.GatewayGroup, "kind": kind, "name": regexp.QuoteMeta(name)}
	namespace := text(parent, "metadata", "namespace")
	isOther := func(p map[string]any) bool {
		return p["kind"] == kind && text(p, "metadata", "name") == name && text(p, "metadata", "namespace") != namespace
	}
	switch {
	case namespace != "":
		out["namespace"] = regexp.QuoteMeta(namespace)
	case slices.ContainsFunc(all, isOther):
		out["namespace"] = "default"
	}
	return out
}

// sameEntry tells whether an entry says what a post-renderer that stands already
// does.
func sameEntry(entry map[string]any, step v2.PostRenderer) bool {
	var want v2.PostRenderer
	return convert(entry, &want) == nil && reflect.DeepEqual(want, step)
}
