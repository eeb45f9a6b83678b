package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/postrender/engine"
)

// waitASecond lets what comes next be younger: the server's times have seconds.
func waitASecond() { time.Sleep(1100 * time.Millisecond) }

// A tenant that may claim what the victim claims keeps nobody from having it,
// whether its own claim is right or not.
func TestTenantBlocksNobody(t *testing.T) {
	for _, policy := range []string{"", oneOwner} {
		t.Run(policy, func(t *testing.T) {
			c := newTenancy(t, policy)
			const refused = engine.ReasonRefNotPermitted
			c.does(certificateFor("before", onEdge, "early.v.example.com"))
			c.wantRefused(c.sweep(), map[string]string{"early.v.example.com": refused})
			waitASecond()
			c.serveVictim("early.v.example.com")
			c.run([]attack{
				{"a Certificate for a hostname of the victim, that the Gateway may not read", certificateFor("late", onEdge, "shop.v.example.com"), nil,
					map[string]string{"shop.v.example.com": refused}},
				{"one that was there before", "", nil, map[string]string{"early.v.example.com": refused}},
			})
		})
	}
}

// What the tenant writes is refused alone: it neither stops the sweep nor
// freezes the Gateway.
func TestTenantFreezesNothing(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "")
	var many strings.Builder
	for i := range 10 {
		var names []string
		for j := range 16 {
			names = append(names, fmt.Sprintf("n%d-%d.many.example.com", i, j))
		}
		many.WriteString(claimBy("HTTPRoute", fmt.Sprintf("many-%d", i), names...))
	}
	c.run([]attack{
		{"an annotation without a namespace before the slash", certificateFor("slash", "gatewright.dev/gateway: /edge", "slash.example.com"), nil,
			map[string]string{"slash.example.com": engine.ReasonNoMatchingParent}},
		{"an annotation without a name behind it", certificateFor("nameless", "gatewright.dev/gateway: PLATFORM/", "nameless.example.com"), nil,
			map[string]string{"nameless.example.com": engine.ReasonNoMatchingParent}},
		{"an annotation of slashes", certificateFor("slashes", "gatewright.dev/gateway: //edge", "slashes.example.com"), nil,
			map[string]string{"slashes.example.com": engine.ReasonNoMatchingParent}},
		{"an annotation of blanks", certificateFor("blank", `gatewright.dev/gateway: " "`, "blank.example.com"), nil,
			map[string]string{"blank.example.com": engine.ReasonNoMatchingParent}},
		{"an alias without a name", certificateFor("alias", "gateway-cert-operator.io/gateway-namespace: PLATFORM", "alias.example.com"), nil, nil},
		{"a port that is none", certificateFor("port", onEdge+`, gatewright.dev/listener-port: "0x1bb"`, "port.example.com"), nil,
			map[string]string{"port.example.com": engine.ReasonUnsupported}},
		{"the port of the plain listener", certificateFor("plain", onEdge+`, gateway-cert-operator.io/listener-port: "80"`, "plain.example.com"), nil,
			map[string]string{"plain.example.com": engine.ReasonUnsupported}},
		{"a name that is no name", certificateFor("bad", onEdge, `""`, `"."`, `"-x.example.com"`, `"a b"`), nil,
			map[string]string{"": engine.ReasonUnsupported, ".": engine.ReasonUnsupported, "-x.example.com": engine.ReasonUnsupported, "a b": engine.ReasonUnsupported}},
		{"a Certificate without names", certificateFor("none", onEdge), nil, nil},
		{"a route to a section that is another's", routeTo("HTTPRoute", "pin", "{name: edge, namespace: PLATFORM, sectionName: hand}", "pin.example.com", ""), nil,
			map[string]string{"pin.example.com": engine.ReasonNoHostname}},
		{"a route to a Gateway that is not there", routeTo("HTTPRoute", "lost", "{name: lost, namespace: PLATFORM}", "lost.example.com", ""), nil,
			map[string]string{"lost.example.com": engine.ReasonNoMatchingParent}},
		{"a route without hostnames that sends everything to https",
			"---\n" + `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: https}, spec: {parentRefs: [{name: edge, namespace: PLATFORM}], rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}]}}`, nil, nil},
	})
	_ = many
}

// Where a policy has an issuer for some hostnames that may not be used, those are
// refused, and nothing else is.
func TestTenantAsksForAnIssuerThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, `issuers: [{hostnames: ["*.forbidden.example.com"], issuerRef: {kind: ClusterIssuer, name: forbidden}}]`)
	c.options.Policies.AllowedIssuers = []string{"ClusterIssuer/ca"}
	c.run([]attack{
		{"a hostname whose issuer is not allowed", claimBy("HTTPRoute", "none", "x.forbidden.example.com"), nil,
			map[string]string{"x.forbidden.example.com": engine.ReasonUnsupported}},
	})
}

// In a shared policy a Certificate of the tenant serves a hostname of both, but
// takes nobody's certificate away before it is there.
func TestTenantTakesNoCertificateAway(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "", "referencegrants")
	c.run([]attack{
		{"a Certificate that never becomes ready", grantOfAll + certificateFor("never", onEdge, "shop.v.example.com"), nil, nil},
	})
	for _, listener := range listenerObjects(c.get("gateway", "edge")) {
		if strings.Contains(fmt.Sprint(listener), c.tenant) {
			t.Errorf("the tenant's Secret is presented: %v", listener)
		}
	}
}
