package jobs_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// changedReason is what the report says of a hostname's listener, as "outcome:
// reason".
func changedReason(r *report.Report, hostname string) string {
	for _, c := range r.Changes {
		if c.Listener != "" && c.Hostname == hostname {
			return string(c.Outcome) + ": " + c.Reason
		}
	}
	return ""
}

// Our redirect pins our plain listener. When the policy asks for neither any
// more, the redirect goes, and the listener waits as every other does.
func TestPlainListenerWaitsWithItsRedirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRedirects)
	with := func(http string) {
		w.apply("me", gatewayOf("edge", "http: {listener: "+http+", port: 8080}", ""))
	}
	with("true, redirect: true")
	w.sweep()
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", engine.PlainListenerName)
	with("false")
	for range 3 { // the redirect goes, then nothing pins the listener
		w.sweep()
	}
	if routes := w.Kubectl(t, "", "get", "httproutes", "-n", w.namespace, "-o", "name"); routes != "" {
		t.Errorf("the redirect is still there: %s", routes)
	}
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", engine.PlainListenerName)
	w.later(24*time.Hour - time.Minute)
	w.sweep()
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", engine.PlainListenerName)
	w.later(time.Minute)
	w.sweep()
	w.wantListeners("edge", "plain", "edge.hand.example.com:443")
}

const asksForPassthrough = `passthrough: [{name: pg, port: 443, hostname: "*.pg.example.com"}, {name: a, port: 443, hostname: a.example.com}]`

// A listener that is to take the place of one of ours is not added while that
// stays, here because Helm is at work: none of the two would serve.
func TestAdditionWaitsForItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("helm", gatewayOf("edge", "", ""))
	w.apply("app", route("shop", "a.example.com"))
	w.sweep()
	w.later(time.Hour)
	w.apply("helm", gatewayOf("edge", asksForPassthrough, ""))
	w.options.Settle = 2 * time.Hour
	got := w.sweep()
	if says := changedReason(got, "a.example.com"); !strings.HasPrefix(says, "held: helm wrote it") {
		t.Errorf("the report says %q", says)
	}
	if l := w.listener("edge", "a.example.com"); l["protocol"] != "HTTPS" {
		t.Errorf("a.example.com is served by %v", l)
	}
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", "a.example.com:443", "*.pg.example.com:443")
	w.later(2 * time.Hour)
	w.sweep()
	if l := w.listener("edge", "a.example.com"); l["protocol"] != "TLS" {
		t.Errorf("a.example.com is served by %v", l)
	}
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", "a.example.com:443", "*.pg.example.com:443")
}

// listener is that of a hostname, the last of several.
func (w *world) listener(gateway, hostname string) map[string]any {
	w.t.Helper()
	var found map[string]any
	for _, l := range listenerObjects(w.get("gateway", gateway)) {
		if l["hostname"] == hostname {
			found = l
		}
	}
	return found
}

// Where the server refuses what is to take its place, a listener stays, and the
// others make way for theirs.
func TestRefusedReplacementDisplacesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayOf("edge", "", ""))
	w.apply("app", route("shop", "a.example.com", "x.pg.example.com"))
	w.sweep()
	w.forbid("*.pg.example.com")
	w.apply("me", gatewayOf("edge", asksForPassthrough, ""))
	for range 2 {
		got := w.sweep()
		if says := changedReason(got, "*.pg.example.com"); !strings.HasPrefix(says, "refused: ") || !strings.Contains(says, "that name is not for you") {
			t.Errorf("the report says %q", says)
		}
		if says := changedReason(got, "x.pg.example.com"); !strings.HasPrefix(says, "held: it stays") {
			t.Errorf("the report says %q", says)
		}
		if a, x := w.listener("edge", "a.example.com"), w.listener("edge", "x.pg.example.com"); a["protocol"] != "TLS" || x["protocol"] != "HTTPS" {
			t.Errorf("a.example.com is served by %v, x.pg.example.com by %v", a, x)
		}
		w.wantListeners("edge", "plain", "edge.hand.example.com:443", "a.example.com:443", "x.pg.example.com:443")
	}
}

// What is displaced goes in the same apply as what takes its place, however many
// that are: the breaker counts what is stale alone.
func TestBreakerLeavesOutWhatIsDisplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayOf("edge", "", ""))
	w.apply("app", route("shop", "v.pg.example.com", "w.pg.example.com", "x.pg.example.com", "y.pg.example.com", "z.pg.example.com"))
	w.sweep()
	w.apply("me", gatewayOf("edge", asksForPassthrough, ""))
	w.sweep()
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", "a.example.com:443", "*.pg.example.com:443")
}

// A listener without its Certificate would serve nothing, so it waits for that:
// where the server does not take the Certificate, and where it is planned too
// late in a run.
func TestListenerWaitsForItsCertificate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	narrow := strings.Replace(gatewayWithPolicy, "attach:", "hostnames: {allow: [a.example.com, b.example.com]}, attach:", 1)
	w.apply("me", narrow)
	w.apply("app", route("shop", "a.example.com", "b.example.com", "c.example.com"))
	fault := &clustertest.Fault{Kind: clustertest.Status500, Times: -1, Match: func(c clustertest.Call) bool {
		return c.Writes() && c.Name == certificateOf("edge", "a.example.com")
	}}
	usual := w.config
	w.config = clustertest.Wrapped(usual, fault.Wrap, func(next http.RoundTripper) http.RoundTripper {
		return before("gateways", func() { w.apply("me", gatewayWithPolicy) })(next)
	})
	got, err := w.trySweep()
	if err != nil || got.Result != report.Partial || fault.Hits() == 0 {
		t.Error(told(got, err))
	}
	w.wantListeners("edge", "http", "b.example.com:443")
	w.config = usual
	w.sweep()
	w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443", "c.example.com:443")
}

// A mark that somebody else wrote, or keeps in place, says nothing of how long a
// listener has been stale.
func TestMarksOfSomebodyElse(t *testing.T) {
	t.Parallel()
	old := `{"version":"v1alpha1","stale":{"` + engine.ListenerName("a.example.com", 443) + `":"2020-01-01T00:00:00Z"}}`
	for name, write := range map[string]func(*world){
		"another mark": func(w *world) {
			w.Kubectl(t, "", "annotate", "gateway", "edge", "-n", w.namespace, "--overwrite", engine.AnnotationState+"="+old)
		},
		"the same mark": func(w *world) {
			state := w.get("gateway", "edge").GetAnnotations()[engine.AnnotationState]
			w.apply("backup", "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: edge, annotations: {"+engine.AnnotationState+": '"+state+"'}}, spec: {gatewayClassName: test}}")
			w.later(25 * time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.apply("me", gatewayWithPolicy)
			w.apply("app", route("shop", "a.example.com", "b.example.com"))
			w.sweep()
			w.apply("app", route("shop", "b.example.com"))
			w.sweep()
			write(w)
			got, err := w.trySweep()
			if err != nil {
				t.Error(told(got, err))
			}
			if says := changedReason(got, "a.example.com"); !strings.Contains(says, "so its marks prove nothing") {
				t.Errorf("the report says %q", says)
			}
			w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443")
		})
	}
}

// Whose hostname it is that a release renders for one namespace, the first sweep
// notes, and writes for nothing else: when the release drops it, nothing else
// tells who has it for the grace period.
func TestHolderByARenderedListener(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.options.Settle = 0
	release := func(rendered, listener string) {
		manifest := strings.Replace(gatewayOf("edge", "hostnameOwnership: OneNamespace", ""), "metadata:\n  name: edge\n  annotations: {", `metadata:
  name: edge
  annotations: {gatewright.dev/rendered: '{"version": "v1alpha1", "listeners": [`+rendered+`]}', `, 1)
		g.apply("helm", strings.TrimRight(manifest, "\n")+listener)
	}
	name := engine.ListenerName("a.example.com", 443)
	release(`"`+name+`"`, `
  - {name: `+name+`, port: 443, protocol: HTTPS, hostname: a.example.com, tls: {certificateRefs: [{group: "", kind: Secret, name: `+certificateOf("edge", "a.example.com")+`}]},
     allowedRoutes: {namespaces: {from: Selector, selector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [NS]}]}}}}
`)
	g.apply("helm", `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: `+certificateOf("edge", "a.example.com")+`, labels: {gatewright.dev/for: edge}}, spec: {dnsNames: [a.example.com], secretName: `+certificateOf("edge", "a.example.com")+`, issuerRef: {name: ca}}}`)
	g.apply("helm", routeTo("HTTPRoute", "shop", toEdge, "a.example.com", ""))
	if r := g.world.sweep(); r.Writes != 1 || len(r.Changes) != 0 {
		t.Errorf("%d writes, want one of the state: %s", r.Writes, lines(r))
	}
	g.wantQuiet("edge")

	g.remove(httpRoutes, "shop")
	g.remove(certificates, certificateOf("edge", "a.example.com"))
	release("", "")
	g.wantListeners("edge", "plain", "edge.hand.example.com:443")
	g.apply("other", routeTo("HTTPRoute", "late", toEdge, "a.example.com", "namespace: OTHER"))
	g.world.sweep()
	g.later(23 * time.Hour)
	g.world.sweep()
	g.wantListeners("edge", "plain", "edge.hand.example.com:443")
	g.later(time.Hour)
	g.world.sweep()
	g.wantListeners("edge", "plain", "edge.hand.example.com:443", "a.example.com:443")
}

// A namespace of which the server says that there is none, and that holds objects
// all the same, proves nothing: without its labels its claims may not be admitted.
func TestNamespaceThatIsNotThere(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.options.Namespaces = []string{g.namespace, g.other}
	g.apply("me", gatewayOf("edge", "hostnameOwnership: OneNamespace", ""))
	g.apply("me", routeTo("HTTPRoute", "theirs", toEdge, "theirs.example.com", "namespace: OTHER"))
	g.claim("gone.example.com")
	g.sweeps()
	g.unclaim("gone.example.com")
	for _, namespace := range g.options.Namespaces {
		fault := &clustertest.Fault{Kind: clustertest.Status404, Times: -1, Match: func(c clustertest.Call) bool {
			return c.Resource == "namespaces" && c.Name == namespace
		}}
		usual := g.config
		g.config = clustertest.Wrapped(usual, fault.Wrap)
		g.wantGone(false)
		g.config = usual
		if fault.Hits() == 0 {
			t.Error("the fault struck nothing")
		}
	}
	g.sweeps() // marks it anew
	g.later(25 * time.Hour)
	g.wantGone(true, listenerOf("gone.example.com"))
}
