package crdtest_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender/engine"
	"github.com/gatewright/gatewright/postrender/internal/crdtest"
)

// What the engine plans in each of its cases is accepted by an API server, and
// two field managers may apply it.
func TestEngineCases(t *testing.T) {
	files, err := filepath.Glob("../../engine/testdata/cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	planned := 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			objects, plan := compute(t, file)
			if plan == nil {
				return // a case that ends in an error plans nothing
			}
			for _, object := range made(plan) {
				planned++
				crdtest.Validate(t, object)
				if err := crdtest.ApplyTwice(object); err != nil {
					t.Error(err)
				}
			}
			for _, g := range plan.Gateways {
				planned += len(g.Listeners)
				checkParent(t, find(t, objects, "Gateway", g), g)
			}
			for _, g := range plan.ListenerSets {
				planned += len(g.Listeners)
				checkParent(t, find(t, objects, "ListenerSet", g), g)
			}
		})
	}
	if planned == 0 {
		t.Error("the cases plan nothing")
	}
}

// compute runs a case as the engine's own test does.
func compute(t *testing.T, file string) ([]map[string]any, *engine.Plan) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range archive.Files {
		parts[f.Name] = string(f.Data)
	}
	var setup struct {
		Namespace string
		Complete  bool
		Owned     []string
	}
	parse(t, parts["setup.yaml"], &setup)
	policies := engine.PolicySources{}
	parse(t, parts["flags.yaml"], &policies.Flags)
	if keys := parts["policy.yaml"]; keys != "" {
		policies.File, err = engine.ParsePolicyFile("policy.yaml", []byte("apiVersion: gatewright.dev/v1alpha1\nkind: Policy\ngateways:\n"+keys))
		if err != nil {
			return nil, nil
		}
	}
	objects := documents(t, parts["input.yaml"])
	snapshot := &engine.Snapshot{Complete: setup.Complete}
	for _, object := range objects {
		if err := snapshot.Decode(object, engine.Origin{Namespace: setup.Namespace}); err != nil {
			return nil, nil
		}
	}
	for _, g := range slices.Concat(snapshot.Gateways, snapshot.ListenerSets) {
		for i := range g.Listeners {
			g.Listeners[i].Owned = slices.Contains(setup.Owned, g.Listeners[i].Name)
		}
	}
	plan, err := engine.Compute(snapshot, policies)
	if err != nil {
		return nil, nil
	}
	return objects, plan
}

func parse(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// documents reads the objects of a case, which may leave out what goes without
// saying there.
func documents(t *testing.T, text string) []map[string]any {
	t.Helper()
	versions := map[any]string{"Certificate": "cert-manager.io/v1", "Namespace": "v1", "Secret": "v1"}
	var out []map[string]any
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		var object map[string]any
		parse(t, document, &object)
		if object == nil {
			continue
		}
		if object["apiVersion"] == nil {
			object["apiVersion"] = "gateway.networking.k8s.io/v1"
			if version := versions[object["kind"]]; version != "" {
				object["apiVersion"] = version
			}
		}
		out = append(out, object)
	}
	return out
}

// made returns the whole objects that a plan renders.
func made(plan *engine.Plan) []map[string]any {
	var out []map[string]any
	add := func(action engine.Action, object func() map[string]any) {
		if action != engine.Remove {
			out = append(out, object())
		}
	}
	for _, c := range plan.Certificates {
		add(c.Action, c.Object)
	}
	for _, g := range plan.Grants {
		add(g.Action, g.Object)
	}
	for _, r := range plan.Redirects {
		add(r.Action, r.Object)
	}
	return out
}

// find returns the Gateway or ListenerSet of a case that a plan is about.
func find(t *testing.T, objects []map[string]any, kind string, plan engine.GatewayPlan) map[string]any {
	t.Helper()
	for _, object := range objects {
		metadata := object["metadata"].(map[string]any)
		namespace, named := metadata["namespace"]
		if object["kind"] == kind && metadata["name"] == plan.Name && (!named || namespace == plan.Namespace) {
			return object
		}
	}
	t.Fatalf("no %s %s/%s in the case", kind, plan.Namespace, plan.Name)
	return nil
}

// checkParent has a release apply the Gateway or ListenerSet and a sweep its
// listeners. A release that was rendered has those of the plan too.
func checkParent(t *testing.T, source map[string]any, plan engine.GatewayPlan) {
	t.Helper()
	var ours, hand []any
	planned := map[any]bool{}
	for _, l := range plan.Listeners {
		planned[l.Name] = true
		if l.Action != engine.Remove {
			ours = append(ours, l.Object())
		}
	}
	spec, _ := source["spec"].(map[string]any)
	written, _ := spec["listeners"].([]any)
	for _, l := range written {
		if !planned[l.(map[string]any)["name"]] {
			hand = append(hand, l)
		}
	}
	all := slices.Concat(ours, hand)
	if len(all) == 0 || len(hand) > 0 && crdtest.Check(parentWith(source, hand, plan.Rendered)) != nil {
		return // the case is about a parent that no API server would take
	}
	crdtest.Validate(t, parentWith(source, all, plan.Rendered))
	release := all
	if plan.Rendered == "" && len(hand) > 0 {
		release = hand
	}
	if err := crdtest.ApplyInTurn(parentWith(source, release, plan.Rendered), ofSweep(source, ours)); err != nil {
		t.Error(err)
	}
}

// parentWith is a Gateway or ListenerSet with other listeners, as a release
// writes it.
func parentWith(source map[string]any, listeners []any, rendered string) map[string]any {
	object := ofSweep(source, listeners)
	if rendered != "" {
		object["metadata"].(map[string]any)["annotations"] = map[string]any{engine.AnnotationRendered: rendered}
	}
	spec := object["spec"].(map[string]any)
	if source["kind"] == "Gateway" {
		spec["gatewayClassName"] = "any"
	} else {
		spec["parentRef"] = source["spec"].(map[string]any)["parentRef"]
	}
	return object
}

// ofSweep is what a sweep writes of a parent: its listeners alone.
func ofSweep(source map[string]any, listeners []any) map[string]any {
	return map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1", "kind": source["kind"],
		"metadata": map[string]any{"name": source["metadata"].(map[string]any)["name"]},
		"spec":     map[string]any{"listeners": listeners},
	}
}
