package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// What is on its way out and cannot go, and Gateways that are, stop nothing.
func TestTenantsObjectsThatDoNotGo(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "", "listenersets")
	const stuck = "finalizers: [example.com/never]"
	c.does(routeTo("HTTPRoute", "stuck", "{name: edge, namespace: PLATFORM}", "stuck.t.example.com", stuck) +
		strings.Replace(certificateFor("stuck", onEdge, "stuck-too.t.example.com"), "metadata: {", "metadata: {"+stuck+", ", 1) +
		strings.Replace(setOf("stuck", "", harmless), "metadata: {", "metadata: {"+stuck+", ", 1) + toSet("set", "stuck", "set.t.example.com"))
	c.Apply(t, "platform", c.namespace, gatewayOf("leaving", "", stuck))
	c.does(strings.ReplaceAll(claimBy("HTTPRoute", "leaving", "leaving.t.example.com"), "name: edge", "name: leaving"))
	for kind, name := range map[string]string{engine.KindHTTPRoute: "stuck", engine.KindCertificate: "stuck", engine.KindListenerSet: "stuck"} {
		c.undoes(kind, name)
	}
	c.Kubectl(t, "", "delete", "gateway", "leaving", "-n", c.namespace, "--wait=false")
	t.Cleanup(func() {
		for _, args := range [][]string{{"gateway", "leaving", "-n", c.namespace}, {"httproute", "stuck", "-n", c.tenant}, {"certificate", "stuck", "-n", c.tenant}, {"listenerset", "stuck", "-n", c.tenant}} {
			if _, err := c.TryKubectl("", append([]string{"patch", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`}, args...)...); err != nil {
				t.Error(err)
			}
		}
	})
	c.legal = append(c.legal, "stuck.t.example.com:443") // whoever is stuck may still be served
	c.stands()
	if err := c.Client.CoreV1().Namespaces().Delete(t.Context(), c.tenant, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.stands()
}

// Objects as large as the API server takes cost a run no more than they should.
func TestTenantsObjectsAreLarge(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "cover: Exact", "listenersets", "referencegrants")
	var names, wild []string
	for i := range 10_000 {
		names = append(names, fmt.Sprintf("n%d.t.example.com", i))
		wild = append(wild, fmt.Sprintf(`"*.w%d.example.com"`, i))
	}
	c.does(grantOfAll + certificateFor("names", onEdge, names...) + certificateFor("wild", onEdge, wild...))
	for i := range 40 { // of a quarter of a megabyte each
		c.does(routeTo("HTTPRoute", fmt.Sprintf("large-%d", i), "{name: edge, namespace: PLATFORM}", "", `annotations: {x: "`+strings.Repeat("x", 250_000)+`"}`))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	start := time.Now()
	r := c.sweep()
	t.Logf("a sweep took %v", time.Since(start).Round(time.Millisecond))
	if ctx.Err() != nil || r.Result == report.Failed {
		t.Errorf("%v: %s", ctx.Err(), r.Message)
	}
	if got := len(c.listeners("edge")); got != 64 {
		t.Errorf("%d listeners, want 64", got)
	}
	if !strings.Contains(strings.Join(c.listeners("edge"), " "), "shop.v.example.com:443") {
		t.Error("the victim's listener is gone")
	}
}

// What the API server takes although nobody would write it costs nothing but
// itself.
func TestTenantsObjectsAreOdd(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner, "listenersets", "referencegrants", "issuers")
	var parents, values, sets []string
	for i := range 32 {
		parents = append(parents, fmt.Sprintf("{name: edge, namespace: PLATFORM, sectionName: s%d}", i))
	}
	for i := range 5000 {
		values = append(values, fmt.Sprintf("v%d", i))
	}
	for i := range 64 {
		sets = append(sets, fmt.Sprintf("{name: l%d, port: %d, protocol: example.com/own}", i, 20000+i))
	}
	selector := func(expression string) string {
		return "{name: own, port: 9443, protocol: HTTPS, hostname: odd.t.example.com, tls: {certificateRefs: [{name: own}]}, allowedRoutes: {namespaces: {from: Selector, selector: {matchExpressions: [" + expression + "]}}}}"
	}
	const caps = "{group: gateway.networking.k8s.io, kind: ListenerSet, name: bogus}"
	for name, manifest := range map[string]string{
		"a selector with an unknown operator":  setOf("bogus", "", selector("{key: a, operator: Bogus, values: [b]}")) + routeTo("HTTPRoute", "bogus", caps, "odd.t.example.com", ""),
		"a selector with thousands of values":  setOf("bomb", "", selector("{key: a, operator: In, values: ["+strings.Join(values, ", ")+"]}")) + toSet("bomb", "bomb", "odd.t.example.com"),
		"listeners of an unknown protocol":     setOf("protocols", "", strings.Join(sets, ", ")),
		"a ListenerSet of itself":              strings.Replace(setOf("self", "", harmless), "parentRef: {name: edge, namespace: PLATFORM}", "parentRef: {group: gateway.networking.k8s.io, kind: ListenerSet, name: self}", 1),
		"a ListenerSet of no Gateway":          strings.Replace(setOf("none", "", harmless), "name: edge, namespace: PLATFORM", "name: none", 1) + toSet("none", "none", "none.t.example.com"),
		"many parentRefs":                      routeTo("HTTPRoute", "parents", strings.Join(parents, ", "), "parents.t.example.com", ""),
		"a Service as its parent":              routeTo("HTTPRoute", "mesh", `{group: "", kind: Service, name: web}`, "mesh.t.example.com", ""),
		"an unknown kind as its parent":        routeTo("HTTPRoute", "kind", "{group: example.com, kind: Thing, name: edge, namespace: PLATFORM}", "kind.t.example.com", ""),
		"the longest name":                     routeTo("HTTPRoute", strings.Repeat("n", 253), "{name: "+strings.Repeat("g", 253)+", namespace: PLATFORM}", "name.t.example.com", ""),
		"no rules, no parents":                 "\n---\n{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: empty}, spec: {}}",
		"a Certificate of next to nothing":     "\n---\n{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: nothing, annotations: {gatewright.dev/gateway: PLATFORM/edge}}, spec: {secretName: \"\", dnsNames: [nothing.t.example.com], issuerRef: {name: x}}}",
		"a grant to everybody":                 strings.Replace(grantOfAll, "namespace: PLATFORM", "namespace: VICTIM", 1),
		"an issuer with nothing in it":         "\n---\n{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: nothing}, spec: {}}",
		"an issuer by the Secret of our names": "\n---\n{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: ca}, spec: {ca: {secretName: " + certificateOf("edge", "after-3.v.example.com") + "}}}",
	} {
		if err := c.act("tenant", manifest); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.wantVictimHeard(c.stands())
}
