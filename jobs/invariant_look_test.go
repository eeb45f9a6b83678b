package jobs_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/postrender/engine"
)

// others does something and says that nothing of others changed meanwhile.
func (s *story) others(do func()) {
	s.t.Helper()
	before := s.foreign()
	do()
	if diff := cmp.Diff(before, s.foreign()); diff != "" {
		s.t.Errorf("what is of others changed:\n%s", diff)
	}
}

// foreign is everything that is not the sweep's: whole listeners, and versions of
// objects.
func (s *story) foreign() map[string]any {
	s.t.Helper()
	out := map[string]any{}
	for _, kind := range []schema.GroupVersionResource{gateways, listenerSets} {
		for _, object := range s.list(kind) {
			ours := oursOf(&object)
			for _, l := range listenerObjects(&object) {
				if !slices.ContainsFunc(ours, func(o any) bool { return o.(map[string]any)["name"] == l["name"] }) {
					out[fmt.Sprintf("listener %s of %s", l["name"], object.GetName())] = l
				}
			}
			annotations := object.GetAnnotations()
			delete(annotations, engine.AnnotationState)
			out[object.GetKind()+" "+object.GetName()] = fmt.Sprint(annotations, object.GetLabels())
		}
	}
	for _, kind := range []schema.GroupVersionResource{certificates, httpRoutes, grpcRoutes} {
		for _, object := range s.list(kind) {
			if object.GetLabels()[engine.LabelFor] == "" {
				out[object.GetKind()+" "+object.GetName()] = object.GetResourceVersion()
			}
		}
	}
	return out
}

// lookAt says that what was served is served. After an undisturbed sweep all
// that is claimed is served, where nobody else may hold it, and has a
// Certificate.
func (s *story) lookAt(undisturbed bool) {
	s.t.Helper()
	parents := map[string][]map[string]any{}
	for _, kind := range []schema.GroupVersionResource{gateways, listenerSets} {
		for _, object := range s.list(kind) {
			parents[object.GetName()] = listenerObjects(&object)
		}
	}
	things := s.things()
	for name, r := range s.routes {
		for _, hostname := range r.hostnames {
			key := service{name, r.parent, hostname}
			i := slices.IndexFunc(parents[r.parent], func(l map[string]any) bool { return l["hostname"] == hostname && s.admits(l, r.namespace) })
			switch isServed := i >= 0 && things["Certificate for "+hostname] != nil; {
			case isServed:
				s.served[key] = true
			case s.served[key]:
				s.t.Errorf("%s was served to %s by %s, and is not", hostname, name, r.parent)
			case undisturbed && r.parent != "one":
				s.t.Errorf("%s is not served to %s by %s", hostname, name, r.parent)
			}
		}
	}
}

// admits says whether a listener admits routes of a namespace.
func (s *story) admits(l map[string]any, namespace string) bool {
	from, _, _ := unstructured.NestedString(l, "allowedRoutes", "namespaces", "from")
	real := map[string]string{"NS": s.namespace, "OTHER": s.other}[namespace]
	switch from {
	case "All":
		return true
	case "Selector":
		selector, _, _ := unstructured.NestedMap(l, "allowedRoutes", "namespaces", "selector")
		return strings.Contains(fmt.Sprint(selector), real)
	}
	return namespace == "NS"
}
