package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
)

func newTelling(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.options.Events = true
	w.options.Gateways = nil
	w.apply("me", gatewayWithPolicy)
	return w
}

// events are those of the namespace since the last call: "Type Reason Kind/name:
// message", sorted, with what is shortened in the order given.
func (w *world) events(shorten ...string) []string {
	w.t.Helper()
	list, err := w.Client.CoreV1().Events(w.namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, e := range list.Items {
		w.wantEvent(&e)
		out = append(out, strings.NewReplacer(append(shorten, w.namespace, "NS")...).
			Replace(fmt.Sprintf("%s %s %s/%s: %s", e.Type, e.Reason, e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Message)))
		if err := w.Client.CoreV1().Events(w.namespace).Delete(w.t.Context(), e.Name, metav1.DeleteOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

// wantEvent says that kubectl describe finds the Event with its object.
func (w *world) wantEvent(e *corev1.Event) {
	w.t.Helper()
	object := w.get(strings.ToLower(e.InvolvedObject.Kind), e.InvolvedObject.Name)
	if object == nil || e.InvolvedObject.UID != object.GetUID() || e.InvolvedObject.Namespace != e.Namespace || e.ReportingController != "gatewright" ||
		e.InvolvedObject.APIVersion != object.GetAPIVersion() || e.FirstTimestamp.IsZero() {
		w.t.Errorf("an Event that nobody finds: %+v", e)
	}
}

func (w *world) wantEvents(shorten []string, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.events(shorten...)); diff != "" {
		w.t.Fatalf("Events (-want +got):\n%s", diff)
	}
}

// A hostname's life is told on its Gateway, and on its route.
func TestEventsOfALife(t *testing.T) {
	t.Parallel()
	w := newTelling(t)
	w.wantQuiet("edge")
	w.wantEvents(nil)
	w.apply("me", route("shop", "a.example.com", "b.example.com"))
	w.sweep()
	var names []string
	for _, l := range w.listenerNames("edge") {
		names = append(names, l, "LISTENER")
	}
	w.wantEvents(names,
		"Normal ClaimServed HTTPRoute/shop: a.example.com, b.example.com: served by Gateway NS/edge from now on",
		"Normal ListenerAdded Gateway/edge: listener LISTENER for a.example.com: HTTPRoute NS/shop",
		"Normal ListenerAdded Gateway/edge: listener LISTENER for b.example.com: HTTPRoute NS/shop",
	)
	w.sweep()
	w.wantEvents(nil)
	w.apply("me", route("shop", "b.example.com"))
	w.sweep()
	due := w.now.Add(24 * time.Hour).UTC().Format(time.RFC3339)
	w.wantEvents(append(names, due, "THEN"),
		"Normal ListenerStale Gateway/edge: nothing asks for a.example.com any more: listener LISTENER goes after THEN, unless that changes",
	)
	w.later(time.Hour)
	w.sweep()
	w.wantEvents(nil)
	w.later(24 * time.Hour)
	w.sweep()
	if got := w.events(names...); len(got) != 1 || !strings.HasPrefix(got[0], "Normal ListenerRemoved Gateway/edge: listener LISTENER for a.example.com: ") {
		t.Errorf("Events:\n%s", strings.Join(got, "\n"))
	}
}

// A claim that a policy refuses from now on is not said to be gone.
func TestEventOfARefusedClaimThatGoes(t *testing.T) {
	t.Parallel()
	w := newTelling(t)
	w.apply("me", route("shop", "a.example.com"))
	w.sweep()
	w.apply("me", strings.Replace(gatewayWithPolicy, "{from: All}", "{from: Selector, selector: {matchLabels: {none: such}}}", 1))
	r := w.sweep()
	said := strings.Join(w.events(), "\n")
	asks := "HTTPRoute " + w.namespace + "/shop asks for a.example.com, and is refused (NotAllowedByListeners): "
	if !strings.Contains(said, "ListenerStale Gateway/edge: HTTPRoute NS/shop asks for a.example.com, and is refused (NotAllowedByListeners): ") || strings.Contains(said, "nothing asks for") {
		t.Errorf("Events:\n%s", said)
	}
	if !slices.ContainsFunc(r.Changes, func(c report.Change) bool {
		return c.Listener != "" && c.Outcome == report.Held && strings.Contains(c.Reason, "; "+asks)
	}) {
		t.Errorf("the report does not say %q: %+v", asks, r.Changes)
	}
	w.later(25 * time.Hour)
	if r := w.sweep(); !slices.ContainsFunc(r.Changes, func(c report.Change) bool {
		return c.Listener != "" && c.Outcome == report.Made && strings.HasPrefix(c.Reason, asks)
	}) {
		t.Errorf("the report does not say %q: %+v", asks, r.Changes)
	}
}

func (w *world) listenerNames(gateway string) []string {
	w.t.Helper()
	out := w.Kubectl(w.t, "", "get", "gateway", gateway, "-n", w.namespace, "-o", `jsonpath={.spec.listeners[*].name}`)
	return slices.DeleteFunc(strings.Fields(out), func(name string) bool { return name == "http" })
}

// A refused claim is told to its owner, in one Event for all hostnames and runs.
func TestEventsOfRefusedClaims(t *testing.T) {
	t.Parallel()
	w := newTelling(t)
	w.apply("me", strings.Replace(gatewayWithPolicy, "attach: {from: All}", "attach: {from: All}, hostnames: {allow: [\"*.example.com\"]}", 1))
	w.apply("me", route("shop", "a.example.org", "b.example.org"))
	w.apply("me", `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: mine, annotations: {gatewright.dev/gateway: edge}}, spec: {secretName: mine, dnsNames: [c.example.org], issuerRef: {group: cert-manager.io, kind: Issuer, name: ca}}}`)
	r := w.sweep()
	if want := (report.Events{Written: 2}); r.Events != want {
		t.Errorf("Events: %+v, want %+v", r.Events, want)
	}
	r = w.sweep()
	if want := (report.Events{Known: 2}); r.Events != want || r.Writes != 0 {
		t.Errorf("Events in a second run: %+v, want %+v; %d writes", r.Events, want, r.Writes)
	}
	got := w.events()
	if len(got) != 2 || !strings.HasPrefix(got[0], "Warning ClaimRefused Certificate/mine: c.example.org on Gateway NS/edge: ") ||
		!strings.HasPrefix(got[1], "Warning ClaimRefused HTTPRoute/shop: a.example.org, b.example.org on Gateway NS/edge: ") {
		t.Errorf("Events:\n%s", strings.Join(got, "\n"))
	}
}

// What the server refuses, what another manager owns and what the circuit breaker
// holds is told on the Gateway.
func TestEventsOfTrouble(t *testing.T) {
	t.Parallel()
	w := newTelling(t)
	w.apply("me", route("shop", "a.example.com", "b.example.com", "c.example.com", "d.example.com"))
	w.sweep()
	w.events()
	w.Kubectl(t, "", "delete", "httproute/shop", "-n", w.namespace)
	w.sweep()
	if got := w.events(); len(got) != 4 {
		t.Fatalf("4 listeners became stale: %s", strings.Join(got, "\n"))
	}
	w.later(25 * time.Hour)
	if _, err := w.trySweep(); err != nil {
		t.Fatal(err)
	}
	w.wantEvents(nil, "Warning RemovalsHeld Gateway/edge: too many: 4 of 4 listeners would go at once; look at them, then allow it by --max-removals 4")
}

// Without the right to, the run says so once and does all else; a dry run writes
// none.
func TestEventsAreNoCondition(t *testing.T) {
	t.Parallel()
	w := newTelling(t)
	w.apply("me", route("shop", "a.example.com"))
	for _, dry := range []report.DryRun{report.DryRunClient, report.DryRunServer} {
		r := w.sweep(func(o *jobs.Options) { o.DryRun = dry })
		if (r.Events != report.Events{}) || len(w.events()) != 0 {
			t.Errorf("dry run %s: %+v", dry, r.Events)
		}
	}
	w.granted("{events: {enabled: false}}")
	r := w.sweep()
	w.wantListeners("edge", "http", "a.example.com:443")
	if r.Events.Failed != 2 || !strings.Contains(r.Events.Error, `cannot create resource "events"`) || r.Result != report.Done {
		t.Errorf("%s: %+v", r.Result, r.Events)
	}
}

// No more than a hundred in one run, and others after an hour.
func TestEventsAreLimited(t *testing.T) {
	t.Parallel()
	w := newTelling(t)
	w.apply("me", strings.Replace(gatewayWithPolicy, "attach: {from: All}", "attach: {from: All}, hostnames: {allow: [\"*.example.com\"]}", 1))
	var routes []string
	for i := range 130 {
		routes = append(routes, route(fmt.Sprintf("r-%d", i), "a.example.org"))
	}
	w.apply("me", strings.Join(routes, "\n---\n"))
	record := &clustertest.Recorder{}
	w.config = rest.CopyConfig(w.config)
	w.config.Wrap(record.Wrap)
	r := w.sweep()
	if want := (report.Events{Written: 100, Left: 30}); r.Events != want {
		t.Errorf("Events: %+v, want %+v", r.Events, want)
	}
	posts := 0
	for _, call := range record.Calls() {
		if call.Resource == "events" {
			posts++
			if call.Verb != "create" {
				t.Errorf("%s: the chart grants create alone", call)
			}
		}
	}
	if posts != 100 {
		t.Errorf("%d requests", posts)
	}
	w.later(time.Hour)
	if r := w.sweep(); r.Events.Written != 30 {
		t.Errorf("an hour later: %+v, want the other 30 written", r.Events)
	}
}

// What the server does not take, and a field that another manager holds, is told
// once, in the server's words.
func TestEventsOfOtherHands(t *testing.T) {
	t.Parallel()
	w := newTelling(t)
	w.apply("me", route("shop", "a.example.com"))
	w.sweep()
	w.Kubectl(t, "", "patch", "gateway", "edge", "-n", w.namespace, "--field-manager=hand", "--type=json",
		"-p", `[{"op": "replace", "path": "/spec/listeners/1/allowedRoutes/namespaces/from", "value": "Same"}]`)
	w.forbid("banned.example.com")
	w.events()
	w.apply("me", route("more", "banned.example.com"))
	for range 2 {
		if _, err := w.trySweep(); err != nil {
			t.Fatal(err)
		}
	}
	got := w.events()
	for _, want := range []string{
		`Warning ClaimRefused HTTPRoute/more: banned.example.com on Gateway NS/edge: `,
		`Warning ListenerRefused Gateway/edge: listener `,
		`Warning FieldConflict Gateway/edge: listener `,
	} {
		said := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, want) })
		if said < 0 {
			t.Errorf("no Event %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	kept := slices.IndexFunc(got, func(s string) bool { return strings.Contains(s, "FieldConflict") })
	if kept >= 0 && !strings.Contains(got[kept], `conflict with "hand"`) {
		t.Errorf("the Event does not name the manager: %s", got[kept])
	}
}

// forbid has an admission policy refuse listeners of a hostname in the namespace,
// as Invalid or for the reason given.
func (w *world) forbid(hostname string, reason ...string) {
	w.t.Helper()
	name := w.namespace + "-forbid"
	w.apply("me", fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
    resourceRules: [{apiGroups: [gateway.networking.k8s.io], apiVersions: ["*"], resources: [gateways], operations: [CREATE, UPDATE]}]
  validations: [{expression: "!object.spec.listeners.exists(l, has(l.hostname) && l.hostname == '%[2]s')", message: that name is not for you, reason: %[3]s}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, name, hostname, append(reason, "Invalid")[0]))
	w.t.Cleanup(func() {
		w.Kubectl(w.t, "", "delete", "validatingadmissionpolicybinding/"+name, "validatingadmissionpolicy/"+name)
	})
	clustertest.Eventually(w.t, func() error {
		_, err := w.TryApply("probe", w.namespace, fmt.Sprintf("{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: probe}, spec: {gatewayClassName: x, listeners: [{name: x, hostname: '%s', port: 80, protocol: HTTP}]}}", hostname))
		if err == nil {
			w.Kubectl(w.t, "", "delete", "gateway", "probe", "-n", w.namespace)
			return fmt.Errorf("the admission policy is not in force yet")
		}
		return nil
	})
}
