package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkNamespace: where a render succeeds without knowing the namespace of the
// release, it gives what it gives in any.
func checkNamespace(t *testing.T, seed uint64) {
	t.Helper()
	w := newWorld(seed)
	if w.complete {
		return
	}
	w.policies.Flags["withdraw"] = "SamePort" // Served takes a backend in an unknown namespace for absent
	w.objects = slices.Clone(w.objects)
	for i, object := range w.objects {
		ours := object["kind"] == KindGateway || object["kind"] == KindListenerSet || below(object, "metadata", "labels")[LabelFor] != nil
		if object["kind"] != KindNamespace && (ours || !w.oneIn(20)) {
			w.objects[i] = w.implicit(object)
		}
	}
	plan, err := w.compute(w.objects)
	if err != nil {
		if !strings.Contains(err.Error(), "namespace of the release") && !strings.Contains(err.Error(), "which is that of the release") {
			checkError(t, err)
		}
		return
	}
	pending := map[string]bool{}
	for _, v := range plan.Verdicts {
		pending[asked(v)] = pending[asked(v)] || v.Reason == ReasonPending
	}
	want := outline(plan, pending)
	for _, w.release = range []string{"infra", "app", "elsewhere"} {
		plan, err := w.compute(w.objects)
		if err != nil {
			t.Fatalf("fails in namespace %s alone: %v", w.release, err)
		}
		if diff := cmp.Diff(want, outline(plan, pending)); diff != "" {
			t.Fatalf("the plan (-) is another (+) in namespace %s:\n%s", w.release, diff)
		}
	}
}

// implicit is an object that names no namespace, and perhaps means its own
// where it names another.
func (w *world) implicit(object map[string]any) map[string]any {
	object = jsonMap(object)
	delete(metadata(object), "namespace")
	refs := entries(below(object, "spec"), "parentRefs")
	if parent := below(object, "spec", "parentRef"); parent != nil {
		refs = append(refs, parent)
	}
	for _, ref := range refs {
		if !w.oneIn(20) {
			delete(ref, "namespace")
		}
	}
	if annotations := below(object, "metadata", "annotations"); annotations[AnnotationGateway] != nil {
		annotations[AnnotationGateway] = pick(w, "edge", "inner")
	}
	return object
}

// asked is what a verdict answers, but for namespaces.
func asked(v Verdict) string {
	return fmt.Sprint(v.Kind, v.Name, v.Parent.Kind, v.Parent.Name, v.Parent.SectionName, v.Parent.Port, v.Hostname)
}

// outline is what a plan does, without the namespaces in it, and what computed
// listeners serve, but for what waits for the namespace. TLSRoutes change nothing
// that is written.
func outline(plan *Plan, pending map[string]bool) []string {
	var out []string
	for _, g := range slices.Concat(plan.Gateways, plan.ListenerSets) {
		for _, l := range g.Listeners {
			out = append(out, fmt.Sprint(g.Name, " ", l.Action, " ", l.Name))
			if l.Action != Remove {
				out = append(out, compact(l.Object()))
			}
		}
	}
	for _, c := range plan.Certificates {
		out = append(out, fmt.Sprint("certificate ", c.Action, " ", c.Name))
	}
	for _, object := range madeBy(plan) {
		out = append(out, compact(object))
	}
	for _, v := range plan.Verdicts {
		if v.Accepted && v.Kind != KindTLSRoute && !pending[asked(v)] && made(plan, v) {
			out = append(out, asked(v))
		}
	}
	slices.Sort(out)
	return slices.Compact(out) // two parentRefs may name one parent
}
