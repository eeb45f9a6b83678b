package jobs_test

import (
	"context"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// written are the kinds that a sweep writes.
var written = []schema.GroupVersionResource{gateways, listenerSets, certificates, httpRoutes}

// objects returns all that a sweep may write.
func (g *ground) objects() things {
	g.t.Helper()
	out := things{}
	for _, kind := range written {
		for _, object := range g.list(kind) {
			out[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = &object
		}
	}
	return out
}

// essence is what of objects does not depend on how they came to be.
func essence(objects things) map[string]any {
	out := map[string]any{}
	for name, object := range objects {
		essence := map[string]any{"spec": object.Object["spec"], "labels": object.GetLabels(), "annotations": object.GetAnnotations()}
		if object.GetKind() == engine.KindGateway || object.GetKind() == engine.KindListenerSet {
			names := []string{}
			for _, l := range oursOf(object) {
				names = append(names, l.(map[string]any)["name"].(string))
			}
			essence["ours"] = names
		}
		out[name] = essence
	}
	return out
}

// reset makes everything as it was.
func (g *ground) reset(before things) {
	g.t.Helper()
	now := g.objects()
	was, is := essence(before), essence(now)
	for name, object := range now {
		if before[name] == nil {
			g.delete(object)
		}
	}
	for name, object := range before {
		if !cmp.Equal(was[name], is[name]) {
			g.remake(object)
		}
	}
	if diff := cmp.Diff(was, essence(g.objects())); diff != "" {
		g.t.Fatalf("not reset (-want +got):\n%s", diff)
	}
}

func (g *ground) delete(object *unstructured.Unstructured) {
	g.t.Helper()
	err := g.Dynamic.Resource(servedAs(object)).Namespace(object.GetNamespace()).Delete(g.t.Context(), object.GetName(), metav1.DeleteOptions{})
	if err != nil {
		g.t.Fatal(err)
	}
}

// busy makes a ground where one sweep has to do everything that a sweep can do:
// to add, to mark, to take marks away, and to remove.
func busy(t *testing.T) *ground {
	t.Helper()
	g := ripe(t)
	withHelmReleases(t, g.Env)
	g.reconciled()
	g.apply("me", gatewayOf("one", "hostnameOwnership: OneNamespace, http: {listener: true, redirect: true, port: 8080}", "")+
		routeTo("HTTPRoute", "fresh", toEdge, "fresh.example.com, used.example.com", "")+
		routeTo("HTTPRoute", "fresh", "{name: one, namespace: NS}", "fresh-one.example.com", "namespace: OTHER")+
		routeTo("HTTPRoute", "back", toMore, "gone-set.example.com", ""))
	g.remove(httpRoutes, "mine", "redirected")
	return g
}

// calm is what the sweeps come to, at this time and a day later.
type calm struct{ now, later map[string]any }

func (g *ground) comesToRest(laterToo bool) calm {
	g.t.Helper()
	g.sweeps()
	r := calm{now: essence(g.objects())}
	if laterToo {
		g.later(25 * time.Hour)
		g.sweeps()
		g.sweeps()
		r.later = essence(g.objects())
		g.later(-25 * time.Hour)
	}
	return r
}

// death is how a process ends at one of its writes.
type death string

const (
	diesBefore   death = "before the server has it"
	diesAfter    death = "before the answer is there"
	diesBySignal death = "by a signal"
)

// TestDeathAtEachWrite: a sweep that dies at whatever write has removed nothing
// that lives, and those after it come to where they would have come without.
func TestDeathAtEachWrite(t *testing.T) {
	t.Parallel()
	g := busy(t)
	start, alive := g.objects(), g.things()
	recorder := &clustertest.Recorder{}
	got, err := g.sweepBy(t.Context(), clustertest.Wrapped(g.config, recorder.Wrap))
	if err != nil || got.Result != report.Done {
		t.Fatal(told(got, err))
	}
	writes := len(slices.DeleteFunc(recorder.Calls(), clustertest.Call.Reads))
	if writes < 12 {
		t.Fatalf("only %d writes to die at:\n%s", writes, told(got, err))
	}
	want := g.comesToRest(true)
	deaths := []death{diesBefore, diesAfter, diesBySignal}
	for n := 1; n <= writes; n++ {
		for i, d := range deaths {
			if os.Getenv(everyFault) == "" && n%len(deaths) != i {
				continue // each write dies one of the deaths, and each death is died often
			}
			g.reset(start)
			g.dies(d, n, alive)
			got := g.comesToRest(n%4 == 0)
			if diff := cmp.Diff(want.now, got.now); diff != "" {
				t.Errorf("killed at write %d, %s (-want +got):\n%s", n, d, diff)
			}
			if diff := cmp.Diff(want.later, got.later); diff != "" && got.later != nil {
				t.Errorf("killed at write %d, %s, and a day later (-want +got):\n%s", n, d, diff)
			}
		}
	}
	t.Logf("%d writes; %s=1 runs every death at each", writes, everyFault)
}

// dies runs a sweep that dies at its nth write.
func (g *ground) dies(d death, n int, alive things) {
	g.t.Helper()
	ctx, cancel := context.WithCancel(g.t.Context())
	defer cancel()
	kind := map[death]clustertest.FaultKind{diesBefore: clustertest.KillBefore, diesAfter: clustertest.KillAfter}[d]
	fault := &clustertest.Fault{Kind: kind, Match: clustertest.Call.Writes, Nth: n}
	wrap := fault.Wrap
	if d == diesBySignal {
		wrap = cancelAt(n, cancel)
	}
	got, err := g.sweepBy(ctx, clustertest.Wrapped(g.config, wrap))
	if d == diesBySignal && err == nil || err == nil && got.Result == report.Done {
		g.t.Errorf("killed at write %d, %s: the report is clean\n%s", n, d, told(got, err))
	}
	if went := gone(alive, g.things()); !isSubset(went, stale) {
		g.t.Errorf("killed at write %d, %s: removed %q", n, d, went)
	}
}

// cancelAt ends the context at the nth write, which the server does not get, and
// says so where a later write comes all the same.
func cancelAt(n int, cancel func()) func(http.RoundTripper) http.RoundTripper {
	fault := &clustertest.Fault{Kind: clustertest.KillBefore, Match: clustertest.Call.Writes, Nth: n}
	return func(next http.RoundTripper) http.RoundTripper {
		killed := fault.Wrap(next)
		return transport(func(r *http.Request) (*http.Response, error) {
			response, err := killed.RoundTrip(r)
			if fault.Hits() > 0 {
				cancel()
			}
			return response, err
		})
	}
}
