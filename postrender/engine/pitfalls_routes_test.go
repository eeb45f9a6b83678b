package engine

import (
	"strings"
	"testing"
)

// withTLS is a listener of a protocol that takes no tls.
func withTLS(protocol string) string {
	return "[{name: a, port: 80, protocol: " + protocol + ", tls: {mode: Terminate, certificateRefs: [{name: own}]}}]"
}

func admits(namespaces string) string {
	return "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {" + namespaces + "}}}]"
}

// grantFor lets a kind of the Gateway's namespace read a Secret elsewhere.
func grantFor(kind string) string {
	return "---\nkind: ReferenceGrant\napiVersion: gateway.networking.k8s.io/v1beta1\nmetadata: {name: g, namespace: certs}\n" +
		"spec: {from: [{group: gateway.networking.k8s.io, kind: " + kind + ", namespace: infra}], to: [{group: '', kind: Secret, name: s}]}\n"
}

// taking is a Gateway that takes the ListenerSets of its namespace.
var taking = strings.Replace(edge(plain), "spec: {", "spec: {allowedListeners: {namespaces: {from: Same}}, ", 1)

const foreignSecret = "{name: a, hostname: a.example.com, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: s, namespace: certs}]}}"

// oneRef: HTTPS presents one Secret.
func oneRef(t *testing.T, plan *Plan) {
	for _, l := range plan.Gateways[0].Listeners {
		refs := entries(below(l.Object(), "tls"), "certificateRefs")
		if l.Protocol == "HTTPS" && (len(refs) != 1 || refs[0]["kind"] != KindSecret || refs[0]["group"] != "") {
			t.Errorf("listener %s presents %v", l.Name, refs)
		}
	}
}

var routePitfalls = []pitfall{{
	id: "P16", rule: "no tls on HTTP, TCP or UDP",
	examples: []example{{shows: "the plain listener", input: edge(), has: []string{`"name":"http","port":80,"protocol":"HTTP"}`}}},
	refuses:  []string{withTLS("HTTP"), withTLS("TCP"), withTLS("UDP")},
}, {
	id: "P17", rule: "HTTPS ends TLS, and passing through is protocol TLS",
	examples: []example{{shows: "an entry", input: edge(plain), keys: passthrough(5432, "db.example.com"), has: []string{`"protocol":"TLS","tls":{"mode":"Passthrough"}`}}},
	refuses:  []string{"[{name: a, port: 443, protocol: HTTPS, tls: {mode: Passthrough}}]"},
}, {
	id: "P18", rule: "the mode is written out",
	examples: []example{{shows: "both", input: edge(plain) + shop("a.example.com"), keys: passthrough(5432, "db.example.com"), has: []string{`"tls":{"mode":"Passthrough"}`, `"mode":"Terminate"}`}}},
	refuses:  []string{"[{name: a, port: 443, protocol: TLS, tls: {}}]", "[{name: a, port: 443, protocol: TLS}]"},
}, {
	id: "P19", rule: "HTTPS has a certificate, although the API does not insist",
	examples: []example{
		{shows: "ours", input: edge(plain) + shop("a.example.com"), check: oneRef},
		{shows: "theirs", input: edge("{name: a, port: 443, protocol: HTTPS, hostname: a.example.com}"), has: []string{"NoCertificate"}},
	},
	takes: []string{"[{name: a, port: 443, protocol: HTTPS}]"},
}, {
	id: "P20", rule: "one certificateRef, to a Secret",
	examples: []example{{shows: "several claims", input: edge(plain) + shop("a.example.com") + web("a.example.com, b.example.com"), check: oneRef}},
	takes:    []string{"[{name: a, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: rsa}, {name: ecdsa}]}}]"},
}, {
	id: "P21", rule: "what is passed through has no certificate",
	examples: []example{{shows: "an entry", input: edge(plain) + route("TLSRoute", "infra", "{name: edge}", "db.example.com"), keys: passthrough(443, "db.example.com"),
		has: []string{"TLSRoute infra/shop db.example.com: Accepted tls-db"}, not: []string{"certificate add", "certificateRefs"}}},
}, {
	id: "P22", rule: "a Secret elsewhere needs a grant for the right kind",
	examples: []example{
		{shows: "a grant for the Gateway", input: taking + listenerSet(foreignSecret) + grantFor(KindGateway), complete: true, has: []string{"SecretNotGranted ListenerSet infra/set"}},
		{shows: "a grant for the ListenerSet", input: taking + listenerSet(foreignSecret) + grantFor(KindListenerSet), complete: true, not: []string{"SecretNotGranted"}},
		{shows: "a grant that is ours", input: edge(plain) + claimingCertificate("web", "app", "", "a.example.com"), keys: Keys{"attach": map[string]any{"from": "All"}},
			has: []string{`"from":[{"group":"gateway.networking.k8s.io","kind":"Gateway","namespace":"infra"}],"to":[{"group":"","kind":"Secret","name":"web-tls"}]`}},
		{shows: "no grant in a cluster", input: edge(plain) + claimingCertificate("web", "app", "", "a.example.com"), keys: Keys{"attach": map[string]any{"from": "All"}}, complete: true,
			has: []string{"RefNotPermitted"}, check: countListeners(0)},
	},
}, {
	id: "P23", rule: "routes of other namespaces need allowedRoutes",
	examples: []example{
		{shows: "attach says so", input: edge(plain) + route("HTTPRoute", "app", "{name: edge, namespace: infra}", "a.example.com"), keys: Keys{"attach": map[string]any{"from": "All"}}, has: []string{`{"namespaces":{"from":"All"}}`}},
		{shows: "attach is silent", input: edge(plain) + route("HTTPRoute", "app", "{name: edge, namespace: infra}", "a.example.com"), has: []string{"NotAllowedByListeners"}, check: countListeners(0)},
	},
}, {
	id: "P24", rule: "allowedRoutes has no None",
	examples: []example{{shows: "ours", input: edge() + shop("a.example.com"), not: []string{"None"}}},
	refuses:  []string{admits("from: None")}, takes: []string{admits("from: Same")},
}, {
	id: "P25", rule: "from Selector needs a selector, although the API does not insist",
	examples: []example{
		{shows: "ours", input: edge(plain), keys: Keys{"attach": map[string]any{"from": "Selector"}}, fails: "Selector without a selector"},
		{shows: "theirs", input: edge("{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: Selector}}}"), has: []string{"SelectorMissing"}},
	},
	takes: []string{admits("from: Selector")},
}, {
	id: "P26", rule: "kinds fit the protocol, and ours are left out",
	examples: []example{
		{shows: "two kinds", input: edge(plain) + shop("a.example.com") + route("GRPCRoute", "infra", "{name: edge}", "a.example.com"), not: []string{`"kinds"`}, check: countListeners(1)},
		{shows: "a TLSRoute on HTTPS", input: edge(httpsListener("a", "a.example.com")) + route("TLSRoute", "infra", "{name: edge}", "a.example.com"), has: []string{"NotAllowedByListeners"}},
	},
}, {
	id: "P27", rule: "a Gateway takes ListenerSets only if it says so",
	examples: []example{
		{shows: "it does", input: taking + listenerSet(plain) + route("HTTPRoute", "infra", "{kind: ListenerSet, name: set}", "a.example.com"), has: []string{"listenerset infra/set\n  add https-"}},
		{shows: "it does not", input: edge(plain) + listenerSet(plain) + route("HTTPRoute", "infra", "{kind: ListenerSet, name: set}", "a.example.com"), has: []string{"ListenerSetBarred", "NotAllowedByListeners"}, not: []string{"add https-"}},
	},
}, {
	id: "P28", rule: "a parentRef reaches the listeners of its own parent",
	examples: []example{
		{shows: "the Gateway", input: taking + listenerSet(httpsListener("w", "*.example.com")) + shop("a.example.com"), has: []string{"gateway infra/edge\n  add https-a", "a.example.com: Accepted https-a"}},
		{shows: "the ListenerSet", input: taking + listenerSet(plain) + route("HTTPRoute", "infra", "{kind: ListenerSet, name: set}", "a.example.com"), has: []string{"gateway infra/edge\nlistenerset infra/set\n  add https-a"}},
	},
}, {
	id: "P29", rule: "a pinned route gets no other listener",
	examples: []example{
		{shows: "a section", input: edge(plain) + route("HTTPRoute", "infra", "{name: edge, sectionName: http}", "a.example.com"), has: []string{"a.example.com: Accepted http"}, check: countListeners(0)},
		{shows: "a port", input: edge(plain) + route("HTTPRoute", "infra", "{name: edge, port: 80}", "a.example.com"), has: []string{"a.example.com: Accepted http"}, check: countListeners(0)},
		{shows: "the listener that is made for it", input: edge(plain) + route("HTTPRoute", "infra", "{name: edge, sectionName: "+ListenerName("a.example.com", 443)+"}", "a.example.com"), check: countListeners(1)},
	},
}, {
	id: "P30", rule: "a wildcard listener answers any depth, and not the name itself",
	examples: []example{{shows: "below and itself", input: edge(httpsListener("w", "*.example.com")) + shop("a.b.example.com, example.com"),
		has: []string{"a.b.example.com: Accepted w", "add https-example-com-"}, check: countListeners(1)}},
}}
