package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/postrender/engine"
)

var helmReleases = schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"}

// withHelmReleases lets the server serve Flux's HelmReleases.
func withHelmReleases(t *testing.T, env *clustertest.Env) {
	t.Helper()
	env.DefineFlux(t)
}

const helmRelease = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: platform}
spec: {interval: 10m, chart: {spec: {chart: platform, sourceRef: {kind: GitRepository, name: charts}}}}
`

// gatewayOf is a Gateway with a policy and a hand-written listener beside
// which the sweep works.
func gatewayOf(name, policy, more string) string {
	return fmt.Sprintf(`
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: %s
  annotations: {gatewright.dev/policy: '{issuerRef: {kind: ClusterIssuer, name: ca}, attach: {from: All}, %s}'}
  %s
spec:
  gatewayClassName: test
  allowedListeners: {namespaces: {from: All}}
  listeners:
  - {name: plain, port: 80, protocol: HTTP}
  - {name: hand, port: 443, protocol: HTTPS, hostname: %s.hand.example.com, tls: {certificateRefs: [{name: hand}]}}
`, name, policy, more, name)
}

// routeTo is a route of a kind to a parent, with hostnames as YAML, in the
// namespace NS unless more says otherwise.
func routeTo(kind, name, parent, hostnames, metadata string) string {
	rule := "{backendRefs: [{name: web, port: 80}]}"
	return fmt.Sprintf(`
---
apiVersion: gateway.networking.k8s.io/v1
kind: %s
metadata: {name: %s, %s}
spec: {parentRefs: [%s], hostnames: [%s], rules: [%s]}
`, kind, name, metadata, parent, hostnames, rule)
}

const (
	toEdge = "{name: edge, namespace: NS}"
	toMore = "{name: more, group: gateway.networking.k8s.io, kind: ListenerSet}"
)

// full is everything that has claims, with them.
var full = gatewayOf("edge", "", "") +
	gatewayOf("one", "hostnameOwnership: OneNamespace", "") +
	gatewayOf("raw", `passthrough: [{name: pg, port: 5432, hostname: "*.pg.example.com"}, {name: old, port: 5433, hostname: old.example.com}]`, "") +
	gatewayOf("redir", "http: {listener: true, redirect: true, port: 8080}", "") +
	gatewayOf("flux", "", "labels: {helm.toolkit.fluxcd.io/name: platform, helm.toolkit.fluxcd.io/namespace: NS}") + `
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more}
spec:
  parentRef: {name: edge}
  listeners: [{name: hand, port: 443, protocol: HTTPS, hostname: more.hand.example.com, tls: {certificateRefs: [{name: hand}]}}]
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: own, annotations: {gatewright.dev/gateway: edge}}
spec: {dnsNames: [own.example.com], secretName: own-tls, issuerRef: {name: ca}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: foreign}
spec: {dnsNames: [foreign.example.com], secretName: foreign-tls, issuerRef: {name: ca}}
` +
	routeTo("HTTPRoute", "live", toEdge, "live.example.com", "") +
	routeTo("GRPCRoute", "rpc", toEdge, "rpc.example.com", "namespace: OTHER") +
	routeTo("HTTPRoute", "set", toMore, "set.example.com", "") +
	routeTo("HTTPRoute", "pin", toEdge, "pin.example.com", "") +
	routeTo("HTTPRoute", "out", toEdge, "out.example.com", "") +
	routeTo("HTTPRoute", "wide", toEdge, "x.wide.example.com", "") +
	routeTo("HTTPRoute", "mine", "{name: one}", "mine.example.com", "") +
	routeTo("HTTPRoute", "theirs", "{name: one, namespace: NS}", "theirs.example.com", "namespace: OTHER") +
	routeTo("TLSRoute", "pg", "{name: raw}", "a.pg.example.com", "") +
	routeTo("HTTPRoute", "redirected", "{name: redir}", "redirected.example.com", "") +
	routeTo("HTTPRoute", "platform", "{name: flux}", "platform.example.com", "")

// leaving are the routes whose hostnames nobody asks for later: first those
// whose Certificates alone are left, then those whose listeners are stale.
var (
	leftLongAgo = routeTo("HTTPRoute", "orphan", toEdge, "orphan.example.com, used.example.com", "")
	leftLately  = routeTo("HTTPRoute", "gone", toEdge, "gone.example.com", "") +
		routeTo("GRPCRoute", "gone", toEdge, "gone-rpc.example.com", "") +
		routeTo("HTTPRoute", "gone-set", toMore, "gone-set.example.com", "") +
		routeTo("HTTPRoute", "gone-one", "{name: one}", "gone-one.example.com", "") +
		routeTo("HTTPRoute", "gone-flux", "{name: flux}", "gone-flux.example.com", "")
)

// changed are policies that ask for less, and routes that use what they do not
// claim: one pins a listener, one opted out, one is wider than the listener that
// serves it.
var changed = gatewayOf("raw", `passthrough: [{name: pg, port: 5432, hostname: "*.pg.example.com"}]`, "") +
	routeTo("HTTPRoute", "pin", "{name: edge, sectionName: "+engine.ListenerName("pin.example.com", 443)+"}", "", "") +
	routeTo("HTTPRoute", "out", toEdge, "out.example.com", `annotations: {gatewright.dev/manage: "false"}`) +
	routeTo("HTTPRoute", "wide", toEdge, `"*.wide.example.com"`, "")

const ingressOfUsed = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: used}
spec: {tls: [{secretName: SECRET}], defaultBackend: {service: {name: web, port: {number: 80}}}}
`

// stale is all that an undisturbed sweep of the ripe ground removes, and held
// back by nothing.
var stale = []string{
	"Certificate for orphan.example.com",
	"listener gone-flux.example.com of flux",
	"listener gone-one.example.com of one",
	"listener gone-rpc.example.com of edge",
	"listener gone-set.example.com of more",
	"listener gone.example.com of edge",
	"listener old.example.com of raw",
	"redirect of redir",
}

// reconciled makes the HelmRelease one that helm-controller is done with.
func (g *ground) reconciled() {
	g.t.Helper()
	g.apply("me", helmRelease)
	g.setRelease(false, true)
}

// sweeps runs sweeps until one writes nothing.
func (g *ground) sweeps() {
	g.t.Helper()
	for range 5 {
		report, err := g.sweepBy(g.t.Context(), g.config)
		if err != nil || report.Result == "failed" || len(report.Problems) > 0 {
			g.t.Fatal(told(report, err))
		}
		if report.Writes == 0 {
			return
		}
	}
	g.t.Fatal("the sweeps do not come to rest")
}

// ripe makes a ground where stale is due, among much that lives.
func ripe(t *testing.T) *ground {
	t.Helper()
	g := newGround(t)
	g.due = stale
	g.apply("me", full+leftLongAgo+leftLately)
	g.sweeps()
	g.remove(httpRoutes, "orphan")
	g.sweeps()
	g.later(25 * time.Hour)
	g.sweeps() // removes the listeners and marks their Certificates
	g.remove(httpRoutes, "gone", "gone-set", "gone-one", "gone-flux")
	g.remove(grpcRoutes, "gone")
	g.apply("me", changed)
	g.sweeps()
	g.later(25 * time.Hour)
	g.apply("me", gatewayOf("redir", "http: {listener: true, redirect: false, port: 8080}", ""))
	g.apply("me", strings.Replace(ingressOfUsed, "SECRET", certificateOf("edge", "used.example.com"), 1))
	return g
}
