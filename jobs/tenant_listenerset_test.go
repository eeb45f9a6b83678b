package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// setOf is a ListenerSet of the tenant's on the platform's Gateway.
func setOf(name, annotations, listeners string) string {
	return fmt.Sprintf(`
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: %s, annotations: {is: mine, %s}}
spec:
  parentRef: {name: edge, namespace: PLATFORM}
  listeners: [%s]
`, name, annotations, listeners)
}

const harmless = "{name: own, port: 8443, protocol: HTTPS, hostname: own.t.example.com, tls: {certificateRefs: [{name: own}]}}"

// toSet is a route to a ListenerSet of its namespace.
func toSet(name, set string, hostnames ...string) string {
	return routeTo("HTTPRoute", name, "{group: gateway.networking.k8s.io, kind: ListenerSet, name: "+set+"}", strings.Join(hostnames, ", "), "")
}

// A tenant who may write ListenerSets gets no more by what it writes on them than
// the Gateway's policy allows.
func TestTenantsListenerSetHasThePolicyOfItsGateway(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, fence+", maxListenersPerNamespace: 3", "listenersets", "issuers")
	c.options.Policies.AllowedIssuers = []string{"ClusterIssuer/ca"}
	const wide = `gatewright.dev/policy: '{apex: evil.test, hostnames: {perNamespace: {"*": ["*.evil.test", "*.example.com"]}}, maxListenersPerNamespace: 60}'`
	const rendered = `gatewright.dev/rendered: '{"version":"v1alpha1","policy":{"hostnames":{"allow":["*.v.example.com"]},"maxListenersPerNamespace":60},"listeners":[]}'`
	const outside = engine.ReasonNotAllowed
	c.run([]attack{
		{"within the fence and the quota", setOf("fair", "", harmless) + toSet("fair", "fair", "a.t.example.com", "b.t.example.com", "c.t.example.com", "d.t.example.com"), nil,
			map[string]string{"d.t.example.com": engine.ReasonTooMany}},
		{"a policy of its own is no way out of the fence", setOf("wide", wide, strings.ReplaceAll(harmless, "own.t", "wide.t")) + toSet("wide", "wide", "x.evil.test", "shop2.v.example.com"), nil,
			map[string]string{"x.evil.test": engine.ReasonNoHostname, "shop2.v.example.com": outside}},
		{"nor is one that seems to be rendered", setOf("rendered", rendered, strings.ReplaceAll(harmless, "own.t", "rendered.t")) + toSet("rendered", "rendered", "shop3.v.example.com"), nil,
			map[string]string{"shop3.v.example.com": outside}},
		{"a hostname of the victim's fence, by hand, stands in nobody's way", setOf("squat", "", "{name: squat, port: 443, protocol: HTTPS, hostname: squat.v.example.com, tls: {certificateRefs: [{name: own}]}}"), nil, nil},
	})
	c.serveVictim("squat.v.example.com")
	if got := c.certificatesIn(c.tenant); len(got) != 3 {
		t.Errorf("the sweep wrote %v into the tenant's namespace, want three Certificates", got)
	}
}

// Its issuer has to be allowed; one that is not costs its ListenerSet alone.
func TestTenantsListenerSetUsesAnAllowedIssuer(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "", "listenersets", "issuers")
	c.options.Policies.AllowedIssuers = []string{"ClusterIssuer/ca"}
	c.does(setOf("forbidden", `gatewright.dev/policy: '{issuerRef: {kind: ClusterIssuer, name: other}}'`, harmless) + toSet("xx", "forbidden", "x.t.example.com"))
	c.does(setOf("exception", `gatewright.dev/policy: '{issuers: [{hostnames: ["*.t.example.com"], issuerRef: {kind: ClusterIssuer, name: other}}]}'`, strings.ReplaceAll(harmless, "own.t", "exception.t")) +
		toSet("yy", "exception", "y.t.example.com"))
	c.sweep()
	for _, name := range c.certificatesIn(c.tenant) {
		if issuer := c.Kubectl(t, "", "get", "certificate", name, "-n", c.tenant, "-o", "jsonpath={.spec.issuerRef.name}"); issuer != "ca" {
			t.Errorf("Certificate %s is by %s", name, issuer)
		}
	}
	c.serveVictim("new.v.example.com")
}

// What is broken on ListenerSets costs nothing but themselves.
func TestTenantsListenerSetBreaksAlone(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner, "listenersets")
	for i, broken := range []struct{ name, manager, annotation string }{
		{"a policy that is no YAML", "tenant", `gatewright.dev/policy: '{{{'`},
		{"a policy with an unknown key", "tenant", `gatewright.dev/policy: '{nonsense: 1}'`},
		{"a policy that is a list", "tenant", `gatewright.dev/policy: '[]'`},
		{"a state that is no JSON", "tenant", `gatewright.dev/state: '{{{'`},
		{"a state of another version", "tenant", `gatewright.dev/state: '{"version":"v9"}'`},
		{"a state that yields for ever", "tenant", `gatewright.dev/state: '{"version":"v1alpha1","yields":{"shop.v.example.com":"9999-01-01T00:00:00Z"},"holders":{"new.v.example.com":{"namespace":"TENANT"}}}'`},
		{"rendered that is no JSON", "tenant", `gatewright.dev/rendered: 'x'`},
		{"one that is to be left alone", "tenant", `gatewright.dev/manage: "false"`},
		// All of it is applied as by the sweep, whose own apply would take it away.
		{"the sweep's field manager", engine.FieldManager, ""},
	} {
		name := fmt.Sprintf("broken-%d", i)
		manifest := setOf(name, broken.annotation, strings.ReplaceAll(harmless, "own.t", name+".t")) + toSet(name, name, name+".x.example.com")
		if err := c.act(broken.manager, manifest); err != nil {
			t.Fatalf("%s: %v", broken.name, err)
		}
	}
	sweep := func() {
		t.Helper()
		r, err := c.trySweep() // with problems, which it tells
		if err != nil || r.Result == report.Failed {
			t.Fatal(told(r, err))
		}
		c.quiet(r)
		c.wantVictimHeard(r)
		c.later(25 * time.Hour)
	}
	sweep()
	sweep()
	c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "new", "new.v.example.com")))
	c.legal = append(c.legal, "new.v.example.com:443")
	sweep()
	for i := range 9 { // they are as the tenant left them, but for what is served on them
		if c.Kubectl(t, "", "get", "listenerset", fmt.Sprintf("broken-%d", i), "-n", c.tenant, "-o", "jsonpath={.spec.listeners[0].name}") != "own" {
			t.Errorf("broken-%d has lost its listener", i)
		}
	}
}

// A ListenerSet of the victim's is a parent as the Gateway is: a tenant gets
// there what it may have on the Gateway, and takes nothing of the victim's.
func TestTenantOnTheVictimsListenerSet(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, fence+", "+oneOwner+", maxListenersPerNamespace: 2")
	c.Apply(t, "victim", c.victim, c.named(setOf("theirs", "", strings.ReplaceAll(harmless, "own.t", "own.v"))+toSet("set", "theirs", "set.v.example.com")))
	c.sweep()
	const onTheirs = "{group: gateway.networking.k8s.io, kind: ListenerSet, name: theirs, namespace: VICTIM}"
	c.run([]attack{
		{"the victim's hostname of the set", routeTo("HTTPRoute", "set", onTheirs, "set.v.example.com", ""), nil, map[string]string{"set.v.example.com": engine.ReasonNotAllowed}},
		{"the victim's hostname of the Gateway", routeTo("HTTPRoute", "shop", onTheirs, "shop.v.example.com", ""), nil, map[string]string{"shop.v.example.com": engine.ReasonNotAllowed}},
		{"the listener that the victim wrote", routeTo("HTTPRoute", "own", strings.Replace(onTheirs, "}", ", sectionName: own}", 1), "own.v.example.com", ""), nil, map[string]string{"own.v.example.com": engine.ReasonNotAllowed}},
		{"more than its quota", routeTo("HTTPRoute", "more", onTheirs, "a.t.example.com, b.t.example.com, c.t.example.com", ""), nil, map[string]string{"c.t.example.com": engine.ReasonTooMany}},
	})
	var names []string
	set, err := c.Dynamic.Resource(listenerSets).Namespace(c.victim).Get(t.Context(), "theirs", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listenerObjects(set) {
		names = append(names, l["hostname"].(string))
	}
	slices.Sort(names)
	if want := "a.t.example.com b.t.example.com own.v.example.com set.v.example.com"; strings.Join(names, " ") != want {
		t.Errorf("the set has %q, want %s", names, want)
	}
}
