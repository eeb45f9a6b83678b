package jobs_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
)

// before does something just before the first write to a resource.
func before(resource string, do func()) func(http.RoundTripper) http.RoundTripper {
	var once sync.Once
	return func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			if c := clustertest.ParseCall(r); c.Writes() && c.Resource == resource {
				once.Do(do)
			}
			return next.RoundTrip(r)
		})
	}
}

const gatewayWithRedirect = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
  annotations: {gatewright.dev/policy: '{issuerRef: {kind: ClusterIssuer, name: le}, attach: {from: All}, certificates: ExistingSecret, secretName: s, apex: example.com, http: {redirect: true}}'}
spec: {gatewayClassName: test, listeners: [{name: http, port: 80, protocol: HTTP}]}
`

// losses are what is deleted after a sweep has read it, and just before it writes
// to a resource.
var losses = map[string]struct {
	given    func(*world)
	resource string
	lose     func(*world)
	says     string
}{
	"a Gateway": {func(w *world) {
		w.apply("me", gatewayWithPolicy)
		w.apply("app", route("shop", "a.example.com"))
	}, "gateways", deletes("gateway", "edge"), "note: Gateway NS/edge was deleted"},
	"a ListenerSet": {func(w *world) {
		w.apply("me", gatewayOf("edge", "", "")+`
---
{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: more}, spec: {parentRef: {name: edge}, listeners: [{name: hand, port: 443, protocol: HTTPS, hostname: h.example.com, tls: {certificateRefs: [{name: h}]}}]}}`)
		w.apply("app", routeTo("HTTPRoute", "shop", toMore, "a.example.com", ""))
	}, "listenersets", deletes("listenerset", "more"), "note: ListenerSet NS/more was deleted"},
	"a Certificate that is marked": {func(w *world) {
		w.apply("me", gatewayWithPolicy)
		w.apply("app", route("shop", "a.example.com"))
		w.sweep()
		w.Kubectl(w.t, "", "delete", "httproute", "shop", "-n", w.namespace)
		w.sweep()
		w.later(25 * time.Hour)
		w.sweep()
	}, "certificates", deletes("certificate", certificateOf("edge", "a.example.com")), ""},
	"a Certificate that loses its mark": {func(w *world) {
		w.apply("me", gatewayWithPolicy)
		w.apply("app", route("shop", "a.example.com"))
		w.sweep()
		w.Kubectl(w.t, "", "annotate", "certificate", certificateOf("edge", "a.example.com"), "-n", w.namespace, "gatewright.dev/stale-since=2026-01-01T00:00:00Z")
	}, "certificates", deletes("certificate", certificateOf("edge", "a.example.com")), "it changed since it was read"},
	"the namespace, for Certificates": {func(w *world) {
		w.apply("me", gatewayWithPolicy)
		w.apply("app", route("shop", "a.example.com"))
	}, "certificates", deletesNamespace, "its namespace is deleted"},
	"the namespace, for a redirect": {func(w *world) {
		w.apply("me", gatewayWithRedirect)
		w.apply("app", route("shop", "a.example.com"))
	}, "httproutes", deletesNamespace, "its namespace is deleted"},
	"the namespace, long ago": {func(w *world) {
		w.apply("me", gatewayWithPolicy)
		w.apply("app", route("shop", "a.example.com"))
		w.Kubectl(w.t, "", "delete", "namespace", w.namespace, "--wait=false")
	}, "", nil, "its namespace is deleted"},
}

func deletes(kind, name string) func(*world) {
	return func(w *world) { w.Kubectl(w.t, "", "delete", kind, name, "-n", w.namespace) }
}

// deletesNamespace does what the controllers of a cluster do then.
func deletesNamespace(w *world) {
	w.Kubectl(w.t, "", "delete", "gateways,httproutes", "--all", "-n", w.namespace)
	w.Kubectl(w.t, "", "delete", "namespace", w.namespace, "--wait=false")
	w.Kubectl(w.t, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "`+w.namespace+`"}, "spec": {"finalizers": []}}`,
		"replace", "--raw", "/api/v1/namespaces/"+w.namespace+"/finalize", "-f", "-")
}

// TestGoneBetweenReadAndWrite: what is deleted while a sweep runs leaves nothing
// to do, and nobody has to look.
func TestGoneBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	for name, test := range losses {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withRedirects)
			test.given(w)
			lost := test.lose == nil
			config := w.config
			w.config = clustertest.Wrapped(config, before(test.resource, func() { lost = true; test.lose(w) }))
			got, err := w.trySweep()
			said := lines(got)
			for _, note := range got.Notes {
				said += "note: " + note + "\n"
			}
			if err != nil || got.Result != report.Done || !lost || !strings.Contains(said, strings.ReplaceAll(test.says, "NS", w.namespace)) {
				t.Errorf("lost %v: %s\n%s", lost, told(got, err), said)
			}
			w.config = config
			w.sweep()
		})
	}
}

// A kind that is not served any more is no proof that its objects are gone.
func TestKindGoneBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("app", route("shop", "a.example.com"))
	w.config = clustertest.Wrapped(w.config, func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			if c := clustertest.ParseCall(r); c.Resource == "gateways" && c.Name == "edge" {
				r = r.Clone(r.Context())
				r.URL.Path = "/apis/gateway.networking.k8s.io/v0" + r.URL.Path[strings.Index(r.URL.Path, "/namespaces/"):]
			}
			return next.RoundTrip(r)
		})
	})
	got, err := w.trySweep()
	if err != nil || got.Result != report.Partial || !slices.ContainsFunc(got.Problems, func(p report.Problem) bool { return strings.Contains(p.Message, "cannot be read again") }) {
		t.Error(told(got, err))
	}
}

// What somebody changed, or made anew, after both looks at it is not removed.
func TestChangedBeforeItsRemoval(t *testing.T) {
	t.Parallel()
	name := certificateOf("edge", "a.example.com")
	for what, change := range map[string]func(*ground){
		"changed": func(g *ground) {
			g.Kubectl(t, "", "annotate", "certificate", name, "-n", g.namespace, "example.com/wanted=true")
		},
		"made anew": func(g *ground) {
			g.remove(certificates, name)
			g.apply("me", "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: "+name+"}, spec: {secretName: mine, dnsNames: [a.example.com], issuerRef: {name: ca}}}")
		},
	} {
		t.Run(what, func(t *testing.T) {
			g := orphaned(t, "a.example.com")
			things, changed := g.things(), false
			got, err := g.sweepBy(t.Context(), clustertest.Wrapped(g.config, before("certificates", func() { changed = true; change(g) })))
			g.checkGone(things, got, err, true)
			if said := lines(got); !changed || !strings.Contains(said, "held remove "+name) || !strings.Contains(said, "the next run looks again") {
				t.Errorf("changed: %v\n%s", changed, said)
			}
		})
	}
}
