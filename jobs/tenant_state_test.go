package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/postrender/engine"
)

// state is what the sweep remembers of the Gateway.
func (c *tenancy) state() string {
	return c.get("gateway", "edge").GetAnnotations()[engine.AnnotationState]
}

// A tenant that changes its route before every sweep, but not what it asks for,
// lets the sweep write nothing; one that changes what it asks for past its quota
// lets it write a mark at most, and not without end.
func TestTenantMakesNoWrites(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner+", maxListenersPerNamespace: 2")
	c.does(claimBy("HTTPRoute", "a", "a.t.example.com", "b.t.example.com"))
	c.sweep()
	for i, change := range []string{
		claimBy("HTTPRoute", "a", "b.t.example.com", "a.t.example.com"),
		claimBy("HTTPRoute", "a", "a.t.example.com", "b.t.example.com", "a.t.example.com"),
		routeTo("HTTPRoute", "a", "{name: edge, namespace: PLATFORM, port: 443}", "a.t.example.com, b.t.example.com", ""),
		routeTo("HTTPRoute", "a", "{name: edge, namespace: PLATFORM}", "a.t.example.com, b.t.example.com", fmt.Sprintf("annotations: {at: %q}", time.Now())),
		claimBy("HTTPRoute", "twin", "a.t.example.com", "b.t.example.com"),
		claimMany("many", "past-the-quota-", 16),
		claimMany("many", "others-past-the-quota-", 16),
	} {
		c.does(change)
		if r := c.sweep(); r.Writes != 0 {
			t.Errorf("change %d lets the sweep write: %s", i, lines(r))
		}
	}
	c.undoes(engine.KindHTTPRoute, "twin")
	c.undoes(engine.KindHTTPRoute, "many")
	for i := range 6 {
		c.does(claimMany("a", fmt.Sprintf("flip%d-", i%2), 2))
		if r := c.sweep(); r.Writes > 1 {
			t.Errorf("flip %d: %d writes: %s", i, r.Writes, lines(r))
		}
	}
}

// What a tenant asks for and does not get is not remembered: the state stays
// small, however much it asks for.
func TestTenantFillsNoState(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{oneOwner, oneOwner + ", maxListenersPerNamespace: 3", fence + ", " + oneOwner} {
		t.Run(policy, func(t *testing.T) {
			c := newTenancy(t, policy, "referencegrants")
			c.does(grantOfAll)
			for i := range 4 {
				var names []string
				for j := range 500 {
					names = append(names, fmt.Sprintf("n%d-%d.%s.t.example.com", i, j, strings.Repeat("x", 60)))
				}
				c.does(certificateFor(fmt.Sprintf("c%d", i), onEdge, names...))
				c.sweep()
				if got := len(c.state()); got > 64*400 {
					t.Errorf("the state has %d bytes", got)
				}
				c.undoes(engine.KindCertificate, fmt.Sprintf("c%d", i))
				c.sweep()
			}
			if got := len(c.state()); got > 64*400 {
				t.Errorf("the state has %d bytes", got)
			}
		})
	}
}

// What the sweep writes on Gateways means nothing on what a tenant writes.
func TestTenantsAnnotationsMeanNothing(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner+", maxListenersPerNamespace: 4", "referencegrants")
	forged := strings.Join([]string{
		`gatewright.dev/state: '{"version":"v1alpha1","holders":{"shop.v.example.com":{"namespace":"TENANT"},"next.v.example.com":{"namespace":"TENANT"}},"yields":{"shop.v.example.com":"9999-01-01T00:00:00Z"},"stale":{"` + engine.ListenerName("shop.v.example.com", 443) + `":"2000-01-01T00:00:00Z"}}'`,
		`gatewright.dev/rendered: '{"version":"v1alpha1","policy":{"maxListenersPerNamespace":60},"listeners":["` + engine.ListenerName("shop.v.example.com", 443) + `"]}'`,
		`gatewright.dev/policy: '{hostnameOwnership: Shared, maxListenersPerNamespace: 0, issuerRef: {kind: ClusterIssuer, name: evil}}'`,
		`gatewright.dev/stale-since: "2000-01-01T00:00:00Z"`, `gatewright.dev/manage: "true"`,
		`meta.helm.sh/release-name: edge, meta.helm.sh/release-namespace: PLATFORM`,
	}, ", ")
	const old = `creationTimestamp: "2000-01-01T00:00:00Z", labels: {gatewright.dev/for: edge, app.kubernetes.io/managed-by: Helm}, `
	c.does(routeTo("HTTPRoute", "route", "{name: edge, namespace: PLATFORM}", "shop.v.example.com, a.t.example.com, b.t.example.com, c.t.example.com, d.t.example.com, e.t.example.com", old+"annotations: {"+forged+"}"))
	c.does(grantOfAll + strings.Replace(certificateFor("certificate", onEdge+", "+forged, "shop.v.example.com", "f.t.example.com"), "metadata: {", "metadata: {"+old, 1))
	c.legal = append(c.legal, "a.t.example.com:443", "b.t.example.com:443", "c.t.example.com:443", "d.t.example.com:443")
	c.serveVictim("next.v.example.com")
	c.wantRefused(c.stands(), map[string]string{"shop.v.example.com": engine.ReasonHostnameConflict,
		"e.t.example.com": engine.ReasonTooMany, "f.t.example.com": engine.ReasonTooMany})
	for _, name := range c.certificatesIn(c.namespace) {
		if issuer := c.Kubectl(t, "", "get", "certificate", name, "-n", c.namespace, "-o", "jsonpath={.spec.issuerRef.name}"); issuer != "ca" {
			t.Errorf("Certificate %s is by %s", name, issuer)
		}
	}
}

// Of claims that are new at the same sweep and of the same second, one wins, and
// goes on winning.
func TestTenantTiesWithTheVictim(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner)
	for try := range 5 { // until both are of one second
		victims := claimBy("HTTPRoute", fmt.Sprintf("tie%d", try), fmt.Sprintf("tie%d.example.com", try))
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		c.does(victims)
		c.Apply(t, "victim", c.victim, c.named(victims))
		c.legal = append(c.legal, fmt.Sprintf("tie%d.example.com:443", try))
	}
	before := c.sweep()
	c.quiet(before)
	for range 3 {
		r := c.sweep()
		if got := fmt.Sprint(c.reasons(r)); r.Writes != 0 || got != fmt.Sprint(c.reasons(before)) {
			t.Errorf("%d writes; refused %s, and before %v", r.Writes, got, c.reasons(before))
		}
	}
}

// A hostname that a route holds which is on its way out, and cannot go, stays
// its own for as long as the route is there, and no longer than the grace period
// after it.
func TestTenantHoldsByAFinalizer(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner)
	const stuck = "finalizers: [example.com/never]"
	c.does(routeTo("HTTPRoute", "stuck", "{name: edge, namespace: PLATFORM}", "stuck.example.com", stuck))
	c.legal = append(c.legal, "stuck.example.com:443")
	c.sweep()
	c.undoes(engine.KindHTTPRoute, "stuck")
	c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "stuck", "stuck.example.com", "free.v.example.com")))
	c.legal = append(c.legal, "free.v.example.com:443")
	c.later(100 * time.Hour)
	r := c.sweep()
	c.quiet(r)
	said := ""
	for _, v := range r.Refused {
		said += v.Namespace + " " + v.Hostname + " " + v.Reason
	}
	if want := c.victim + " stuck.example.com " + engine.ReasonHostnameConflict; said != want {
		t.Errorf("refused: %q, want %q", said, want)
	}
	c.does(routeTo("HTTPRoute", "stuck", "{name: edge, namespace: PLATFORM}", "stuck.example.com", "finalizers: []"))
	c.sweep()
	c.later(25 * time.Hour)
	c.wantVictimHeard(c.sweep())
	c.quiet(c.sweep())
}
