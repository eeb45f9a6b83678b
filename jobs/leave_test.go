package jobs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// leaves takes all that is the sweep's out of a Gateway.
func (w *world) leaves(gateway string) func(*jobs.Options) {
	return func(o *jobs.Options) {
		o.Leave = []engine.ObjectName{{Namespace: w.namespace, Name: gateway}}
	}
}

// TestLeave: what the sweep wrote on a Gateway goes, and what kubectl applied
// from the client, which another apply by kubectl would have taken over, stays.
func TestLeave(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRedirects)
	gateways := gatewayOf("edge", "http: {redirect: true}", "") + gatewayOf("other", "", "")
	w.Kubectl(t, gateways, "apply", "-n", w.namespace, "-f", "-")
	w.apply("chart", chartListenerSet())
	w.apply("app", routeTo("HTTPRoute", "shop", "{name: edge, port: 443}", "a.example.com", "")+
		routeTo("HTTPRoute", "more", toMore, "b.example.com", "")+routeTo("HTTPRoute", "other", "{name: other}", "c.example.com", ""))
	w.sweep()
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", "a.example.com:443")
	if !strings.Contains(w.Kubectl(t, "", "get", "httproute", "-n", w.namespace, "-o", "name"), "-redirect") {
		t.Fatal("there is no redirect")
	}

	r := w.sweep(w.leaves("edge"), func(o *jobs.Options) { o.DryRun = report.DryRunServer })
	if r.Writes != 0 || len(r.Changes) != 3 {
		t.Errorf("a dry run made %d writes and told of %v", r.Writes, r.Changes)
	}
	r = w.sweep(w.leaves("edge"))
	w.wantListeners("edge", "plain", "edge.hand.example.com:443")
	w.wantListeners("other", "plain", "other.hand.example.com:443", "c.example.com:443")
	if got := listenerObjects(w.get("listenerset", "more")); len(got) != 1 {
		t.Errorf("the ListenerSet has %v, want its own listener alone", got)
	}
	if strings.Contains(w.Kubectl(t, "", "get", "httproute", "-n", w.namespace, "-o", "name"), "-redirect") {
		t.Error("the redirect is still there")
	}
	edge := w.get("gateway", "edge")
	if edge.GetAnnotations()[engine.AnnotationState] != "" || edge.GetAnnotations()[engine.AnnotationPolicy] == "" {
		t.Errorf("annotations %v, want the policy and no state", edge.GetAnnotations())
	}
	for _, field := range edge.GetManagedFields() {
		if field.Manager == engine.FieldManager {
			t.Errorf("the sweep still owns %s", field.FieldsV1)
		}
	}
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{certificateOf("edge", "a.example.com"), "still has a policy"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not tell of %s: %s", want, notes)
		}
	}
	if r := w.sweep(w.leaves("edge")); r.Writes != 0 {
		t.Errorf("leaving once more made %d writes", r.Writes)
	}
}

// TestLeaveWhatIsNotThere: a name without a Gateway is a problem, not silence.
func TestLeaveWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, err := w.trySweep(w.leaves("typo"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Problems, func(p report.Problem) bool { return strings.Contains(p.Object, "typo") }) {
		t.Errorf("problems %v, want one of Gateway typo", r.Problems)
	}
}

// TestLeaveTheLastListener: a Gateway that has none but ours keeps them, as the
// API server wants one.
func TestLeaveTheLastListener(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("app", route("shop", "a.example.com"))
	w.sweep()
	w.Kubectl(t, "", "patch", "gateway", "edge", "-n", w.namespace, "--type=json", "-p", `[{"op": "remove", "path": "/spec/listeners/0"}]`)
	r, err := w.trySweep(w.leaves("edge"))
	if err != nil {
		t.Fatal(err)
	}
	w.wantListeners("edge", "a.example.com:443")
	if !slices.ContainsFunc(r.Problems, func(p report.Problem) bool { return strings.Contains(p.Message, "spec.listeners") }) {
		t.Errorf("problems %v, want the server's words", r.Problems)
	}
}
