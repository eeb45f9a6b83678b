package jobs_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gatewright/gatewright/postrender/engine"
)

// attack is something that a tenant writes, in a sentence, and what is refused to
// it. What it may have by it is granted.
type attack struct {
	name     string
	manifest string
	granted  []string          // hostname:port on the Gateway
	refused  map[string]string // reasons by hostname
}

// run lets the tenant do all of the attacks, sweeps, and looks whether each got
// what it may and no more; then time passes, and the victim has all that it had.
func (c *tenancy) run(attacks []attack) {
	c.t.Helper()
	want := map[string]string{}
	for _, a := range attacks {
		if err := c.act("tenant", a.manifest); err != nil {
			c.t.Fatalf("%s: %v", a.name, err)
		}
		c.legal = append(c.legal, a.granted...)
		for hostname, reason := range a.refused {
			want[hostname] = reason
		}
	}
	r := c.stands()
	c.wantVictimHeard(r)
	got := c.reasons(r)
	for _, a := range attacks {
		c.t.Run(a.name, func(t *testing.T) {
			for hostname, reason := range a.refused {
				if got[hostname] != reason {
					t.Errorf("%s: refused for %q, want %q", hostname, got[hostname], reason)
				}
			}
		})
	}
	c.wantRefused(r, want)
}

// What the tenant of these tests may do is what its role says, and no more.
func TestTenantHasItsRightsAlone(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "")
	for what, manifest := range map[string]string{
		"route in the victim's namespace":         strings.Replace(claimBy("HTTPRoute", "x", "x.example.com"), "name: x,", "name: x, namespace: VICTIM,", 1),
		"Certificate in the platform's namespace": strings.Replace(certificateFor("x", onEdge, "x.example.com"), "name: x,", "name: x, namespace: PLATFORM,", 1),
		"grant": grantOfAll,
	} {
		if err := c.act("tenant", manifest); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v, want forbidden", what, err)
		}
	}
}

const fence = `apex: example.com, hostnames: {allow: ["*.example.com"], perNamespace: {VICTIM: ["*.v.example.com"], TENANT: ["*.t.example.com"]}}`

// A tenant gets no hostname outside its fence, however it is written and whoever
// seems to ask.
func TestTenantStaysWithinItsFence(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, fence, "referencegrants")
	const outside, elsewhere = engine.ReasonNotAllowed, engine.ReasonNoHostname
	long := strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + ".t.example.com"
	tooLong := strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + "." + strings.Repeat("d", 48) + ".t.example.com"
	c.run([]attack{
		{"within the fence it gets what it asks for", claimBy("HTTPRoute", "mine", "mine.t.example.com"), []string{"mine.t.example.com:443"}, nil},
		{"the bare name of its fence is outside", claimBy("HTTPRoute", "bare", "t.example.com"), nil, map[string]string{"t.example.com": outside}},
		{"a name that ends alike is outside", claimBy("HTTPRoute", "alike", "eviltt.example.com", "x.evilt.example.com"), nil,
			map[string]string{"eviltt.example.com": outside, "x.evilt.example.com": outside}},
		{"a name of the victim's fence is outside", claimBy("GRPCRoute", "theirs", "shop.v.example.com", "new.v.example.com"), nil,
			map[string]string{"shop.v.example.com": outside, "new.v.example.com": outside}},
		{"the apex is outside", claimBy("HTTPRoute", "apex", "example.com"), nil, map[string]string{"example.com": elsewhere}},
		{"another domain is outside", claimBy("HTTPRoute", "other", "t.example.com.evil.test"), nil, map[string]string{"t.example.com.evil.test": elsewhere}},
		{"a wildcard of the whole apex is outside", claimBy("HTTPRoute", "wild", `"*.example.com"`), nil, map[string]string{"*.example.com": outside}},
		{"a wildcard of its own fence becomes no Certificate unasked", claimBy("HTTPRoute", "wild-own", `"*.t.example.com"`), nil, map[string]string{"*.t.example.com": elsewhere}},
		{"a punycode name is no way around", claimBy("HTTPRoute", "puny", "xn--t-fia.example.com"), nil, map[string]string{"xn--t-fia.example.com": outside}},
		{"the longest names are fenced, too", claimBy("HTTPRoute", "long", long), []string{long + ":443"}, nil},
		{"a Certificate in capitals and with a final dot is the same name", grantOfAll + certificateFor("capitals", onEdge, "SHOP.V.Example.Com.", "Cert.T.Example.COM."),
			[]string{"cert.t.example.com:443"}, map[string]string{"shop.v.example.com": outside}},
		{"a Certificate in letters that look like ASCII is the same name", certificateFor("wide", onEdge, `"ｓｈｏｐ2.v.example.com"`, `"shop3。v。example。com"`), nil,
			map[string]string{"shop2.v.example.com": outside, "shop3.v.example.com": outside}},
		{"an odd asterisk is no wildcard", certificateFor("asterisk", onEdge, `"＊.t.example.com"`, `"a.*.t.example.com"`, `"*"`, `"*."`), nil,
			map[string]string{"＊.t.example.com": engine.ReasonUnsupported, "a.*.t.example.com": engine.ReasonUnsupported, "*": engine.ReasonUnsupported, "*.": engine.ReasonUnsupported}},
		{"an IP address is no hostname", certificateFor("address", onEdge, `"192.0.2.1"`, `"2001:db8::1"`, `"1.t.example.com.4"`), nil,
			map[string]string{"192.0.2.1": engine.ReasonUnsupported, "2001:db8::1": engine.ReasonUnsupported, "1.t.example.com.4": engine.ReasonUnsupported}},
		{"a name that is too long is refused", certificateFor("too-long", onEdge, tooLong), nil, map[string]string{tooLong: engine.ReasonUnsupported}},
		{"the alias annotations are fenced, too", certificateFor("alias", "gateway-cert-operator.io/gateway-name: edge, gateway-cert-operator.io/gateway-namespace: PLATFORM", "alias.v.example.com"), nil,
			map[string]string{"alias.v.example.com": outside}},
		{"a label of ours changes nothing", strings.Replace(certificateFor("labelled", onEdge, "labelled.v.example.com"), "metadata: {", "metadata: {labels: {gatewright.dev/for: edge}, ", 1), nil,
			map[string]string{"labelled.v.example.com": outside}},
		{"one that looks like ours is no claim",
			strings.Replace(certificateFor("edge-x-0123456789ab-tls", onEdge, "looks.v.example.com"), "metadata: {", "metadata: {labels: {gatewright.dev/for: edge}, ", 1), nil, nil},
		{"one that looks like the shim's is no claim", strings.Replace(certificateFor("shim", onEdge, "shim.v.example.com"), "metadata: {",
			"metadata: {ownerReferences: [{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, name: edge, uid: 00000000-0000-0000-0000-000000000000, controller: true}], ", 1), nil, nil},
		{"a route that looks like our redirect is no claim", routeTo("HTTPRoute", "edge-https-0123456789ab-redirect", "{name: edge, namespace: PLATFORM}", "redirect.v.example.com", "labels: {gatewright.dev/for: edge}"), nil, nil},
		{"a route that looks like a challenge is no claim", routeTo("HTTPRoute", "solver", "{name: edge, namespace: PLATFORM}", "solver.v.example.com", `labels: {acme.cert-manager.io/http01-solver: "true"}`), nil, nil},
		{"a TLSRoute takes no hostname either", claimBy("TLSRoute", "tls", "tls.v.example.com"), nil, map[string]string{"tls.v.example.com": engine.ReasonNotAllowed}},
	})
	if got := c.certificatesIn(c.tenant); len(got) > 0 {
		t.Errorf("the sweep wrote Certificates into the tenant's namespace: %v", got)
	}
}
