package jobs_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// Where the server keeps what a sweep writes, and what it reads beside.
var (
	gateways     = schema.GroupVersionResource{Group: engine.GatewayGroup, Version: "v1", Resource: "gateways"}
	listenerSets = schema.GroupVersionResource{Group: engine.GatewayGroup, Version: "v1", Resource: "listenersets"}
	httpRoutes   = schema.GroupVersionResource{Group: engine.GatewayGroup, Version: "v1", Resource: "httproutes"}
	grpcRoutes   = schema.GroupVersionResource{Group: engine.GatewayGroup, Version: "v1", Resource: "grpcroutes"}
	certificates = schema.GroupVersionResource{Group: engine.CertManagerGroup, Version: "v1", Resource: "certificates"}
)

// ground is two namespaces, with what a sweep may write in them.
type ground struct {
	*world
	other  string
	labels int // that were given to Gateways, so that each is new
	// due is what the next sweep removes, sorted.
	due []string
}

func newGround(t *testing.T) *ground {
	t.Helper()
	w := newWorld(t, withRedirects, withFlux)
	w.now = w.now.Truncate(time.Second)
	return &ground{world: w, other: w.Namespace(t)}
}

// apply applies manifests; NS and OTHER stand for the two namespaces.
func (g *ground) apply(manager, manifest string) {
	g.t.Helper()
	g.world.apply(manager, strings.ReplaceAll(manifest, "OTHER", g.other))
}

// remove deletes objects of a kind in the first namespace.
func (g *ground) remove(kind schema.GroupVersionResource, names ...string) {
	g.t.Helper()
	for _, name := range names {
		err := g.Dynamic.Resource(kind).Namespace(g.namespace).Delete(g.t.Context(), name, metav1.DeleteOptions{})
		if err != nil {
			g.t.Fatal(err)
		}
	}
}

// sweepBy runs one sweep as another process would: with its own clients.
func (g *ground) sweepBy(ctx context.Context, config *rest.Config, change ...func(*jobs.Options)) (*report.Report, error) {
	g.t.Helper()
	o := g.options
	now := g.now
	o.Now = func() time.Time { return now }
	for _, f := range change {
		f(&o)
	}
	cluster, err := jobs.Connect(clustertest.Wrapped(g.as(config, o), dated(now)))
	if err != nil {
		g.t.Fatal(err)
	}
	jobs.Restless(cluster)
	return cluster.Sweep(ctx, o)
}

// list returns all objects of a kind in both namespaces.
func (g *ground) list(kind schema.GroupVersionResource) []unstructured.Unstructured {
	g.t.Helper()
	var out []unstructured.Unstructured
	for _, namespace := range []string{g.namespace, g.other} {
		list, err := g.Dynamic.Resource(kind).Namespace(namespace).List(g.t.Context(), metav1.ListOptions{})
		if err != nil {
			g.t.Fatal(err)
		}
		out = append(out, list.Items...)
	}
	return out
}

// things are objects, and for listeners those that hold them, by a name.
type things map[string]*unstructured.Unstructured

// things returns every listener, Certificate and HTTPRoute by a name that does
// not depend on names that gatewright makes: the hostnames say which it is.
func (g *ground) things() things {
	g.t.Helper()
	out := things{}
	for _, kind := range []schema.GroupVersionResource{gateways, listenerSets} {
		for _, object := range g.list(kind) {
			for _, l := range listenerObjects(&object) {
				hostname, _ := l["hostname"].(string)
				if hostname == "" {
					hostname = l["name"].(string)
				}
				out[fmt.Sprintf("listener %s of %s", hostname, object.GetName())] = &object
			}
		}
	}
	for _, object := range g.list(certificates) {
		names, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "dnsNames")
		out["Certificate for "+strings.Join(names, " ")] = &object
	}
	for _, object := range g.list(httpRoutes) {
		name := "HTTPRoute " + object.GetName()
		if gateway := object.GetLabels()[engine.LabelFor]; gateway != "" {
			name = "redirect of " + gateway
		}
		out[name] = &object
	}
	return out
}

func listenerObjects(object *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(object.Object, "spec", "listeners")
	out := make([]map[string]any, 0, len(list))
	for _, l := range list {
		out = append(out, l.(map[string]any))
	}
	return out
}

// gone returns what was there before and is there no more, sorted.
func gone(before, now things) []string {
	left := maps.Clone(before)
	maps.DeleteFunc(left, func(name string, _ *unstructured.Unstructured) bool { return now[name] != nil })
	return slices.Sorted(maps.Keys(left))
}

// restore brings back what a sweep removed, as the sweeps before had made it, and
// their marks: a sweep that cannot know whether something is claimed may forget
// since when it is not.
func (g *ground) restore(before things) {
	g.t.Helper()
	now := g.things()
	restored := map[*unstructured.Unstructured]bool{}
	for name, object := range before {
		if !restored[object] && (now[name] == nil || marksOf(now[name]) != marksOf(object)) {
			g.remake(object)
			restored[object] = true
		}
	}
	if missing := gone(before, g.things()); len(missing) > 0 {
		g.t.Fatalf("not restored: %v", missing)
	}
}

// marksOf are those of what is not claimed, on an object.
func marksOf(object *unstructured.Unstructured) string {
	annotations := object.GetAnnotations()
	return annotations[engine.AnnotationState] + annotations["gatewright.dev/stale-since"]
}

func servedAs(object *unstructured.Unstructured) schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{
		engine.KindGateway: gateways, engine.KindListenerSet: listenerSets, engine.KindCertificate: certificates, engine.KindHTTPRoute: httpRoutes,
	}[object.GetKind()]
}

func (g *ground) remake(object *unstructured.Unstructured) {
	g.t.Helper()
	kind := servedAs(object)
	remade := &unstructured.Unstructured{Object: map[string]any{"spec": object.Object["spec"]}}
	remade.SetGroupVersionKind(object.GroupVersionKind())
	remade.SetName(object.GetName())
	remade.SetLabels(object.GetLabels())
	annotations := object.GetAnnotations()
	stale := annotations["gatewright.dev/stale-since"]
	if stale != "" {
		stale = strconv.Quote(stale)
	}
	delete(annotations, "gatewright.dev/stale-since")
	remade.SetAnnotations(annotations)
	if kind == gateways || kind == listenerSets {
		remade.SetLabels(nil)
		remade.SetAnnotations(nil)
		if state := annotations[engine.AnnotationState]; state != "" {
			remade.SetAnnotations(map[string]string{engine.AnnotationState: state})
		}
		remade.Object["spec"] = map[string]any{"listeners": oursOf(object)}
	}
	client := g.Dynamic.Resource(kind).Namespace(object.GetNamespace())
	_, err := client.Apply(g.t.Context(), object.GetName(), remade, metav1.ApplyOptions{FieldManager: engine.FieldManager, Force: true})
	if err == nil && kind == certificates {
		mark := []byte(`{"metadata": {"annotations": {"gatewright.dev/stale-since": ` + cmp.Or(stale, "null") + `}}}`)
		_, err = client.Patch(g.t.Context(), object.GetName(), "application/merge-patch+json", mark, metav1.PatchOptions{FieldManager: "gatewright-state"})
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

// oursOf returns the listeners that our field manager applies.
func oursOf(object *unstructured.Unstructured) []any {
	var fields string
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == engine.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply {
			fields = string(entry.FieldsV1.GetRawBytes())
		}
	}
	out := []any{}
	for _, l := range listenerObjects(object) {
		if strings.Contains(fields, fmt.Sprintf(`k:{\"name\":\"%s\"}`, l["name"])) {
			out = append(out, l)
		}
	}
	return out
}

// told is what a report says, for messages of tests.
func told(r *report.Report, err error) string {
	return fmt.Sprintf("%s %s %v\n%s", cmp.Or(string(r.Result), "?"), r.Message, err, lines(r))
}
