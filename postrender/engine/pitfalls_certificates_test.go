package engine

import (
	"fmt"
	"strings"
	"testing"
)

func apex(mode string, children ...any) Keys {
	return Keys{"certificates": mode, "apex": "example.com", "childApexes": children}
}

// children are child apexes, each of which adds a name to the Certificate.
func children(count int) []any {
	out := make([]any, count)
	for i := range out {
		out[i] = fmt.Sprintf("k%d.example.com", i)
	}
	return out
}

// withAge is a claiming Certificate of an age.
func withAge(name, created string) string {
	return claimingCertificate(name, "infra", `, creationTimestamp: "`+created+`"`, "a.example.com")
}

const solver = `---
kind: HTTPRoute
metadata: {name: cm-acme-http-solver-x, namespace: infra, labels: {acme.cert-manager.io/http01-solver: "true"}}
spec: {parentRefs: [{name: edge}], hostnames: [a.example.com]}
`

const notAccepted = `---
kind: HTTPRoute
metadata: {name: shop, namespace: infra}
spec: {parentRefs: [{name: edge}], hostnames: [a.example.com]}
status: {parents: [{parentRef: {name: edge}, controllerName: x/y, conditions: [{type: Accepted, status: "False", reason: NoMatchingListenerHostname}]}]}
`

// acme is an issuer with solvers.
func acme(solvers string) string {
	return "---\napiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: le, namespace: infra}\nspec: {acme: {server: https://acme-v02.api.letsencrypt.org/directory, solvers: [" + solvers + "]}}\n"
}

var certificatePitfalls = []pitfall{{
	id: "P31", rule: "a wildcard in a certificate covers one label",
	examples: []example{
		{shows: "a deeper name", input: edge(plain) + shop("a.b.example.com"), keys: apex(Wildcard), has: []string{"NotCovered"}},
		{shows: "a child apex", input: edge(plain) + shop("a.b.example.com"), keys: apex(Wildcard, "b.example.com"), has: []string{`"*.b.example.com"`}, not: []string{"NotCovered"}},
		{shows: "a certificate of its own", input: edge(plain) + shop("a.b.example.com"), has: []string{`"dnsNames":["a.b.example.com"]`}},
	},
}, {
	id: "P32", rule: "an apex is two listeners and one certificate for both",
	examples: []example{{shows: "Wildcard", input: edge(plain), keys: apex(Wildcard), has: []string{"add https-wildcard-example-com-", "add https-example-com-", `"dnsNames":["example.com","*.example.com"]`}, check: countListeners(2)}},
}, {
	id: "P33", rule: "a route's wildcard becomes no certificate by itself",
	examples: []example{
		{shows: "a route", input: edge(plain) + shop(`"*.example.com"`), has: []string{"*.example.com: NoMatchingListenerHostname"}, not: []string{"certificate add"}, check: countListeners(0)},
		{shows: "a policy that names it", input: edge(plain) + shop(`"*.example.com"`), keys: Keys{"wildcards": []any{"*.example.com"}}, has: []string{`"dnsNames":["*.example.com"]`}},
		{shows: "a Certificate that names it", input: edge(plain) + web(`"*.example.com"`), has: []string{"add https-wildcard-example-com-"}},
	},
}, {
	id: "P34", rule: "a route without hostnames claims none",
	examples: []example{
		{shows: "an empty list", input: edge(plain) + shop(""), has: []string{"NoHostnames"}, check: countListeners(0)},
		{shows: "no list", input: edge(plain) + strings.Replace(shop(""), ", hostnames: []", "", 1), has: []string{"NoHostnames"}, check: countListeners(0)},
	},
}, {
	id: "P35", rule: "claims do not wait for a route to be accepted",
	examples: []example{{shows: "a route that is not", input: edge(plain) + notAccepted, has: []string{"a.example.com: Accepted https-a"}}},
}, {
	id: "P36", rule: "of two claims the older wins, then the name decides",
	examples: []example{
		{shows: "ages", input: edge(plain) + withAge("a", "2026-02-01T00:00:00Z") + withAge("b", "2026-01-01T00:00:00Z"), has: []string{"Certificate infra/a a.example.com: HostnameConflict", "Certificate infra/b a.example.com: Accepted"}},
		{shows: "names", input: edge(plain) + claimingCertificate("b", "infra", "", "a.example.com") + claimingCertificate("a", "infra", "", "a.example.com"), has: []string{"Certificate infra/a a.example.com: Accepted", "Certificate infra/b a.example.com: HostnameConflict"}},
	},
}, {
	id: "P37", rule: "an exact listener takes a name over from a wider one",
	examples: []example{
		{shows: "the wider one serves", input: edge(httpsListener("w", "*.example.com")) + shop("a.example.com"), has: []string{"a.example.com: Accepted w"}, check: countListeners(0)},
		{shows: "not before its certificate", input: edge(httpsListener("w", "*.example.com")) + shop("a.example.com"), keys: Keys{"cover": CoverExact}, has: []string{"CoveredByWider", "certificate add"}, check: countListeners(0)},
		{shows: "all of ours admit alike", input: edge(plain) + shop("a.example.com") + route("GRPCRoute", "app", "{name: edge, namespace: infra}", "a.example.com"), keys: Keys{"attach": map[string]any{"from": "All"}},
			has: []string{"GRPCRoute app/shop a.example.com: Accepted https-a", "HTTPRoute infra/shop a.example.com: Accepted https-a"}},
	},
}, {
	id: "P38", rule: "a route of an ACME challenge claims nothing",
	examples: []example{
		{shows: "alone", input: edge(plain) + solver, not: []string{"a.example.com"}, check: countListeners(0)},
		{shows: "beside the application", input: edge(plain) + solver + shop("a.example.com"), has: []string{"HTTPRoute infra/shop a.example.com: Accepted"}, not: []string{"solver"}},
	},
}, {
	id: "P39", rule: "HTTP-01 needs a plain listener that admits the Certificate's namespace",
	examples: []example{
		{shows: "ours", input: edge() + shop("a.example.com") + acme("{http01: {}}"), not: []string{"ChallengeUnreachable"},
			has: []string{`"acme.cert-manager.io/http01-parentrefkind":"Gateway","acme.cert-manager.io/http01-parentrefname":"edge"`, `{"allowedRoutes":{"namespaces":{"from":"Same"}},"name":"http"`}},
		{shows: "none", input: edge(httpsListener("a", "b.example.com")) + shop("a.example.com") + acme("{http01: {}}"), has: []string{"ChallengeUnreachable"}},
	},
}, {
	id: "P40", rule: "a wildcard needs an issuer with DNS-01",
	examples: []example{
		{shows: "without", input: edge(plain) + acme("{http01: {}}"), keys: apex(Wildcard), has: []string{"WildcardNeedsDNS01"}},
		{shows: "with", input: edge(plain) + acme("{dns01: {}}"), keys: apex(Wildcard), not: []string{"WildcardNeedsDNS01"}},
	},
}, {
	id: "P41", rule: "no name twice, and none that a wildcard of the certificate covers",
	examples: []example{
		{shows: "two kinds of routes", input: edge(plain) + shop("a.example.com, a.example.com") + route("GRPCRoute", "infra", "{name: edge}", "a.example.com"), has: []string{`"dnsNames":["a.example.com"]`}},
		{shows: "a child apex", input: edge(plain), keys: apex(Wildcard, "a.example.com"), has: []string{`"dnsNames":["example.com","*.example.com","*.a.example.com"]`}},
	},
}, {
	id: "P42", rule: "each hostname has a certificate of its own, and none has more than 100 names",
	examples: []example{
		{shows: "two hostnames", input: edge(plain) + shop("a.example.com, b.example.com"), has: []string{`"dnsNames":["a.example.com"]`, `"dnsNames":["b.example.com"]`},
			not: []string{`"a.example.com","b.example.com"`}},
		{shows: "a name that cannot be issued harms no other", input: edge(plain) + shop("192.0.2.1, b.example.com"), has: []string{"192.0.2.1: UnsupportedValue", `"dnsNames":["b.example.com"]`}},
		{shows: "100 names", input: edge(plain), keys: apex(Wildcard, children(98)...), not: []string{"TooManyNames"}},
		{shows: "101 names", input: edge(plain), keys: apex(Wildcard, children(99)...), has: []string{"TooManyNames"}},
	},
}, {
	id: "P43", rule: "no commonName",
	examples: []example{{shows: "a long hostname", input: edge(plain) + shop(strings.Repeat("a", 60)+".example.com"), has: []string{`"dnsNames":["` + strings.Repeat("a", 60)}, not: []string{"commonName"}}},
	refuses:  []string{"kind: Certificate\nmetadata: {name: c}\nspec: {secretName: s, commonName: " + strings.Repeat("a", 70) + ", issuerRef: {name: le}}"},
}, {
	id: "P44", rule: "a name of a Certificate may be none for a listener",
	examples: []example{{shows: "the others are served", input: edge(plain) + web(`_x.example.com, "a.*.example.com", ok.example.com`),
		has: []string{"_x.example.com: UnsupportedValue", "a.*.example.com: UnsupportedValue", "ok.example.com: Accepted"}, check: countListeners(1)}},
	takes: []string{"kind: Certificate\nmetadata: {name: c}\nspec: {secretName: s, dnsNames: ['a.*.example.com'], issuerRef: {name: le}}"},
}}

// namesOf returns the names of the Certificates that a plan makes.
func namesOf(t *testing.T, plan *Plan) []string {
	t.Helper()
	var out []string
	for _, c := range plan.Certificates {
		if c.Name != c.SecretName {
			t.Errorf("Certificate %s writes Secret %s", c.Name, c.SecretName)
		}
		out = append(out, c.Name)
	}
	return out
}
