package engine

import (
	"slices"
	"strings"
	"testing"
)

// certificateWith is a Certificate with further fields of its spec.
func certificateWith(fields string) string {
	return "kind: Certificate\nmetadata: {name: c}\nspec: {secretName: s, dnsNames: [a.example.com], issuerRef: {name: le}, " + fields + "}"
}

func template(fields map[string]any) Keys { return Keys{"certificateTemplate": fields} }

// served is the annotated Gateway of cert-manager's shim.
func served(annotations string) string {
	return strings.Replace(edge(plain), "namespace: infra", "namespace: infra, annotations: {cert-manager.io/cluster-issuer: le"+annotations+"}", 1)
}

const otherVersions = `---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: HTTPRoute
metadata: {name: shop, namespace: infra}
spec: {parentRefs: [{name: edge}], hostnames: [a.example.com]}
---
apiVersion: gateway.networking.k8s.io/v1alpha2
kind: TLSRoute
metadata: {name: db, namespace: infra}
spec: {parentRefs: [{name: edge}], hostnames: [db.example.com]}
---
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XListenerSet
metadata: {name: old, namespace: infra}
spec: {parentRef: {name: edge}, listeners: []}
`

var issuancePitfalls = []pitfall{{
	id: "P45", rule: "a secretName is a lower-case subdomain, one for each hostname",
	examples: []example{{shows: "a wildcard", input: edge(plain) + web(`"*.example.com"`) + shop("wildcard.example.com"), has: []string{`"secretName":"edge-wildcard-example-com-`}}},
	refuses:  []string{strings.Replace(certificateWith("duration: 1h"), "secretName: s", "secretName: '*.example.com'", 1)},
}, {
	id: "P46", rule: "a Certificate is called like its Secret, and keeps its name",
	examples: []example{{shows: "another issuer", input: edge(plain) + shop("a.example.com"), check: func(t *testing.T, plan *Plan) {
		other := planOf(t, edge(plain)+shop("a.example.com, b.example.com"), Keys{"issuerRef": map[string]any{"kind": "ClusterIssuer", "name": "other"}})
		if name := namesOf(t, plan)[0]; !slices.Contains(namesOf(t, other), name) {
			t.Errorf("Certificate %s has another name beside another claim, or from another issuer", name)
		}
	}}},
}, {
	id: "P47", rule: "cert-manager's shim writes the Certificates of what it serves",
	examples: []example{
		{shows: "a Gateway", input: served("") + shop("a.example.com"), has: []string{"add https-a"}, not: []string{"certificate add"}},
		{shows: "a listener that it ignores", input: served(", cert-manager.io/ignore-tls-listeners: "+ListenerName("a.example.com", 443)) + shop("a.example.com"), has: []string{"certificate add"}},
	},
}, {
	id: "P48", rule: "no Certificate of ours is controlled by a Gateway, and none that is becomes ours",
	examples: []example{
		{shows: "ours", input: edge(plain) + shop("a.example.com"), has: []string{"certificate add"}, not: []string{"ownerReferences"}},
		{shows: "the shim's", input: edge(plain) + shop("a.example.com") + "---\nkind: Certificate\nmetadata: {name: " + CertificateName(KindGateway, "edge", "a.example.com") +
			", namespace: infra, ownerReferences: [{kind: Gateway, name: edge, controller: true}]}\nspec: {secretName: " + CertificateName(KindGateway, "edge", "a.example.com") + ", dnsNames: [a.example.com]}\n",
			complete: true, has: []string{"ShimServes", "a.example.com: Accepted"}, not: []string{"certificate add", "certificate update", "certificate remove"}},
	},
}, {
	id: "P49", rule: "the Certificate comes before its listener and goes after it",
	examples: []example{
		{shows: "a live name", input: edge(httpsListener("w", "*.example.com")) + shop("a.example.com"), keys: Keys{"cover": CoverExact}, has: []string{"certificate add"}, check: countListeners(0)},
		{shows: "a Secret in use", input: edge(strings.Replace(httpsListener("own", "a.example.com"), "name: own}]", "name: "+CertificateName(KindGateway, "edge", "a.example.com")+"}]", 1)) +
			"---\nkind: Certificate\nmetadata: {name: " + CertificateName(KindGateway, "edge", "a.example.com") + ", namespace: infra, labels: {gatewright.dev/for: edge}}\nspec: {secretName: " +
			CertificateName(KindGateway, "edge", "a.example.com") + ", dnsNames: [a.example.com], issuerRef: {name: le}}\n", has: []string{"certificate keep"}, not: []string{"certificate remove"}},
		{shows: "a new name in a cluster, before its Certificate is ready", input: edge(httpsListener("w", "*.example.com")) + web("a.example.com"), complete: true,
			has: []string{"a.example.com: Pending"}, check: countListeners(0)},
		{shows: "and then", input: edge(httpsListener("w", "*.example.com")) + web("a.example.com") + "status: {conditions: [{type: Ready, status: 'True'}]}\n", complete: true,
			has: []string{"a.example.com: Accepted"}, check: countListeners(1)},
		{shows: "of an older spec", input: edge(httpsListener("w", "*.example.com")) + claimingCertificate("web", "infra", ", generation: 2", "a.example.com") +
			"status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}\n", complete: true, has: []string{"a.example.com: Pending"}, check: countListeners(0)},
	},
	elsewhere: "in which order the objects of one plan are written is up to the face: Helm installs Certificates before Gateways, the sweep has an order of its own",
}, {
	id: "P50", rule: "durations are as Go and cert-manager have them",
	examples: []example{
		{shows: "days", input: edge(plain), keys: template(map[string]any{"duration": "90d"}), fails: "90d"},
		{shows: "too short", input: edge(plain), keys: template(map[string]any{"duration": "30m"}), fails: "at least 1h"},
		{shows: "renewed too late", input: edge(plain), keys: template(map[string]any{"duration": "2h", "renewBefore": "2h"}), fails: "not shorter"},
		{shows: "right", input: edge(plain) + shop("a.example.com"), keys: template(map[string]any{"duration": "2160h", "renewBefore": "360h"}), has: []string{`"duration":"2160h`, `"renewBefore":"360h`}},
	},
	takes: []string{certificateWith("duration: 2160h")}, refuses: []string{certificateWith("duration: 90d"), certificateWith("duration: 30m")},
}, {
	id: "P51", rule: "renewBefore or renewBeforePercentage, not both",
	examples: []example{{shows: "the template has one of them", input: edge(plain), keys: template(map[string]any{"renewBeforePercentage": 33}), fails: "renewBeforePercentage"}},
	refuses:  []string{certificateWith("renewBefore: 360h, renewBeforePercentage: 33"), certificateWith("duration: 2160h, renewBeforePercentage: 100")},
}, {
	id: "P52", rule: "what is noted on a Secret is under a domain of our own",
	examples: []example{
		{shows: "ours", input: edge(plain) + shop("a.example.com"), has: []string{`"secretTemplate":{"labels":{"gatewright.dev/for":"edge"}}`}},
		{shows: "theirs", input: edge(plain), keys: template(map[string]any{"secretTemplate": map[string]any{"annotations": map[string]any{"cert-manager.io/owner": "x"}}}), fails: "cert-manager refuses"},
	},
	refuses: []string{certificateWith("secretTemplate: {annotations: {cert-manager.io/owner: x}}")},
}, {
	id: "P53", rule: "routes have few hostnames and no parentRef twice",
	examples: []example{{shows: "the redirect", input: edge(), has: []string{`"parentRefs":[{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"edge","sectionName":"http"}]`}, not: []string{"hostnames"}}},
	refuses: []string{
		"kind: HTTPRoute\nmetadata: {name: r}\nspec: {hostnames: [" + repeated(17, func(i int) string { return string(rune('a'+i)) + ".example.com" }) + "]}",
		"kind: HTTPRoute\nmetadata: {name: r}\nspec: {parentRefs: [{name: g}, {name: g}]}",
	},
	elsewhere: "the redirect is the one route that is written; the others are read",
}, {
	id: "P54", rule: "what two field managers apply does not conflict",
	examples:  []example{{shows: "every default spelled out", input: edge(plain) + shop("a.example.com"), has: []string{`"certificateRefs":[{"group":"","kind":"Secret","name":"`, `"allowedRoutes":{"namespaces":{"from":"Same"}}`}}},
	elsewhere: "that a Gateway is written by one apply is up to the face; every example here is applied by two managers in turn",
}, {
	id: "P55", rule: "a Secret for each host, so that connections are not shared",
	examples: []example{
		{shows: "ours", input: edge(plain) + shop("a.example.com, b.example.com"), not: []string{"SharedSecret"}, check: func(t *testing.T, plan *Plan) {
			if l := plan.Gateways[0].Listeners; l[0].secretName == l[1].secretName {
				t.Errorf("both listeners present %s", l[0].secretName)
			}
		}},
		{shows: "theirs", input: edge(httpsListener("a", "a.example.com"), httpsListener("b", "b.example.com")), has: []string{"SharedSecret"}},
	},
}, {
	id: "P56", rule: "a kind is read in every version, and what we write is in one that all serve",
	examples: []example{
		{shows: "old versions", input: edge(plain) + otherVersions, keys: passthrough(5432, "db.example.com"), has: []string{"shop a.example.com: Accepted", "db db.example.com: Accepted"}, not: []string{"old"}},
		{shows: "a grant", input: edge(plain) + claimingCertificate("web", "app", "", "a.example.com"), keys: Keys{"attach": map[string]any{"from": "All"}}, has: []string{`"apiVersion":"gateway.networking.k8s.io/v1beta1","kind":"ReferenceGrant"`}},
	},
	elsewhere: "which version of a kind a cluster serves is asked by who reads it",
}, {
	id: "P57", rule: "a ListenerSet keeps its age, and so its precedence: it is changed in place",
	examples: []example{{shows: "only listeners", input: strings.Replace(edge(plain), "spec: {", "spec: {allowedListeners: {namespaces: {from: All}}, ", 1) + listenerSet(plain) + route("HTTPRoute", "infra", "{kind: ListenerSet, name: set}", "a.example.com"),
		has: []string{"listenerset infra/set\n  add https-a"}, not: []string{`"kind":"ListenerSet","metadata"`}}},
	elsewhere: "no ListenerSet is made, so none is filled up or replaced",
}}
